use std::error::Error as StdError;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches as _, Subcommand as _};

use crate::exit::error_line;
use crate::interrupt;
use crate::shared_command::SharedCommand;
use crate::{
    CommonFlags, Environment, Error, Exit, Failure, Program, Progress, Results, command, logging,
};

/// What a program's function works with besides its own flags.
#[derive(Debug)]
pub struct Session {
    /// stdout: write results here.
    pub results: Results,
    /// Bars on stderr.
    pub progress: Progress,
    /// The variables: the real ones, then those of `.env`.
    pub environment: Environment,
    program: String,
    quiet: bool,
}

impl Session {
    /// Prints an error the program goes on after, in the form of the last one: `program: message: source`.
    pub fn report(&self, error: &dyn StdError) {
        self.progress
            .suspend(|| print_error(&error_line(&self.program, error)));
    }

    /// Says something on stderr that the user should know before the results: one line, also with `--quiet`.
    pub fn notice(&self, line: &str) {
        self.progress
            .suspend(|| print_error(&format!("{}: {line}", self.program)));
    }

    /// Says on stderr how far the work is; nothing with `--quiet`. What the user did not write himself goes through
    /// [`printable`](crate::printable) first.
    pub fn say(&self, line: &str) {
        if !self.quiet {
            self.progress.suspend(|| print_error(line));
        }
    }

    /// Adds the keys of the file in which the program keeps them for its user, after those of the environment.
    ///
    /// # Errors
    /// The file cannot be read, or has a line that is not `NAME=value`: [`Failure::usage`].
    pub fn read_key_file(&mut self, file: &Path) -> Result<(), Failure> {
        let notices = self.environment.add_key_file(file);
        for notice in notices.map_err(Failure::usage)? {
            self.notice(&notice);
        }
        Ok(())
    }

    /// Whether the user wants to see results and errors only (`--quiet`).
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    fn load_environment(&mut self, flags: &CommonFlags) -> Result<(), Failure> {
        let loaded = Environment::load(flags.env_file.as_deref());
        let (environment, notices) = loaded.map_err(Failure::usage)?;
        self.environment = environment;
        for notice in notices {
            self.notice(&notice);
        }
        Ok(())
    }

    /// One that keeps its results to itself.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self {
            results: Results::new(io::sink()),
            progress: Progress::new(true),
            environment: Environment::default(),
            program: "probe".to_owned(),
            quiet: true,
        }
    }

    /// Flushes the results and says how the program ended, and with which error.
    fn conclude(
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

/// The work that a command line names.
enum Task<C> {
    /// The program's own work.
    Own(C),
    /// A command that all programs share.
    Shared(SharedCommand),
}

impl<C: Program> Task<C> {
    fn from_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let command = matches.subcommand_name();
        if command.is_some_and(SharedCommand::has_subcommand) {
            SharedCommand::from_arg_matches(matches).map(Self::Shared)
        } else {
            C::from_arg_matches(matches).map(Self::Own)
        }
    }
}

/// The body of every `main`: reads the flags and `.env`, starts the log, calls `execute`, prints its error.
///
/// Wrong flags end with 2 and the usage, `--help` with 0, an `--env-file` that does not parse with 2. When the reader of
/// stdout goes away and `execute` passes that error on, the program ends with 0 and without a word.
pub fn run<C: Program>(
    execute: impl FnOnce(&C, &mut Session) -> Result<Exit, Failure>,
) -> ExitCode {
    // A client that a program builds with `reqwest` panics without a crypto provider.
    llm_client::tls::install_default();
    interrupt::survive_file_limits();
    let mut command = command::<C>();
    let parsed = command.clone().try_get_matches().and_then(|matches| {
        let common = CommonFlags::from_arg_matches(&matches)?;
        Ok((Task::from_matches(&matches)?, common, matches))
    });
    let (task, common, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(answer) => {
            let answer = answer.format(&mut command);
            // Nothing is left to do when neither stdout nor stderr takes it.
            let _ = answer.print();
            return if answer.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            }
            .into();
        }
    };
    let progress = Progress::new(common.quiet);
    logging::start(&common, &progress);
    let mut session = Session {
        results: Results::stdout(),
        progress,
        environment: Environment::default(),
        program: command.get_name().to_owned(),
        quiet: common.quiet,
    };
    let outcome = session
        .load_environment(&common)
        .and_then(|()| match &task {
            Task::Own(cli) => execute(cli, &mut session),
            Task::Shared(shared) => shared.execute::<C>(&matches, &mut session),
        });
    let (exit, error) = session.conclude(outcome);
    if let Some(error) = error {
        session.report(error.as_ref());
    }
    exit.into()
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
