//! Sizes in bytes: of the data directory, as a flag, and for a person.

use std::fs;
use std::path::{Path, PathBuf};

const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// Reads a size such as `256MiB`, `1GiB` or a number of bytes.
pub fn parse_size(typed: &str) -> Result<u64, String> {
    let units = UNITS.into_iter();
    let mut unit = units.filter_map(|(unit, bytes)| Some((typed.strip_suffix(unit)?, bytes)));
    let (number, bytes) = unit.next().unwrap_or((typed, 1));
    let number: Option<u64> = number.trim_end().parse().ok();
    (number.and_then(|number| number.checked_mul(bytes)))
        .ok_or_else(|| "expected a size such as 256MiB, 1GiB or 4096".to_owned())
}

/// Returns a size for a person, such as `1.2 MiB`.
pub fn shown_size(bytes: u64) -> String {
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// Returns the files in a folder and below it. Links are not followed, and what cannot be read is left out.
pub fn files_below(folder: &Path) -> Vec<(PathBuf, fs::Metadata)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(found) if found.is_dir() => files.extend(files_below(&entry.path())),
            Ok(found) => files.push((entry.path(), found)),
            Err(_) => {}
        }
    }
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        for (typed, bytes) in [("0", 0), ("4096", 4096), ("2KiB", 2048), ("3 MiB", 3 << 20)] {
            assert_eq!(parse_size(typed), Ok(bytes), "{typed}");
        }
        for typed in ["", "MiB", "-1", "1.5GiB", "1 TiB", "1mib", "17179869184GiB"] {
            assert!(parse_size(typed).is_err(), "{typed}");
        }
        for (bytes, shown) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1536, "1.5 KiB"),
            (3 << 30, "3.0 GiB"),
        ] {
            assert_eq!(shown_size(bytes), shown);
        }
    }
}
