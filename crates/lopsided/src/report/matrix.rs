//! Counts of what was said against what is.

use super::{Page, escape};
use std::fmt::Write;

/// Classes that a table can hold; the rarest of more are counted together.
const MOST: usize = 20;

impl Page {
    /// Who was taken for whom: a row for each true class, a column for each predicted one, in order of `names`.
    ///
    /// Of more than 20 classes the rarest are counted together.
    ///
    /// ```
    /// use lopsided::report::Page;
    ///
    /// let names = ["cat", "dog"].map(String::from);
    /// let page = Page::new("t", "").confusion("Cats and dogs", &names, &[(0, 0), (0, 1), (1, 1)]);
    /// assert!(page.html().contains("<th scope=\"row\">cat</th><td class=\"num\" style=\"--share:0.50\">1</td>"));
    /// ```
    pub fn confusion(self, caption: &str, names: &[String], pairs: &[(u32, u32)]) -> Self {
        let (names, pairs) = gathered(names, pairs);
        let count = names.len();
        let mut counts = vec![vec![0usize; count]; count];
        pairs.iter().for_each(|&(truth, found)| counts[truth][found] += 1);
        let mut html = format!(
            "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table class=\"confusion\">\
             <caption>{0}. Rows: what is; columns: what was predicted.</caption>\n<thead><tr><td></td>",
            escape(caption)
        );
        for name in &names {
            let _ = write!(html, "<th scope=\"col\">{}</th>", escape(name));
        }
        html += "<th scope=\"col\">found</th></tr></thead>\n<tbody>";
        for (i, row) in counts.iter().enumerate() {
            let all: usize = row.iter().sum();
            let share = |n: usize| n as f64 / all.max(1) as f64;
            let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escape(&names[i]));
            for &n in row {
                let _ = write!(html, "<td class=\"num\" style=\"--share:{:.2}\">{n}</td>", share(n));
            }
            let _ = writeln!(html, "<td class=\"num\">{:.0} %</td></tr>", 100.0 * share(row[i]));
        }
        self.push(&(html + "</tbody></table></div>\n"))
    }
}

/// The most frequent classes, the others as one; codes beyond the names are classes that are not known.
fn gathered(names: &[String], pairs: &[(u32, u32)]) -> (Vec<String>, Vec<(usize, usize)>) {
    let known = |code: u32| (code as usize).min(names.len());
    let unknown = pairs.iter().any(|p| p.0 as usize >= names.len() || p.1 as usize >= names.len());
    let mut all: Vec<String> = names.to_vec();
    all.extend(unknown.then(|| "not learned".to_string()));
    let mut order: Vec<usize> = (0..all.len()).collect();
    if all.len() > MOST {
        let frequency = |class: usize| pairs.iter().filter(|p| known(p.0) == class).count();
        let frequencies: Vec<usize> = order.iter().map(|&class| frequency(class)).collect();
        order.sort_by_key(|&class| std::cmp::Reverse(frequencies[class]));
        order.truncate(MOST - 1);
        order.sort_unstable();
    }
    let place = |code: u32| order.iter().position(|&class| class == known(code)).unwrap_or(order.len());
    let pairs = pairs.iter().map(|p| (place(p.0), place(p.1))).collect();
    let rest = all.len() - order.len();
    let mut shown: Vec<String> = order.iter().map(|&class| all[class].clone()).collect();
    shown.extend((rest > 0).then(|| format!("{rest} others")));
    (shown, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_classes_are_counted_together_and_none_is_lost() {
        let names: Vec<String> = (0..40).map(|c| format!("c{c}")).collect();
        let pairs: Vec<(u32, u32)> = (0..40).flat_map(|c| vec![(c, (c + 1) % 40); 40 - c as usize]).collect();
        let (shown, placed) = gathered(&names, &pairs);
        assert_eq!((shown.len(), shown[0].as_str(), shown[19].as_str()), (20, "c0", "21 others"));
        assert!(placed.len() == pairs.len() && placed.iter().all(|p| p.0 < 20 && p.1 < 20));
    }

    #[test]
    fn classes_that_were_not_learned_have_a_row() {
        let html = Page::new("t", "").confusion("<c>", &["a".to_string()], &[(0, 0), (1, 0)]).html();
        assert!(html.contains("not learned") && html.contains("&lt;c&gt;"));
    }
}
