use std::fmt;

/// A fault of a page or of a help, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The path of the page from the root, or the command whose help it is.
    pub place: String,
    /// The line, counted from 1.
    pub line: Option<usize>,
    pub text: String,
}

impl Problem {
    /// A problem in the line of a page that has this index.
    pub fn at(place: &str, index: usize, text: impl Into<String>) -> Self {
        Self {
            place: place.to_owned(),
            line: Some(index + 1),
            text: text.into(),
        }
    }

    pub fn of(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            line: None,
            text: text.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.text)
    }
}
