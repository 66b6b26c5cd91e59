use super::error::ExperimentError;

const LONGEST: usize = 64;

/// Names of devices, which Windows does not allow for files, whatever follows a dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Checks that a name can be part of a path on every system and does not lead to another directory.
pub(super) fn check(name: &str) -> Result<(), ExperimentError> {
    let wrong = |why| {
        Err(ExperimentError::Name {
            name: name.chars().take(LONGEST + 1).collect(),
            why,
        })
    };
    if name.is_empty() || name.len() > LONGEST {
        return wrong("it has 1 to 64 characters");
    }
    if !name.bytes().all(is_allowed) {
        return wrong("it is made of a-z, 0-9, dot, underscore and dash");
    }
    if name.starts_with('.') || name.ends_with('.') {
        return wrong("it neither begins nor ends with a dot");
    }
    if name.contains("..") {
        return wrong("it has no two dots in a row");
    }
    let stem = name.split('.').next().unwrap_or_default();
    if is_device(stem) {
        return wrong("Windows keeps it for a device");
    }
    Ok(())
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte)
}

fn is_device(stem: &str) -> bool {
    let port = |kind| {
        let number = stem.strip_prefix(kind).map(str::as_bytes);
        matches!(number, Some([b'1'..=b'9']))
    };
    DEVICES.contains(&stem) || port("com") || port("lpt")
}
