use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use llm_client::{Anthropic, Cassette, ConfigError, Dialect, ReplayClock, SystemClock, Timer, Usd};

use super::choice::{Choice, ModelDefaults, ModelWords, choose};
use crate::environment::Environment;
use crate::{Error, Failure};

/// The flags of every command that asks a model; add them with `#[command(flatten)]`.
#[derive(Debug, Clone, Default, clap::Args)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a program can give the flags itself"
)]
pub struct ModelFlags {
    /// Model provider [default: the program's own with a key, else offline].
    #[arg(long, value_enum)]
    pub provider: Option<ProviderName>,
    /// Address of the server, with `/v1` at its end for all but anthropic [default: the provider's own].
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub base_url: Option<String>,
    /// The file that gave `base_url` in place of the flag, such as the record of an earlier run. A key is sent there only if
    /// the address is the provider's own.
    #[arg(skip)]
    pub base_url_file: Option<PathBuf>,
    /// Model id at the provider [default: the program's own].
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// File to append every exchange with the server to.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub record: Option<PathBuf>,
    /// Recorded file to answer from, without network and key.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub replay: Option<PathBuf>,
    /// Cap in dollars for the whole run, resumes included.
    #[arg(long, value_name = "DOLLARS", allow_negative_numbers = true)]
    pub max_usd: Option<Usd>,
    /// Cap in tokens of prompts and replies for the whole run, set by a program that has a flag for it.
    #[arg(skip)]
    pub max_tokens: Option<u64>,
    /// Calls at the same time, at most; a replay makes one.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub concurrency: Option<NonZeroUsize>,
}

impl ModelFlags {
    /// Whether flags and environment select no provider, so that the program runs offline with a notice.
    pub fn defaults_to_offline(&self, defaults: &ModelDefaults, environment: &Environment) -> bool {
        let choice = choose(self, defaults, &ModelWords::default(), |name| {
            environment.get(name)
        });
        matches!(choice, Ok(Choice::Offline { notice: Some(_) }))
    }

    /// The clock of a program with these flags: that of the recording with `--replay`, so that its results are the same on
    /// every day, else that of the machine. Give it to [`super::OpenOptions::new`] too: the client moves it.
    ///
    /// # Errors
    /// The recording cannot be read: the program ends with [`crate::Exit::Usage`].
    pub fn clock(&self) -> Result<Arc<dyn Timer>, Failure> {
        let Some(path) = &self.replay else {
            return Ok(Arc::new(SystemClock::new()));
        };
        let clock = ReplayClock::open(&Cassette::new(path));
        let error = |error| Failure::usage(Error::Model(ConfigError::Cassette(error)));
        Ok(Arc::new(clock.map_err(error)?))
    }

    /// The number of calls at the same time, if a flag says it. A replay waits for no server and makes one call at a time,
    /// so that its clock follows the calls in one order.
    pub fn calls_at_once(&self) -> Option<NonZeroUsize> {
        if self.replay.is_some() {
            return Some(NonZeroUsize::MIN);
        }
        self.concurrency
    }
}

/// The provider of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[non_exhaustive]
pub enum ProviderName {
    /// Messages at api.anthropic.com.
    Anthropic,
    /// Chat completions at openrouter.ai.
    Openrouter,
    /// Chat completions at api.openai.com.
    Openai,
    /// llama.cpp's server on this machine.
    Llamacpp,
    /// Ollama on this machine.
    Ollama,
    /// vLLM on this machine.
    Vllm,
    /// Any other server of chat completions, at `--base-url`.
    Generic,
    /// No model.
    Offline,
}

impl ProviderName {
    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Openrouter => "openrouter",
            Self::Openai => "openai",
            Self::Llamacpp => "llamacpp",
            Self::Ollama => "ollama",
            Self::Vllm => "vllm",
            Self::Generic => "generic",
            Self::Offline => "offline",
        }
    }

    /// Whether calls may cost money: not on the user's own server. A generic server may be a gateway to a paid one.
    pub fn is_billable(self) -> bool {
        !matches!(self, Self::Llamacpp | Self::Ollama | Self::Vllm)
    }

    /// The protocol of the provider; `None` for `offline`.
    pub(crate) fn protocol(self) -> Option<Protocol> {
        Some(match self {
            Self::Anthropic => Protocol::Messages,
            Self::Openrouter => Protocol::ChatCompletions(Dialect::openrouter()),
            Self::Openai => Protocol::ChatCompletions(Dialect::openai()),
            Self::Llamacpp => Protocol::ChatCompletions(Dialect::llamacpp()),
            Self::Ollama => Protocol::ChatCompletions(Dialect::ollama()),
            Self::Vllm => Protocol::ChatCompletions(Dialect::vllm()),
            Self::Generic => Protocol::ChatCompletions(Dialect::generic()),
            Self::Offline => return None,
        })
    }

    /// The variables that may contain a key; the first that is set counts. The program's variable comes first.
    pub fn key_variables(self, program: &str) -> Vec<String> {
        [program_variable(program)]
            .into_iter()
            .chain(self.key_variable().map(str::to_owned))
            .collect()
    }

    /// The provider's own key variable; `None` for servers that need no key.
    pub(crate) fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Openrouter => Some("OPENROUTER_API_KEY"),
            Self::Openai => Some("OPENAI_API_KEY"),
            Self::Llamacpp | Self::Ollama | Self::Vllm | Self::Generic | Self::Offline => None,
        }
    }
}

pub(super) fn program_variable(program: &str) -> String {
    format!("{}_API_KEY", program.to_uppercase().replace('-', "_"))
}

/// The protocol of a server.
#[derive(Debug)]
pub(crate) enum Protocol {
    /// The messages API of Anthropic.
    Messages,
    /// The chat completions API of nearly all others.
    ChatCompletions(Dialect),
}

impl Protocol {
    /// The default address; `--base-url` overrides it.
    pub(crate) fn base_url(&self) -> Option<&'static str> {
        match self {
            Self::Messages => Some(Anthropic::DEFAULT_BASE),
            Self::ChatCompletions(dialect) => dialect.base_url,
        }
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use clap::{Parser, ValueEnum as _};

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        model: ModelFlags,
    }

    fn parse(line: &str) -> Result<ModelFlags, clap::Error> {
        Cli::try_parse_from(line.split(' ')).map(|cli| cli.model)
    }

    #[test]
    fn every_flag_takes_a_space_or_an_equals_sign() {
        for line in [
            "p --provider ollama --base-url http://h/v1 --model m --record a --replay b --max-usd 0.5 --concurrency 3",
            "p --provider=ollama --base-url=http://h/v1 --model=m --record=a --replay=b --max-usd=0.5 --concurrency=3",
        ] {
            let flags = parse(line).unwrap();
            assert_eq!(flags.provider, Some(ProviderName::Ollama), "{line}");
            assert_eq!(flags.base_url.as_deref(), Some("http://h/v1"), "{line}");
            assert_eq!(flags.model.as_deref(), Some("m"), "{line}");
            assert_eq!(flags.record, Some("a".into()), "{line}");
            assert_eq!(flags.replay, Some("b".into()), "{line}");
            assert_eq!(flags.max_usd, Some(Usd(500_000_000)), "{line}");
            assert_eq!(flags.concurrency, NonZeroUsize::new(3), "{line}");
        }
    }

    #[test]
    fn amounts_that_make_no_sense_are_usage_errors_that_show_them() {
        for line in [
            "p --max-usd=-1",
            "p --max-usd=NaN",
            "p --max-usd=1e3",
            "p --max-usd=",
            "p --concurrency=0",
            "p --concurrency=-1",
            "p --provider=gpt",
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.use_stderr(), "{line}");
            let flag = line.split(['=', ' ']).nth(1).unwrap();
            assert!(error.to_string().contains(flag), "{error}");
        }
    }

    #[test]
    fn the_variable_of_a_program_bears_its_name() {
        assert_eq!(program_variable("zer0gravity"), "ZER0GRAVITY_API_KEY");
        assert_eq!(program_variable("two-words"), "TWO_WORDS_API_KEY");
    }

    #[test]
    fn a_provider_is_shown_as_it_is_written_on_the_command_line() {
        for provider in ProviderName::value_variants() {
            let value = provider.to_possible_value().unwrap();
            assert_eq!(value.get_name(), provider.as_str());
        }
    }
}
