//! What every page says of its job: warnings, what was chosen, settings, cost, and how to do it again.

use super::{Page, escape};

/// The account of a job. What is empty is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// What a reader has to know before anything else, in sentences.
    pub warnings: Vec<String>,
    /// What was chosen from the data, and why.
    pub chosen: Vec<(String, String)>,
    /// The job in lines of label and value: data, settings, results.
    pub lines: Vec<(String, String)>,
    /// Seconds, memory, threads.
    pub cost: Vec<(String, String)>,
    /// The settings that make it again, as text.
    pub recipe: Option<String>,
    /// What was typed.
    pub command: Option<String>,
}

impl Page {
    /// Sentences above everything else, whenever they are given.
    pub fn warnings(mut self, sentences: &[String]) -> Self {
        self.warnings.extend(sentences.iter().cloned());
        self
    }

    /// Labels with their values, one below the other.
    pub fn pairs<L: AsRef<str>>(self, caption: &str, pairs: &[(L, String)]) -> Self {
        let row = |(label, value): &(L, String)| {
            format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(label.as_ref()), escape(value))
        };
        let rows: String = pairs.iter().map(row).collect();
        let caption = escape(caption);
        self.push(&format!(
            "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\
             <table class=\"pairs\"><caption>{caption}</caption>\n<tbody>{rows}</tbody></table></div>\n"
        ))
    }

    /// The last sections of a page; the warnings go to its top.
    pub fn account(self, account: &Account) -> Self {
        let mut page = self.warnings(&account.warnings);
        if !account.chosen.is_empty() {
            page = page.section("What was chosen, and why").pairs("Choices made from the data", &account.chosen);
        }
        // Nothing is said twice.
        let told = |line: &&(String, String)| account.chosen.iter().any(|(_, why)| *why == line.1);
        let lines: Vec<(String, String)> = account.lines.iter().filter(|line| !told(line)).cloned().collect();
        if !lines.is_empty() || !account.cost.is_empty() {
            page = page.section("The job in numbers");
        }
        if !lines.is_empty() {
            page = page.pairs("Data, settings and results", &lines);
        }
        if !account.cost.is_empty() {
            page = page.pairs("Cost", &account.cost);
        }
        if account.command.is_some() || account.recipe.is_some() {
            page = page.section("Do it again");
        }
        if let Some(command) = &account.command {
            page = page.command(command);
        }
        match &account.recipe {
            Some(recipe) => page.fold("The recipe: all settings, for --recipe", |page| page.command(recipe)),
            None => page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_stand_first_and_what_is_empty_is_left_out() {
        let account = Account {
            warnings: vec!["<b> is wrong".into()],
            chosen: vec![("penalty".into(), "0.1: least loss".into())],
            command: Some("lopsided embed 'a b.csv'".into()),
            recipe: Some("{\"rank\":3}".into()),
            ..Account::default()
        };
        let html = Page::new("t", "lead").section("First").account(&account).html();
        let places = ["&lt;b&gt; is wrong", "First", "least loss", "Do it again", "a b.csv", "&quot;rank&quot;:3"];
        let at: Vec<usize> = places.map(|p| html.find(p).unwrap_or_else(|| panic!("{p}"))).to_vec();
        assert!(at.is_sorted(), "{at:?}");
        assert!(!html.contains("in numbers"));
        let empty = Page::new("t", "l").account(&Account::default());
        assert_eq!(empty.html(), Page::new("t", "l").html());
    }
}
