use std::path::PathBuf;

/// The heading of the flags that every command takes; this group is the last one of each help.
pub(super) const COMMON: &str = "Common options";

/// The flags of every program, before or after a command; [`command`](crate::command) adds them.
#[derive(Debug, Clone, clap::Args)]
#[non_exhaustive]
pub struct CommonFlags {
    /// Results, warnings and errors only, without progress.
    #[arg(long, global = true, help_heading = COMMON)]
    pub quiet: bool,
    /// Form of log lines on stderr.
    #[arg(long, global = true, help_heading = COMMON, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// File of variables, in place of a `.env` that is searched [/dev/null: none]
    ///
    /// 1. A `.env` is searched from the working directory up to a folder with `.git` or the home, and gives keys only.
    /// 2. FILE gives keys and `ANTHROPIC_BASE_URL`. No file sets anything else; real variables win.
    /// 3. To another address than the provider's own a key is sent only if the address is `--base-url`, or both are real variables, or both are in FILE.
    /// 4. A line on stderr names the host if it is not the provider's own, or if the key was in a `.env` that was found.
    #[arg(long, global = true, help_heading = COMMON, value_name = "FILE", verbatim_doc_comment)]
    pub env_file: Option<PathBuf>,
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[non_exhaustive]
pub enum LogFormat {
    /// Plain text for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// `--seed`, for commands that draw random numbers.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
#[non_exhaustive]
pub struct SeedFlag {
    /// Random seed; the same one gives the same result.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches as _, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(subcommand)]
        command: Command,
    }

    #[derive(Debug, clap::Subcommand)]
    enum Command {
        Draw(SeedFlag),
    }

    #[test]
    fn flags_stand_before_or_after_the_command_with_a_space_or_an_equals_sign() {
        for line in [
            "p --quiet --log-format json draw --seed 7",
            "p draw --seed=7 --log-format=json --quiet",
        ] {
            let matches = crate::command::<Cli>()
                .try_get_matches_from(line.split(' '))
                .unwrap();
            let common = CommonFlags::from_arg_matches(&matches).unwrap();
            assert!(common.quiet, "{line}");
            assert_eq!(common.log_format, LogFormat::Json, "{line}");
            let Command::Draw(draw) = Cli::from_arg_matches(&matches).unwrap().command;
            assert_eq!(draw.seed, 7, "{line}");
        }
    }
}
