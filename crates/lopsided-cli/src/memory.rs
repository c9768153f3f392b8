//! Amounts of memory: what the user allows, and what the process used.

/// The most bytes of memory this process had at any time, where the system tells.
pub(crate) fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Bytes from a number with or without a unit: `1000`, `500MB`, `1.5 GiB`, `4g`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let size = number.parse::<f64>().ok().zip(unit_bytes(unit.trim())).map(|(number, unit)| number * unit);
    match size {
        Some(size) if size >= 1.0 => Ok(size as u64),
        _ => Err("a size above 0 such as 4GB, 500MB or a number of bytes is expected".into()),
    }
}

fn unit_bytes(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = ["1000", "500MB", "4g", "1.5 GiB", "2kib"].map(parse_size);
        assert_eq!(sizes, [1000, 500_000_000, 4_000_000_000, 1_610_612_736, 2048].map(Ok));
        for bad in ["", "0", "-1", "4XB", "GB", "1e", "nan"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
