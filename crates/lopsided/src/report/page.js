// What a page of lopsided can do beside being read: tables are sorted by their columns, points say who they are, are found by
// name, seen in all panels at once, and hidden by class. Text of the data is only ever set as text, never as markup.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const MOST_MARKED = 300;

function made(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// ---- Tables ----

// A cell as what it is compared by: its number, if it begins with one.
function key(row, at) {
  const text = row.cells[at] ? row.cells[at].textContent.trim() : "";
  const number = parseFloat(text.replace("−", "-"));
  return Number.isNaN(number) ? text.toLowerCase() : number;
}

function compare(a, b) {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
  return typeof a === "number" ? -1 : 1;
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  heads.forEach((head, at) => {
    const button = made("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => compare(key(a, at), key(b, at)));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}

// ---- Points ----

class Cloud {
  constructor(figure) {
    this.figure = figure;
    Object.assign(this, JSON.parse(document.getElementById("cloud-" + figure.dataset.cloud).textContent));
    this.lower = this.names.map((name) => name.toLowerCase());
    this.hidden = new Set();
    this.found = [];
    this.pinned = -1;
    this.panels = [...figure.querySelectorAll(".panels svg")];
    this.panels.forEach((svg, p) => this.listen(svg, p));
    this.tip = made("div", { className: "tip", hidden: true });
    figure.append(this.tip);
    this.addSearch();
    this.addFilter();
  }

  addSearch() {
    const field = made("input", { type: "search", autocomplete: "off", spellcheck: false });
    this.answer = made("output", {});
    this.answer.setAttribute("aria-live", "polite");
    const label = made("label", {}, "Find by name ", field);
    this.figure.prepend(made("div", { className: "tools" }, label, this.answer));
    field.addEventListener("input", () => this.search(field.value));
    field.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, Enter: 1, ArrowUp: -1 }[event.key];
      if (!step || this.found.length === 0) return;
      event.preventDefault();
      const at = this.found.indexOf(this.pinned);
      this.pin(this.found[(at + step + this.found.length) % this.found.length]);
    });
  }

  search(text) {
    const wanted = text.trim().toLowerCase();
    this.pinned = -1;
    this.found = [];
    if (wanted) this.lower.forEach((name, i) => name.includes(wanted) && this.found.push(i));
    // Whole names before parts of names.
    this.found.sort((a, b) => (this.lower[b] === wanted) - (this.lower[a] === wanted));
    const many = this.found.length > MOST_MARKED ? ", the first " + MOST_MARKED + " marked" : "";
    this.answer.textContent = wanted ? this.found.length + " found" + many : "";
    if (this.found.length === 1) this.pin(this.found[0]);
    else this.mark();
  }

  addFilter() {
    const legend = this.figure.querySelector(".legend");
    if (!legend || !this.codes) return;
    [...legend.children].forEach((item, code) => {
      if (item.classList.contains("rest")) return;
      const button = made("button", { type: "button" }, ...item.childNodes);
      button.setAttribute("aria-pressed", "true");
      item.append(button);
      button.addEventListener("click", () => this.toggle(code, button));
    });
  }

  toggle(code, button) {
    const hide = !this.hidden.delete(code);
    if (hide) this.hidden.add(code);
    button.setAttribute("aria-pressed", String(!hide));
    this.figure.querySelectorAll(`[data-c="${code}"]`).forEach((path) => path.classList.toggle("off", hide));
    this.mark();
  }

  // The nearest point that is shown, within a finger's width.
  nearest(svg, p, event) {
    const box = svg.getBoundingClientRect();
    const scale = (10 * svg.viewBox.baseVal.width) / box.width;
    const x = (event.clientX - box.left) * scale;
    const y = (event.clientY - box.top) * scale;
    const places = this.places[p];
    let best = -1;
    let least = (14 * scale) ** 2;
    for (let i = 0; i < this.names.length; i++) {
      const dx = places[2 * i] - x;
      const dy = places[2 * i + 1] - y;
      const distance = dx * dx + dy * dy;
      if (distance < least && this.isShown(i, p)) [best, least] = [i, distance];
    }
    return best;
  }

  isShown(i, p) {
    return this.places[p][2 * i] >= 0 && !(this.codes && this.hidden.has(this.codes[i]));
  }

  listen(svg, p) {
    svg.addEventListener("pointermove", (event) => this.look(this.nearest(svg, p, event), event));
    svg.addEventListener("pointerleave", () => this.look(-1));
    svg.addEventListener("click", (event) => this.pin(this.nearest(svg, p, event)));
  }

  describe(i) {
    const name = this.codes ? this.classes[this.codes[i]] : undefined;
    return this.names[i] + (name === undefined ? "" : " · " + name);
  }

  look(i, event) {
    this.tip.hidden = i < 0;
    if (i >= 0) {
      const box = this.figure.getBoundingClientRect();
      this.tip.textContent = this.describe(i);
      const left = Math.min(event.clientX - box.left + 12, box.width - this.tip.offsetWidth - 4);
      this.tip.style.left = Math.max(left, 0) + "px";
      this.tip.style.top = event.clientY - box.top + 16 + "px";
    }
    this.mark(i);
  }

  pin(i) {
    this.pinned = i;
    if (i >= 0) this.answer.textContent = this.describe(i);
    this.mark();
  }

  // Rings around what is looked at and what was found, in every panel.
  mark(looked = -1) {
    const strong = [this.pinned, looked].filter((i) => i >= 0);
    this.panels.forEach((svg, p) => {
      const ring = (i, kind) => {
        const circle = document.createElementNS(SVG, "circle");
        circle.setAttribute("class", kind);
        circle.setAttribute("cx", this.places[p][2 * i] / 10);
        circle.setAttribute("cy", this.places[p][2 * i + 1] / 10);
        circle.setAttribute("r", kind === "found" ? 5 : 8);
        return circle;
      };
      const shown = (i) => this.isShown(i, p);
      const rings = this.found.filter(shown).slice(0, MOST_MARKED).map((i) => ring(i, "found"));
      svg.querySelector(".marks").replaceChildren(...rings, ...strong.filter(shown).map((i) => ring(i, "looked")));
    });
  }
}

document.querySelectorAll("table.sortable").forEach(sortable);
document.querySelectorAll("figure.cloud").forEach((figure) => new Cloud(figure));
// Paper has no clicks: what is folded is printed open.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
