//! No cards: the library was built without them.

use super::Card;

pub(super) fn found() -> Result<Vec<Card>, String> {
    Err("this program was built without it (the feature `cuda`)".into())
}
