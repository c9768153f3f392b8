"""What a reader does with a page: opens it anywhere, asks its points, hides classes, sorts its tables."""
from __future__ import annotations

import jobs
import pytest

EVERY = list(jobs.ALL)
WIDTHS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


@pytest.mark.parametrize("name", EVERY)
def test_a_page_opens_without_a_complaint_and_has_figures_with_titles(opened, name):
    page = opened(name)
    assert page.title()
    assert page.locator("h1").count() == 1
    for figure in page.locator("svg[role=img]").all():
        assert figure.get_attribute("aria-label")
    text = page.locator("body").inner_text()
    assert "NaN" not in text and "undefined" not in text


@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_accessible(opened, name):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    for scheme in ("light", "dark"):
        page = opened(name, scheme=scheme)
        page.locator("summary").evaluate_all("folds => folds.forEach(fold => (fold.parentElement.open = true))")
        found = axe.Axe().run(page).response["violations"]
        serious = [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in found if v["impact"] in ("serious", "critical")]
        assert serious == []


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_lost_on_a_phone_or_on_paper(opened, name):
    page = opened(name, width=390)
    page.locator("summary").evaluate_all("folds => folds.forEach(fold => (fold.parentElement.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # What is wider than its place can be scrolled to, also by keyboard.
    lost = """boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1
        && !(box.tabIndex === 0 && getComputedStyle(box).overflowX === 'auto')).map(box => box.outerHTML.slice(0, 80))"""
    assert page.locator(".wide, pre").evaluate_all(lost) == []
    assert page.pdf()[:4] == b"%PDF"


def middle_of(page, panel: int, point: int) -> tuple[float, float]:
    """Where a point of the first cloud is on the screen."""
    return tuple(
        page.evaluate(
            """([panel, point]) => {
                const figure = document.querySelector('figure.cloud');
                const data = JSON.parse(document.getElementById('cloud-' + figure.dataset.cloud).textContent);
                const svg = figure.querySelectorAll('.panels svg')[panel];
                svg.scrollIntoView({block: 'center'});
                const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width / 10;
                return [box.left + data.places[panel][2 * point] * scale, box.top + data.places[panel][2 * point + 1] * scale];
            }""",
            [panel, point],
        )
    )


def test_a_point_says_who_it_is_and_where_it_is_in_the_other_panels(opened):
    page = opened("embed-graph")
    assert page.locator("details svg").first.is_visible() is False
    page.locator("summary").first.click()
    assert page.locator("details svg").first.is_visible()
    page.mouse.move(*middle_of(page, 1, 0))
    tip = page.locator(".cloud .tip")
    assert tip.is_visible()
    assert " · " in tip.inner_text()
    # Seen as a target of links, it is also marked as a source and in the map.
    assert [marks.locator("circle.looked").count() for marks in page.locator(".cloud .marks").all()] == [1, 1, 1]
    page.mouse.move(2, 2)
    assert not tip.is_visible()


def test_points_are_found_by_name_and_by_keyboard(opened):
    page = opened("embed-graph")
    field, answer = page.get_by_label("Find by name"), page.locator(".tools output")
    field.fill("NODE 4")
    assert answer.inner_text() == "10 found"
    assert page.locator(".cloud > .panels circle.found").count() == 10
    field.press("Enter")
    assert answer.inner_text().startswith("node 4")
    field.fill("node 77")
    assert answer.inner_text().startswith("node 77 · ")
    field.fill("nobody")
    assert answer.inner_text() == "0 found"


def test_hostile_names_are_shown_as_they_are(opened):
    page = opened("embed-graph")
    for name in jobs.HOSTILE:
        page.get_by_label("Find by name").fill(name)
        assert page.locator(".tools output").text_content().startswith(name)
    assert jobs.HOSTILE[0] in page.locator(".legend").inner_text()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_classes_are_hidden_by_their_names_in_the_legend(opened):
    page = opened("embed-graph")
    button = page.locator(".legend button").nth(1)
    shown = page.locator('.cloud > .panels [data-c="1"]').first
    assert shown.is_visible()
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert not shown.is_visible()
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert shown.is_visible()


def test_tables_are_sorted_by_their_heads(opened):
    page = opened("links")
    table = page.locator("table.sortable").first
    heads = [head.inner_text() for head in table.locator("thead th").all()]
    at = next(i for i, head in enumerate(heads) if head.startswith("AUROC"))

    def values() -> list[float]:
        return [float(row.locator("td").nth(at).inner_text().split(" ")[0]) for row in table.locator("tbody tr").all()]

    button = table.locator("thead th").nth(at).locator("button")
    button.click()
    assert values() == sorted(values())
    button.press("Enter")
    assert values() == sorted(values(), reverse=True)
    assert table.locator("thead th").nth(at).get_attribute("aria-sort") == "descending"


def test_a_page_says_how_it_is_made_again(opened):
    page = opened("embed-graph")
    assert "lopsided embed edges.csv --labels classes.csv --rank 8" in page.locator("body").inner_text()


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
def test_screenshots_can_be_taken(opened, tmp_path, width, scheme):
    page = opened("embed-graph", width=width, scheme=scheme)
    assert len(page.screenshot(path=tmp_path / "page.png", full_page=True)) > 10_000
