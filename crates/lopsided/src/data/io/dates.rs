//! Texts that are dates or times: neither numbers nor words.

use crate::base::error::Error;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Whether a text is a date (`2024-05-01`, `1.5.2024`, `05/01/24`, `1 May 2024`), a time, or both.
pub(super) fn is_date(text: &str) -> bool {
    let text = text.trim();
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) if time.contains(':') => (day, Some(time.trim())),
        _ if text.contains(':') => return is_time(text),
        _ => (text, None),
    };
    (is_day(day) || is_spelt(day)) && time.is_none_or(is_time)
}

/// Three groups of digits, of which one is a year.
fn is_day(text: &str) -> bool {
    let Some(separator) = text.chars().find(|c| ['-', '/', '.'].contains(c)) else { return false };
    let groups: Vec<&str> = text.split(separator).collect();
    if groups.iter().any(|group| group.is_empty() || !group.bytes().all(|b| b.is_ascii_digit())) {
        return false;
    }
    let short = |group: &&str| group.len() <= 2 && group.parse::<u8>().is_ok_and(|n| (1..=31).contains(&n));
    match &groups[..] {
        [year, month] => separator == '-' && year.len() == 4 && short(month),
        [a, b, c] if a.len() == 4 => short(b) && short(c),
        [a, b, c] if c.len() == 4 => short(a) && short(b),
        [a, b, c] => separator == '/' && short(a) && short(b) && c.len() == 2,
        _ => false,
    }
}

/// A month by its name, with numbers.
fn is_spelt(text: &str) -> bool {
    let parts: Vec<&str> = text.split([' ', ',', '-', '.']).filter(|part| !part.is_empty()).collect();
    let number = |part: &&&str| part.bytes().all(|b| b.is_ascii_digit()) && part.len() <= 4;
    let month = |part: &str| {
        let part = part.to_lowercase();
        MONTHS.iter().any(|name| *name == part || part.len() == 3 && name.starts_with(&part))
    };
    let numbers = parts.iter().filter(number).count();
    (2..=3).contains(&parts.len()) && numbers + 1 == parts.len() && parts.iter().any(|part| month(part))
}

/// Hours and minutes, perhaps seconds and a zone.
fn is_time(text: &str) -> bool {
    let plain = text.trim_end_matches('Z');
    let plain = plain.split_once(['+', ' ']).map_or(plain, |(time, _)| time);
    let groups: Vec<&str> = plain.split(':').collect();
    let number = |group: &&str| group.parse::<f64>().is_ok_and(|v| (0.0..62.0).contains(&v));
    (2..=3).contains(&groups.len()) && groups.iter().all(number)
}

/// The error about a column of texts that are dates.
pub(super) fn refused(place: &str, label: &str, name: &str, example: &str) -> Error {
    let advice = advice(name);
    let words = format!("--categories \"{name}\" takes each as a word");
    Error::parse(place, format!("column {label} holds dates or times, such as `{example}`: {advice}; {words}"))
}

/// What to do about dates.
pub(super) fn advice(name: &str) -> String {
    format!("write numbers instead (days since a day, the month, the hour), or leave it out with --drop \"{name}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_numbers_and_words() {
        for date in [
            "2024-05-01",
            "1.5.2024",
            "05/01/24",
            "5/1/2024",
            "2024/5/1",
            "2024-05",
            "2024-05-01T10:30:00Z",
            "2024-05-01 10:30:00.123+02:00",
            "10:30",
            "1 May 2024",
            "May 3, 2024",
            "03-Sep-2019",
        ] {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "",
            "1.2.3",
            "10.0.0.1",
            "a-b-c",
            "12",
            "3.5",
            "may",
            "A/5 21171",
            "1-2",
            "99/99/99",
            "1:x",
            "7 dwarfs",
            "mayor 1",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }
}
