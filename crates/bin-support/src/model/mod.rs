//! The model that a program asks: its flags, its key, and the client that they lead to.

mod batch_lines;
mod choice;
mod flags;
mod prices;

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_client::provider::Provider;
use llm_client::{
    Anthropic, AnthropicVersion, Budget, Cassette, Client, ClientBuilder, Compat, Limits, Redactor,
    Timer, Unpriced,
};

use secrecy::SecretString;

use crate::environment::{Environment, Origin, Variable};
use crate::{Error, Failure};
use choice::{Choice, Target, choose};
use flags::Protocol;

pub use batch_lines::BatchLines;
pub use choice::{ModelDefaults, ModelWords};
pub use flags::{ModelFlags, ProviderName};
pub use prices::{check_price, price_table, price_table_of};

/// The model that a program asks, chosen by flags, environment and defaults.
///
/// - **Provider**: `--provider`, else the program's default. `--base-url` sets another address and does not change the
///   protocol: for any server of chat completions give `--provider generic --base-url URL`. Without the flag
///   `ANTHROPIC_BASE_URL` sets the address of Anthropic; like a default, it decides nothing else.
/// - **Key**: `<PROGRAM>_API_KEY`, else the provider's own variable; an empty one counts as absent. The provider's key
///   is not sent to a server on this machine. To another address than the provider's own a key is sent only if the address
///   is from `--base-url`, or both are from the real environment, or both are from one `--env-file`; otherwise it is a usage
///   error. If requests go to another address, or the key is from a `.env` that was found, a line on stderr says so.
/// - **No key**: allowed for a server on this machine, for the user's own server (llama.cpp, Ollama, vLLM, generic) and
///   with `--replay`. Otherwise a usage error if a provider, a model, an address or a replay was given, and
///   [`ModelSource::Offline`] with a notice on stderr if not.
/// - **Cap**: with `--max-usd` a model without a known price is refused, except on the user's own server, which is free
///   (llama.cpp, Ollama, vLLM). A generic server may be a gateway to a paid one.
/// - **Model**: `--model`, else the program's default, which is for its provider only.
#[expect(
    clippy::exhaustive_enums,
    reason = "a program asks a model or goes without"
)]
pub enum ModelSource {
    /// No model. The program uses its offline replacement.
    Offline,
    /// A model, reached by a client with all its layers.
    Client {
        /// The client; clones share budget and limits.
        client: Client,
        /// The model's id, for [`llm_client::Request::model`].
        model: String,
        /// The provider, for results.
        provider: ProviderName,
        /// The redactor that removes the key from texts.
        redactor: Redactor,
        /// The server's host, with its port if the address names one; for results.
        host: String,
    },
}

/// The settings of [`ModelFlags::open`] that are not flags.
pub struct OpenOptions<'a> {
    defaults: &'a ModelDefaults,
    seed: u64,
    clock: Arc<dyn Timer>,
    versions: BTreeMap<String, AnthropicVersion>,
    key: Option<&'a SecretString>,
    words: ModelWords,
    settings: Box<dyn FnOnce(ClientBuilder) -> ClientBuilder + 'a>,
}

impl<'a> OpenOptions<'a> {
    /// Options with these defaults; `seed` is the random seed of waits, and `clock` is that of [`ModelFlags::clock`].
    pub fn new(defaults: &'a ModelDefaults, seed: u64, clock: Arc<dyn Timer>) -> Self {
        Self {
            defaults,
            seed,
            clock,
            versions: BTreeMap::new(),
            key: None,
            words: ModelWords::default(),
            settings: Box::new(|client| client),
        }
    }

    /// Asks these models of Anthropic with another version of the API.
    #[must_use]
    pub fn versions(mut self, versions: BTreeMap<String, AnthropicVersion>) -> Self {
        self.versions = versions;
        self
    }

    /// Uses a key that the user just entered in place of the program's in the environment.
    #[must_use]
    pub fn key(mut self, key: &'a SecretString) -> Self {
        self.key = Some(key);
        self
    }

    /// Uses other words in messages.
    #[must_use]
    pub fn words(mut self, words: ModelWords) -> Self {
        self.words = words;
        self
    }

    /// Applies further settings of the client.
    #[must_use]
    pub fn settings(mut self, settings: impl FnOnce(ClientBuilder) -> ClientBuilder + 'a) -> Self {
        self.settings = Box::new(settings);
        self
    }
}

impl ModelFlags {
    /// Chooses the model and builds its client; nothing is sent. `warn` gets the notice for the user, if there is one.
    ///
    /// # Errors
    /// Flags that contradict each other, a missing or unusable key, a cassette that cannot be used: all end the
    /// program with [`crate::Exit::Usage`].
    pub fn open(
        &self,
        options: OpenOptions<'_>,
        environment: &Environment,
        warn: impl FnOnce(&str),
    ) -> Result<ModelSource, Failure> {
        let lookup = lookup(environment, options.defaults, options.key);
        match choose(self, options.defaults, &options.words, lookup).map_err(Failure::usage)? {
            Choice::Offline { notice } => {
                // A user who enters a key has chosen, and needs no notice about a missing one.
                if let Some(notice) = notice.filter(|_| options.key.is_none()) {
                    warn(&notice);
                }
                Ok(ModelSource::Offline)
            }
            Choice::Ask(target) => {
                if let Some(notice) = &target.notice {
                    warn(notice);
                }
                self.ready(*target, options)
            }
        }
    }

    /// The provider whose key is missing, if only the key is: for a program that can ask the user for it.
    ///
    /// # Errors
    /// As [`Self::open`], but for a missing key.
    pub fn missing_key(
        &self,
        defaults: &ModelDefaults,
        environment: &Environment,
    ) -> Result<Option<ProviderName>, Failure> {
        let words = ModelWords::default();
        match choose(self, defaults, &words, |name| environment.get(name)) {
            Ok(Choice::Offline { notice: Some(_) })
            | Err(Error::MissingKey { .. } | Error::ModelWithoutKey { .. }) => {}
            Ok(_) => return Ok(None),
            Err(error) => return Err(Failure::usage(error)),
        }
        // With a key it must be possible to ask.
        let any = SecretString::from("any-key");
        let lookup = lookup(environment, defaults, Some(&any));
        choose(self, defaults, &words, lookup).map_err(Failure::usage)?;
        Ok(Some(self.provider.unwrap_or(defaults.provider)))
    }

    fn ready(&self, target: Target, options: OpenOptions<'_>) -> Result<ModelSource, Failure> {
        let redactor = target.endpoint.redactor().clone();
        let provider: Arc<dyn Provider> = match target.protocol {
            Protocol::Messages => Arc::new(options.versions.iter().fold(
                Anthropic::new(target.endpoint),
                |anthropic, (model, version)| anthropic.with_version_for(model, *version),
            )),
            Protocol::ChatCompletions(dialect) => Arc::new(Compat::new(target.endpoint, dialect)),
        };
        Ok(ModelSource::Client {
            client: (options.settings)(self.client(
                provider,
                unpriced(target.provider),
                options.seed,
                options.clock,
            ))
            .build()
            .map_err(|error| Failure::usage(Error::Model(error)))?,
            model: target.model,
            provider: target.provider,
            redactor,
            host: target.host,
        })
    }

    fn client(
        &self,
        provider: Arc<dyn Provider>,
        unpriced: Unpriced,
        seed: u64,
        clock: Arc<dyn Timer>,
    ) -> ClientBuilder {
        let mut limits = Limits::default();
        if let Some(concurrency) = self.calls_at_once() {
            limits.concurrency = concurrency.get();
        }
        let budget = Budget::default()
            .usd(self.max_usd)
            .tokens(self.max_tokens)
            .unpriced(unpriced);
        let mut builder = Client::builder(provider, clock)
            .limits(limits)
            .budget(budget)
            .seed(seed);
        if let Some(path) = &self.record {
            builder = builder.record(Cassette::new(path));
        }
        if let Some(path) = &self.replay {
            builder = builder.replay(Cassette::new(path));
        }
        builder
    }
}

/// A lookup in the environment, with `key` for the program if there is one.
fn lookup<'a>(
    environment: &'a Environment,
    defaults: &ModelDefaults,
    key: Option<&'a SecretString>,
) -> impl Fn(&str) -> Option<Variable> + use<'a> {
    let own = flags::program_variable(defaults.program);
    move |name| match key {
        Some(key) if name == own => Some(Variable {
            value: key.clone(),
            origin: Origin::Entered,
        }),
        _ => environment.get(name),
    }
}

/// The effect of `--max-usd` on a model without a known price.
fn unpriced(provider: ProviderName) -> Unpriced {
    if provider.is_billable() {
        Unpriced::Refuse
    } else {
        Unpriced::Ignore
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: ModelDefaults = ModelDefaults {
        program: "bin-support-test",
        provider: ProviderName::Llamacpp,
        model: "any",
    };

    fn open(
        flags: &ModelFlags,
        defaults: &ModelDefaults,
        settings: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<ModelSource, Failure> {
        let options = OpenOptions::new(defaults, 7, flags.clock()?).settings(settings);
        flags.open(options, &Environment::default(), |_| {})
    }

    fn local() -> ModelFlags {
        ModelFlags {
            provider: Some(ProviderName::Llamacpp),
            ..ModelFlags::default()
        }
    }

    #[test]
    fn a_server_on_this_machine_is_ready_without_a_key() {
        let model = open(&local(), &OWN, |client| client).unwrap();
        let ModelSource::Client {
            model, provider, ..
        } = model
        else {
            panic!("offline");
        };
        assert_eq!((model.as_str(), provider), ("any", ProviderName::Llamacpp));
    }

    #[test]
    fn a_cassette_that_is_not_there_is_a_usage_error_that_names_it() {
        let flags = ModelFlags {
            replay: Some("no/such/tape.jsonl".into()),
            ..local()
        };
        let Err(failure) = open(&flags, &OWN, |client| client) else {
            panic!("it opened");
        };
        assert_eq!(failure.exit, crate::Exit::Usage);
        let line = crate::exit::error_line("p", failure.error.as_ref());
        assert!(line.contains("no/such/tape.jsonl"), "{line}");
    }

    /// The error of a call of one token more than the cap; nothing is sent.
    fn refused(
        flags: &ModelFlags,
        settings: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> String {
        let opened = open(flags, &OWN, settings);
        let Ok(ModelSource::Client { client, .. }) = opened else {
            panic!("no client");
        };
        let request = llm_client::Request::new("any", "Hello?").max_tokens(Some(100));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let error = runtime.block_on(client.complete(&request)).unwrap_err();
        assert_eq!(error.attempts().len(), 0);
        error.to_string()
    }

    #[test]
    fn c52_the_caps_of_the_flags_hold_whatever_a_program_sets_after_them() {
        let flags = ModelFlags {
            max_usd: Some(llm_client::Usd(1)),
            max_tokens: Some(100),
            ..local()
        };
        let budget = "the budget of 100 tokens";
        assert!(refused(&flags, |client| client).starts_with(budget));
        let others = |client: ClientBuilder| {
            client
                .models(llm_client::ModelTable::embedded())
                .retry(llm_client::RetryPolicy::default())
                .limits(Limits::default())
                .seed(8)
        };
        assert!(refused(&flags, others).starts_with(budget));
    }

    const REMOTE: ModelDefaults = ModelDefaults {
        program: "bin-support-test",
        provider: ProviderName::Anthropic,
        model: "any",
    };

    #[test]
    fn a_missing_key_has_the_remedy_of_the_command() {
        let flags = ModelFlags {
            provider: Some(ProviderName::Openai),
            ..ModelFlags::default()
        };
        let named = ModelFlags {
            model: Some("m".to_owned()),
            ..ModelFlags::default()
        };
        for (without_key, end) in [(Some("wait".to_owned()), ", or wait"), (None, "_API_KEY")] {
            let words = ModelWords {
                base_url: "--at",
                without_key,
            };
            for flags in [&flags, &named] {
                let options = OpenOptions::new(&REMOTE, 7, flags.clock().unwrap());
                let options = options.words(words.clone());
                let opened = flags.open(options, &Environment::default(), |_| {});
                let text = opened.err().unwrap().error().to_string();
                assert!(text.contains("set BIN_SUPPORT_TEST_API_KEY or "), "{text}");
                assert!(text.ends_with(end), "{text}");
            }
        }
    }

    #[test]
    fn the_address_is_that_of_the_flag_of_the_command() {
        let flags = ModelFlags {
            provider: Some(ProviderName::Openai),
            base_url: Some("https://gateway.test".to_owned()),
            model: Some("m".to_owned()),
            ..ModelFlags::default()
        };
        let key = SecretString::from("key-of-the-page-01");
        let words = ModelWords {
            base_url: "--at",
            without_key: None,
        };
        let options = OpenOptions::new(&REMOTE, 7, flags.clock().unwrap());
        let options = options.key(&key).words(words);
        let mut lines = Vec::new();
        let warn = |line: &str| lines.push(line.to_owned());
        assert!(flags.open(options, &Environment::default(), warn).is_ok());
        let begin = "requests go to gateway.test (from --at), key ";
        assert!(lines[0].starts_with(begin), "{lines:?}");
    }

    #[test]
    fn a_key_that_is_given_later_is_the_one_that_is_used() {
        let flags = ModelFlags {
            base_url: Some("https://gateway.test".to_owned()),
            ..ModelFlags::default()
        };
        let environment = Environment::default();
        let missing = flags.missing_key(&REMOTE, &environment).unwrap();
        assert_eq!(missing, Some(ProviderName::Anthropic));
        assert_eq!(local().missing_key(&OWN, &environment).unwrap(), None);
        let key = SecretString::from("key-of-the-page-01");
        let clock = flags.clock().unwrap();
        let options = OpenOptions::new(&REMOTE, 7, clock).key(&key);
        let model = flags.open(options, &environment, |_| {});
        let Ok(ModelSource::Client { redactor, host, .. }) = model else {
            panic!("no client");
        };
        assert_eq!(redactor.redact("key-of-the-page-01"), "[redacted]");
        assert_eq!(host, "gateway.test");
        // What else is missing is told before anybody asks for a key.
        let openai = ModelFlags {
            provider: Some(ProviderName::Openai),
            ..ModelFlags::default()
        };
        assert!(openai.missing_key(&REMOTE, &environment).is_err());
    }

    #[test]
    fn a_cap_is_kept_strictly_where_somebody_may_send_a_bill() {
        for provider in [
            ProviderName::Anthropic,
            ProviderName::Openrouter,
            ProviderName::Generic,
        ] {
            assert_eq!(unpriced(provider), Unpriced::Refuse);
        }
        assert_eq!(unpriced(ProviderName::Ollama), Unpriced::Ignore);
    }
}
