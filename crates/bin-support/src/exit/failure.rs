use std::error::Error as StdError;
use std::process::ExitCode;

use super::terminal_text::escape;

/// The outcome of a program; the exit codes are the same for every binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// 0: the command is done.
    Done,
    /// 1: the program failed.
    Failed,
    /// 2: wrong usage, configuration or input file; no work was done.
    Usage,
    /// 3: finished, but some items failed.
    SomeFailed,
    /// 4: finished, and a check that the user asked for failed.
    CheckFailed,
    /// 130: interrupted (Ctrl-C, SIGTERM, SIGHUP, or a cap reached); finished work is kept.
    Interrupted,
}

impl Exit {
    /// The exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::SomeFailed => 3,
            Self::CheckFailed => 4,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// The error that ends a program, with its exit code.
///
/// `?` converts any error into one, with [`Exit::Failed`]. To allow this, the type does not implement `Error`.
#[derive(Debug)]
pub struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: Box<dyn StdError + Send + Sync>,
}

impl Failure {
    /// Ends the program with `exit`.
    pub fn new(exit: Exit, error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self {
            exit,
            error: error.into(),
        }
    }

    /// Ends the program with [`Exit::Usage`]: `read(path).map_err(Failure::usage)?`.
    pub fn usage(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(Exit::Usage, error)
    }

    /// The error, for a program that continues and reports it in another way.
    pub fn error(&self) -> &(dyn StdError + 'static) {
        self.error.as_ref()
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(Exit::Failed, error)
    }
}

/// The line `program: message: source: ...`, safe for a terminal. Messages may have several lines.
pub(crate) fn error_line(program: &str, error: &dyn StdError) -> String {
    let mut line = format!("{program}: {error}");
    let mut next = error.source();
    while let Some(source) = next {
        line.push_str(": ");
        line.push_str(&source.to_string());
        next = source.source();
    }
    let lines: Vec<_> = line.split('\n').map(escape).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn an_error_is_one_line_with_its_sources() {
        let error = crate::Error::EnvFileUnreadable {
            path: PathBuf::from("a/.env"),
            source: io::Error::other("no permission"),
        };
        assert_eq!(
            error_line("popper", &error),
            "popper: cannot read a/.env: no permission"
        );
    }

    #[test]
    fn nothing_in_an_error_moves_the_cursor() {
        let path = PathBuf::from("a\u{1b}[31m\u{202e}b");
        let error = crate::Error::EnvFileUnreadable {
            path,
            source: io::Error::other("first\nsecond"),
        };
        assert_eq!(
            error_line("popper", &error),
            "popper: cannot read a\\u{1b}[31m\\u{202e}b: first\nsecond"
        );
    }

    #[test]
    fn any_error_fails_with_1_and_a_usage_error_with_2() {
        fn read() -> Result<Exit, Failure> {
            Err(io::Error::other("broken"))?
        }
        assert_eq!(read().map_err(|failure| failure.exit.code()).err(), Some(1));
        assert_eq!(Failure::usage("no such universe").exit.code(), 2);
    }
}
