//! The commands with which the user continues, ready to be pasted into a shell.

use std::path::Path;
use std::time::Duration;

use bin_support::model::ProviderName;
use llm_client::Usd;

use crate::flags::RunOptions;
use crate::input::quoted;
use crate::location::StoreLocation;
use bin_support::escape;

/// A command line in the making.
pub struct ResumeCommand(String);

impl ResumeCommand {
    /// `popper COMMAND X`, with the database unless it is the usual one.
    pub fn new(command: &str, run_id: i64, location: &StoreLocation) -> Self {
        let mut command = Self(format!("popper {command} {run_id}"));
        if let Some((flag, value)) = location.flag() {
            command.add(flag, &value);
        }
        command
    }

    /// Returns the command that continues an unfinished run. It repeats all flags that the run's row does not contain.
    pub fn resume(run_id: i64, location: &StoreLocation, work: &RunOptions) -> Self {
        let mut command = Self::new("resume", run_id, location);
        if let Some(iterations) = work.iterations {
            command.add("--iterations", &iterations.to_string());
        }
        let time = |time: Duration| format!("{}ms", time.as_millis());
        for (flag, value) in [
            (
                "--threads",
                work.fleet.threads.map(|threads| threads.to_string()),
            ),
            (
                "--audit",
                work.fleet.audit.map(|percent| percent.to_string()),
            ),
            ("--lease", work.fleet.timing.lease.map(time)),
            ("--patience", work.fleet.timing.patience.map(time)),
        ] {
            if let Some(value) = value {
                command.add(flag, &value);
            }
        }
        let flags = &work.model;
        // That no model is asked stands in the run's row.
        let provider = flags.provider.filter(|name| *name != ProviderName::Offline);
        let path = |path: &Path| path.display().to_string();
        for (flag, value) in [
            ("--provider", provider.map(|name| name.to_string())),
            ("--base-url", flags.base_url.clone()),
            ("--record", flags.record.as_deref().map(path)),
            ("--replay", flags.replay.as_deref().map(path)),
            ("--prices", work.prices.as_deref().map(path)),
            ("--max-usd", flags.max_usd.map(|usd| usd.to_string())),
        ] {
            if let Some(value) = value {
                command.add(flag, value.trim_start_matches('$'));
            }
        }
        command
    }

    /// Returns the command that extends a completed run to `iterations` in all.
    pub fn longer(
        run_id: i64,
        location: &StoreLocation,
        work: &RunOptions,
        iterations: u32,
    ) -> Self {
        let work = RunOptions {
            iterations: Some(iterations),
            ..work.clone()
        };
        Self::resume(run_id, location, &work)
    }

    /// Returns the command that continues a run whose cap is reached, with twice the cap.
    pub fn dearer(run_id: i64, location: &StoreLocation, work: &RunOptions, cap: Usd) -> Self {
        let mut work = work.clone();
        work.model.max_usd = Some(cap.saturating_add(cap));
        Self::resume(run_id, location, &work)
    }

    fn add(&mut self, flag: &str, value: &str) {
        self.0.push(' ');
        self.0.push_str(flag);
        self.0.push(' ');
        self.0.push_str(&quoted(value));
    }
}

impl std::fmt::Display for ResumeCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&escape(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::DEFAULT_DATABASE;

    #[test]
    fn a_path_with_a_space_is_one_word() {
        let command =
            ResumeCommand::new("status", 3, &StoreLocation::File("my runs/it's.db".into()));
        let shown = r"popper status 3 --db 'my runs/it'\''s.db'";
        assert_eq!(command.to_string(), shown);
    }

    #[test]
    fn the_usual_database_goes_without_saying() {
        let command =
            ResumeCommand::new("status", 3, &StoreLocation::File(DEFAULT_DATABASE.into()));
        assert_eq!(command.to_string(), "popper status 3");
    }
}
