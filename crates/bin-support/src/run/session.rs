//! The session of a program: results, progress, variables and messages.

use std::error::Error as StdError;
use std::io::{self, Write};
use std::path::Path;

use super::flags::CommonFlags;
use super::paint::{Paint, Tone};
use super::progress::Progress;
use super::results::Results;
use crate::environment::Environment;
use crate::exit::error_line;
use crate::{Error, Exit, Failure};

/// Everything that a program's function receives in addition to its flags.
#[derive(Debug)]
pub struct Session {
    /// The results, written to stdout.
    pub results: Results,
    /// The progress bars on stderr.
    pub progress: Progress,
    /// The variables: those of the process, then those of files.
    pub environment: Environment,
    pub(crate) program: String,
    pub(super) quiet: bool,
    pub(super) verbosity: u8,
    pub(super) paint: Paint,
}

impl Session {
    /// Prints an error after which the program continues, as `program: message: source`.
    pub fn report(&self, error: &dyn StdError) {
        let line = error_line(&self.program, error);
        self.print(Tone::Bad, &line);
    }

    /// Prints a warning line on stderr, also with `--quiet`.
    pub fn warn(&self, line: &str) {
        self.print(Tone::Unsure, &format!("{}: {line}", self.program));
    }

    /// Prints a status line on stderr, except with `--quiet`. Untrusted text must pass [`escape`](crate::escape) first.
    pub fn status(&self, line: &str) {
        if !self.quiet {
            self.progress.suspend(|| print_error(line));
        }
    }

    /// Prints a line whose beginning, the name of the program, has a colour.
    fn print(&self, tone: Tone, line: &str) {
        let rest = line.strip_prefix(&self.program).unwrap_or(line);
        let name = &line[..line.len() - rest.len()];
        let line = self.paint.tone(tone, name) + rest;
        self.progress.suspend(|| print_error(&line));
    }

    /// Adds the keys of the program's key file, after those of the environment.
    ///
    /// # Errors
    /// The file cannot be read, or has a line that is not `NAME=value`: [`Failure::usage`].
    pub fn read_key_file(&mut self, file: &Path) -> Result<(), Failure> {
        let notices = self.environment.add_key_file(file);
        for notice in notices.map_err(Failure::usage)? {
            self.warn(&notice);
        }
        Ok(())
    }

    /// The number of `-v`: 1 for more detail in the result, 2 also for debug lines of the log.
    pub fn verbosity(&self) -> u8 {
        self.verbosity
    }

    /// Whether `--quiet` was given.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(super) fn load_environment(&mut self, flags: &CommonFlags) -> Result<(), Failure> {
        let loaded = Environment::load(flags.env_file.as_deref());
        let (environment, notices) = loaded.map_err(Failure::usage)?;
        self.environment = environment;
        for notice in notices {
            self.warn(&notice);
        }
        Ok(())
    }

    /// A session that discards its results.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self {
            results: Results::new(io::sink()),
            progress: Progress::new(true),
            environment: Environment::default(),
            program: "probe".to_owned(),
            quiet: true,
            verbosity: 0,
            paint: Paint::plain(),
        }
    }

    /// Flushes the results and returns the exit code and the error of the program.
    pub(super) fn conclude(
        &mut self,
        outcome: Result<Exit, Failure>,
    ) -> (Exit, Option<Box<dyn StdError + Send + Sync>>) {
        let flushed = self.results.flush();
        match (outcome, flushed) {
            (Err(_), _) | (Ok(_), Err(_)) if self.results.reader_left() => (Exit::Done, None),
            (Err(failure), _) => (failure.exit, Some(failure.error)),
            (Ok(_), Err(source)) => (Exit::Failed, Some(Error::Results { source }.into())),
            (Ok(exit), Ok(())) => (exit, None),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' stderr is opened"
)]
fn print_error(line: &str) {
    // A closed stderr leaves the exit code to tell.
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    /// A stdout whose every write fails.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn session(out: impl Write + Send + 'static) -> Session {
        Session {
            results: Results::new(out),
            ..Session::for_tests()
        }
    }

    fn write_one_line(session: &mut Session) -> Result<Exit, Failure> {
        writeln!(session.results, "a result")?;
        Ok(Exit::CheckFailed)
    }

    fn end(mut session: Session) -> (Exit, Option<String>) {
        let outcome = write_one_line(&mut session);
        let (exit, error) = session.conclude(outcome);
        (exit, error.map(|error| error_line("probe", error.as_ref())))
    }

    #[test]
    fn a_program_that_wrote_its_results_ends_with_its_own_code() {
        assert_eq!(end(session(Vec::new())), (Exit::CheckFailed, None));
    }

    #[test]
    fn a_reader_that_left_is_a_quiet_end() {
        assert_eq!(
            end(session(Broken(ErrorKind::BrokenPipe))),
            (Exit::Done, None)
        );
        let buffered = io::BufWriter::new(Broken(ErrorKind::BrokenPipe));
        assert_eq!(end(session(buffered)), (Exit::Done, None));
    }

    #[test]
    fn a_full_disk_is_an_error_even_when_only_the_last_flush_meets_it() {
        assert_eq!(end(session(Broken(ErrorKind::StorageFull))).0, Exit::Failed);
        let buffered = io::BufWriter::new(Broken(ErrorKind::StorageFull));
        let line = "probe: cannot write the results to stdout: no storage space";
        assert_eq!(
            end(session(buffered)),
            (Exit::Failed, Some(line.to_owned()))
        );
    }

    #[test]
    fn an_error_of_the_program_stays_one_although_a_pipe_elsewhere_broke() {
        let mut session = session(Vec::new());
        let (exit, error) = session.conclude(Err(io::Error::from(ErrorKind::BrokenPipe).into()));
        assert_eq!((exit, error.is_some()), (Exit::Failed, true));
    }
}
