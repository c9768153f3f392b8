//! Numbers and lists as people read them.

/// Pairs of label and value, one per line, the values below each other.
pub fn aligned<L: AsRef<str>>(pairs: &[(L, String)]) -> String {
    let width = pairs.iter().map(|(label, _)| label.as_ref().chars().count()).max().unwrap_or(0);
    let lines = pairs.iter().map(|(label, value)| format!("{:width$}  {value}\n", label.as_ref()));
    lines.collect::<Vec<_>>().concat()
}

/// A number with five digits.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs();
    if (1e-3..1e5).contains(&size) {
        let decimals = (4.0 - size.log10().floor()) as usize;
        return format!("{value:.decimals$}");
    }
    format!("{value:.4e}")
}

/// The first few singular values.
pub fn first_values(values: &[f64]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = values.iter().take(SHOWN).map(|v| number(*v)).collect();
    let rest = if values.len() > SHOWN { format!("  … {} in all", values.len()) } else { String::new() };
    shown.join("  ") + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_below_each_other() {
        assert_eq!(aligned(&[("σ", "1".into()), ("size", "2".into())]), "σ     1\nsize  2\n");
    }

    #[test]
    fn numbers_are_short() {
        let values = [0.0, 1.462_287_56, 0.001_5, 1234.56, 3.1e-7];
        assert_eq!(values.map(number), ["0", "1.4623", "0.0015000", "1234.6", "3.1000e-7"]);
    }
}
