use std::str::FromStr;

use pscale_blocks::{Path, PathError};

/// A path as it was typed: `0.321` is `0.3.2.1`, and whoever typed it is told so.
#[derive(Debug, Clone, Default)]
pub struct Address {
    pub path: Path,
    typed: String,
}

impl Address {
    /// How the path was understood, if it was typed in another way than it is written.
    pub fn note(&self) -> Option<String> {
        let canonical = self.path.to_string();
        (canonical != self.typed).then(|| format!("read as {canonical}"))
    }
}

impl FromStr for Address {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Ok(Self {
            path: text.parse()?,
            typed: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unusual_way_of_writing_is_noted() {
        let note = |text: &str| text.parse::<Address>().unwrap().note();
        assert_eq!(note("0.321"), Some("read as 0.3.2.1".to_owned()));
        assert_eq!(note("4321.1"), Some("read as 4.3.2.1.1".to_owned()));
        assert_eq!((note("0.3"), note(""), note("0")), (None, None, None));
    }
}
