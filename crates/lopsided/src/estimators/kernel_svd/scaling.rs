use crate::base::registry::words;

/// Powers of the singular values that scale embeddings.
///
/// With `sqrt` on both sides the product of a row and a column embedding is the entry of G that the triplets
/// know.
///
/// ```
/// use lopsided::Scaling;
///
/// assert_eq!("sqrt".parse::<Scaling>()?, Scaling::Sqrt);
/// assert_eq!((Scaling::None.power(), Scaling::Full.power()), (0.0, 1.0));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// U and V as they are.
    #[default]
    None,
    /// U·√Σ and V·√Σ.
    Sqrt,
    /// U·Σ and V·Σ.
    Full,
}

words!(Scaling, "scaling": None = "none", Sqrt = "sqrt", Full = "full");

impl Scaling {
    /// The power p of Σ^p.
    pub fn power(self) -> f64 {
        match self {
            Scaling::None => 0.0,
            Scaling::Sqrt => 0.5,
            Scaling::Full => 1.0,
        }
    }
}
