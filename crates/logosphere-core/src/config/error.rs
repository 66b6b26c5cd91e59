/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is no text.
    #[error("line {line}, byte {offset}: not UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// The line, from 1.
        line: usize,
        /// The byte, from 0.
        offset: usize,
    },
    /// The file is no JSON.
    #[error("line {line}, column {column}{}: not JSON: {message}{}", at(path), expected(allowed.as_deref()))]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The key whose value cannot be read, if it is one.
        path: String,
        /// What that value may be, if the key is known.
        allowed: Option<String>,
        /// What the reader stumbled over.
        message: String,
    },
    /// There is no such key.
    #[error("{path}: no such setting; the nearest is {nearest}")]
    Unknown {
        /// The key.
        path: String,
        /// The known one that is most like it.
        nearest: &'static str,
    },
    /// A key that would hold a secret: settings are copied into results.
    #[error(
        "{path}: settings go into results and hold no secret; set LOGOSPHERE_API_KEY in the environment or in .env, and take the key out of use if this file was shared"
    )]
    Secret {
        /// The key.
        path: String,
    },
    /// A setting is given twice, by one name or by two.
    #[error("{path}: given twice{}; keep one of them", also(path, first))]
    Twice {
        /// The second key.
        path: String,
        /// The first.
        first: String,
    },
    /// A value is none of those allowed.
    #[error("{}expected {allowed}, found {found}", subject(path))]
    Value {
        /// The key; empty for the whole file.
        path: String,
        /// What it may be.
        allowed: String,
        /// What it is.
        found: String,
    },
    /// Settings that do not go together.
    #[error("{path}: {why}")]
    Conflict {
        /// The setting.
        path: &'static str,
        /// What is wrong, and what to do.
        why: &'static str,
    },
}

fn at(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!(", {path}")
    }
}

fn expected(allowed: Option<&str>) -> String {
    allowed.map_or(String::new(), |allowed| format!("; expected {allowed}"))
}

fn also(path: &str, first: &str) -> String {
    if path == first {
        String::new()
    } else {
        format!(", also as {first}")
    }
}

fn subject(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!("{path}: ")
    }
}
