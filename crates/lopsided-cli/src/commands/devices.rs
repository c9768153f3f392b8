//! `lopsided devices`: what products with dense kernel matrices can be computed on.

use super::Outcome;
use crate::context::Context;
use crate::talk;
use anyhow::Result;
use lopsided::base::device::{Card, cards};
use lopsided::base::error::bytes;
use lopsided::report::text;
use serde::Serialize;

/// What there is. The fields are those of `--json`.
#[derive(Serialize)]
struct Found {
    /// Threads of the processor.
    threads: usize,
    cards: Vec<Card>,
    /// Why there is no card.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Lists the processor and the cards; having none is no error.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let (cards, why) = cards().map_or_else(|error| (Vec::new(), Some(error.to_string())), |cards| (cards, None));
    let found = Found { threads: context.pool.current_num_threads(), cards, why };
    if context.global.json {
        talk::json(&found)?;
    } else {
        talk::print(&found.lines())?;
    }
    Ok(Outcome::Done)
}

impl Found {
    fn lines(&self) -> String {
        let threads = if self.threads == 1 { "1 thread".into() } else { format!("{} threads", self.threads) };
        let cpu = ("cpu", format!("the processor, {threads}"));
        let cards = self.cards.iter().map(|card| (card.device.as_str(), described(card)));
        let none = self.why.iter().map(|why| ("cuda", why.clone()));
        text::aligned(&std::iter::once(cpu).chain(cards).chain(none).collect::<Vec<_>>())
    }
}

fn described(card: &Card) -> String {
    let ((major, minor), (cuda, point)) = (card.capability, card.driver);
    let memory = bytes(card.memory);
    format!("{}, {memory}, compute capability {major}.{minor}, driver for CUDA {cuda}.{point}", card.name)
}
