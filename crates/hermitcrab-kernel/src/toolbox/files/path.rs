//! Paths as a model writes them.

use visible_text::{is_format, is_ignorable};

use crate::table::protected_names;
use crate::{ErrorKind, ToolError};

/// The trash folder of a root.
pub(super) const TRASH: &str = ".hermitcrab-trash";

const MAX_PATH: usize = 1_000;
const MAX_NAME: usize = 200;

const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The names on the way from a root; no name is the root itself.
pub(super) fn read(path: &str) -> Result<Vec<String>, ToolError> {
    let bad = |why: &str| {
        ToolError::new(ErrorKind::BadPath, format!("{path:?}: {why}"))
            .hint("write names with / between them, from the root on, such as notes/today.md")
    };
    if path.len() > MAX_PATH {
        return Err(ToolError::new(
            ErrorKind::BadPath,
            format!("the path is longer than {MAX_PATH} bytes"),
        ));
    }
    if path.starts_with('/') || has_drive(path) {
        return Err(bad("it is absolute"));
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => continue,
            ".." => return Err(bad("it goes up")),
            _ => {}
        }
        if name.len() > MAX_NAME {
            return Err(bad("a name in it is too long"));
        }
        if name
            .chars()
            .any(|c| c.is_control() || is_format(c) && is_ignorable(c))
        {
            return Err(bad("it holds a character that cannot be seen"));
        }
        if name.contains('\\') {
            return Err(bad("it holds a backslash"));
        }
        if cfg!(windows) && is_odd(name) {
            return Err(bad("Windows gives a name in it another meaning"));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// A name that a person keeps secrets or a repository under, however it is written.
pub(super) fn is_protected(name: &str) -> bool {
    protected_names().has(&folded(name))
}

/// A name with which Windows means a device, or which it shortens: such files could not be moved there.
pub(super) fn is_odd(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let stem = stem.to_lowercase();
    let numbered = ["com", "lpt"].iter().any(|port| {
        let number = stem.strip_prefix(port).unwrap_or_default();
        number.chars().count() == 1 && number.chars().all(char::is_numeric)
    });
    let is_short = name
        .split_once('~')
        .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    numbered
        || DEVICES.contains(&&*stem)
        || name.ends_with(['.', ' '])
        || name.contains(':')
        || is_short
}

/// As file systems that ignore case, final dots and what follows a colon see it.
pub(super) fn folded(name: &str) -> String {
    let name = name.split(':').next().unwrap_or_default();
    let name = name.trim_end_matches(['.', ' ']);
    name.to_uppercase().to_lowercase()
}

fn has_drive(path: &str) -> bool {
    let mut start = path.chars();
    start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.next() == Some(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_names() {
        assert_eq!(read("a/b.txt").unwrap(), ["a", "b.txt"]);
        assert_eq!(read("./a//b/").unwrap(), ["a", "b"]);
        for root in ["", ".", "./"] {
            assert!(read(root).unwrap().is_empty());
        }
    }

    #[test]
    fn secrets_are_seen_in_every_spelling() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".git.",
            ".git ",
            ".git::$INDEX_ALLOCATION",
            ".ssh",
            ".\u{17f}sh",
            ".env",
            ".env.local",
            ".ENVRC",
            "id_rsa",
            "id_ed25519.pub",
            "server.PEM",
            "x.key",
            "x.key.",
        ] {
            assert!(is_protected(name), "{name}");
        }
        for name in [
            ".gitignore",
            ".github",
            "git",
            "env",
            "monkey",
            "key.txt",
            "pem",
            "ssh",
        ] {
            assert!(!is_protected(name), "{name}");
        }
    }

    #[test]
    fn device_names_are_odd() {
        for name in [
            "NUL", "nul.txt", "CON", "com1", "LPT9.log", "com¹", "aux .c", "a.", "a ", "a:b",
            "GIT~1",
        ] {
            assert!(is_odd(name), "{name}");
        }
        for name in ["null", "com", "com10", "console", "a.b", "a~b", "lpt"] {
            assert!(!is_odd(name), "{name}");
        }
    }
}
