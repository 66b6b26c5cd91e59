use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::session::Session;
use crate::output::OutputFile;
use crate::{Failure, escape};

/// The value of a flag that names an output: a file, or stdout for `-`. A file called `-` is `./-`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputTarget {
    /// stdout, among the results.
    Stdout,
    /// A file that is written completely or not at all.
    File(PathBuf),
}

impl OutputTarget {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path) => Some(path),
        }
    }

    /// Begins the output, which fails early if it cannot be written: a file by [`OutputFile::begin_checked`].
    ///
    /// # Errors
    /// As [`OutputFile::begin_checked`]; stdout has none.
    pub fn begin(
        &self,
        inputs: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Output, Failure> {
        Ok(match self {
            Self::Stdout => Output::Stdout,
            Self::File(path) => Output::File(OutputFile::begin_checked(path, inputs)?),
        })
    }
}

impl From<OsString> for OutputTarget {
    fn from(text: OsString) -> Self {
        if text == "-" {
            Self::Stdout
        } else {
            Self::File(text.into())
        }
    }
}

impl From<PathBuf> for OutputTarget {
    /// A file, also one called `-`.
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// Shows the path, safe for a terminal, or `stdout`.
impl fmt::Display for OutputTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("stdout"),
            Self::File(path) => f.write_str(&escape(&path.display().to_string())),
        }
    }
}

/// An output that has begun.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "results go to stdout or to a file")]
pub enum Output {
    /// stdout, among the results.
    Stdout,
    /// A file that appears when it is finished.
    File(OutputFile),
}

impl Output {
    /// Writes a part of the output, before [`Output::finish`] writes the rest. It must end with a whole character, and not
    /// between the two of a line end.
    ///
    /// # Errors
    /// [`crate::Error::OutputFile`], or the error of stdout; an old file is unchanged.
    pub fn append(&mut self, session: &mut Session, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Stdout => written(session, |out| out.write_all(bytes)),
            Self::File(file) => Ok(file.append(bytes)?),
        }
    }

    /// Writes the output, or the rest of it.
    ///
    /// # Errors
    /// [`crate::Error::OutputFile`], or the error of stdout; an old file is unchanged.
    pub fn finish(
        self,
        session: &mut Session,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self {
            Self::Stdout => written(session, fill),
            Self::File(file) => Ok(file.finish(|file| fill(file))?),
        }
    }
}

/// Writes to stdout, also what waits for the rest of its line end.
fn written(
    session: &mut Session,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = session.results.untrusted();
    fill(&mut out)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[arg(short, long)]
        output: Option<OutputTarget>,
    }

    fn target(line: &str) -> Option<OutputTarget> {
        Cli::parse_from(line.split(' ')).output
    }

    #[test]
    fn a_dash_is_stdout_and_all_else_a_file() {
        for line in ["p -o -", "p --output -", "p --output=-", "p -o-"] {
            assert_eq!(target(line), Some(OutputTarget::Stdout), "{line}");
        }
        for (line, path) in [("p -o ./-", "./-"), ("p -oa", "a")] {
            assert_eq!(
                target(line).unwrap().file(),
                Some(Path::new(path)),
                "{line}"
            );
        }
        assert_eq!(target("p"), None);
    }

    #[test]
    fn each_takes_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/out");
        let mut session = Session::for_tests();
        let (seen, out) = std::sync::mpsc::channel();
        session.results = crate::Results::new(Told(seen));
        for target in [OutputTarget::Stdout, OutputTarget::from(path.clone())] {
            let mut output = target.begin([&path.with_file_name("other")]).unwrap();
            output.append(&mut session, b"te").unwrap();
            output
                .finish(&mut session, |out| out.write_all(b"xt"))
                .unwrap();
        }
        assert_eq!(out.try_iter().flatten().collect::<Vec<_>>(), b"text");
        assert_eq!(std::fs::read(&path).unwrap(), b"text");
        assert!(OutputTarget::from(path.clone()).begin([&path]).is_err());
    }

    struct Told(std::sync::mpsc::Sender<Vec<u8>>);

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_owned()).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
