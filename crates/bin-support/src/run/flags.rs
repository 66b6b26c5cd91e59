use std::ffi::OsStr;
use std::path::PathBuf;

use anstream::ColorChoice;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// The heading of the flags that every command takes; this group is the last one of each help.
pub(super) const COMMON: &str = "Common options";

/// The flags of every program, before or after a command; [`command`](crate::command) adds them.
#[derive(Debug, Clone, clap::Args)]
#[non_exhaustive]
pub struct CommonFlags {
    /// More detail in the result; -vv also shows debug lines of the log.
    #[arg(short, long, global = true, help_heading = COMMON, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Results, warnings and errors only, without progress.
    #[arg(short, long, global = true, help_heading = COMMON)]
    pub quiet: bool,
    /// Colour of results and messages: auto, always or never.
    ///
    /// auto: on a terminal, without `NO_COLOR`.
    #[arg(long, global = true, help_heading = COMMON, value_name = "WHEN", default_value = "auto", value_parser = color_choices(), hide_possible_values = true)]
    pub color: ColorChoice,
    /// Form of log lines on stderr.
    #[arg(long, global = true, help_heading = COMMON, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text, hide_short_help = true)]
    pub log_format: LogFormat,
    /// File of variables, in place of a `.env` that is searched [/dev/null: none]
    ///
    /// 1. A `.env` is searched from the working directory up to a folder with `.git` or the home, and gives keys only.
    /// 2. FILE gives keys and `ANTHROPIC_BASE_URL`. No file sets anything else; real variables win.
    /// 3. To another address than the provider's own a key is sent only if the address is `--base-url`, or both are real variables, or both are in FILE.
    /// 4. A line on stderr names the host if it is not the provider's own, or if the key was in a `.env` that was found.
    #[arg(long, global = true, help_heading = COMMON, value_name = "FILE", verbatim_doc_comment, hide_short_help = true)]
    pub env_file: Option<PathBuf>,
}

fn color_choices() -> impl TypedValueParser<Value = ColorChoice> {
    PossibleValuesParser::new(["auto", "always", "never"]).map(|word| match word.as_str() {
        "always" => ColorChoice::Always,
        "never" => ColorChoice::Never,
        _ => ColorChoice::Auto,
    })
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
    /// Random seed, or `random` to draw one.
    ///
    /// The same seed gives the same result.
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
}

/// Parses a random seed: a number from 0, or `random`, which draws one of 32 bits.
///
/// # Errors
/// The text is neither, or the operating system gives no random number.
#[expect(
    clippy::disallowed_methods,
    reason = "the user asks for a drawn seed, which every result records"
)]
pub fn seed(text: &str) -> Result<u64, String> {
    if text == "random" {
        let drawn = getrandom::u32().map_err(|error| format!("no seed can be drawn: {error}"))?;
        return Ok(drawn.into());
    }
    text.parse()
        .map_err(|_| "expected a whole number from 0, or `random`".to_owned())
}

/// Returns the choice of colours in a command line that may not parse, for the message that says so.
pub(super) fn early_color<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> ColorChoice {
    let words: Vec<_> = words.into_iter().filter_map(OsStr::to_str).collect();
    let given = words.iter().enumerate().rev().find_map(|(index, word)| {
        let apart = || words.get(index + 1).copied().filter(|_| *word == "--color");
        word.strip_prefix("--color=").or_else(apart)
    });
    match given {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
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

    #[test]
    fn a_seed_is_a_number_or_a_drawn_one() {
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        let drawn: Vec<_> = (0..8).map(|_| seed("random").unwrap()).collect();
        assert!(drawn.iter().any(|one| *one != drawn[0]), "{drawn:?}");
        for text in ["-1", "1.5", "Random", ""] {
            assert!(seed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_choice_of_colours_is_known_before_the_rest_is_parsed() {
        let early = |line: &str| early_color(line.split(' ').map(OsStr::new));
        assert_eq!(
            early("p --color never --color=always x"),
            ColorChoice::Always
        );
        assert_eq!(early("p x --color never"), ColorChoice::Never);
        assert_eq!(early("p x --color"), ColorChoice::Auto);
    }
}
