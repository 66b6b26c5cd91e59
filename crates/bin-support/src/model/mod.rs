mod choice;
mod flags;

use std::sync::Arc;

use llm_client::{
    Anthropic, Budget, Cassette, Client, Compat, ConfigError, Limits, Provider, SystemClock,
};

use crate::{Error, Failure, Session, environment};
use choice::{Choice, choose};
use flags::Protocol;

pub use choice::ModelDefaults;
pub use flags::{ModelFlags, ProviderName};

/// What a program asks, by flags, environment and defaults.
///
/// - **Provider**: `--provider`, else the program's. `--base-url` moves it to another address and does not change its
///   protocol: for any server of chat completions say `--provider generic --base-url URL`.
/// - **Key**: `<PROGRAM>_API_KEY`, else the provider's own variable; an empty one counts as absent. The provider's own
///   is not sent to a server on this machine.
/// - **No key**: fine for a server on this machine, for a server of one's own (llama.cpp, Ollama, vLLM, generic) and
///   with `--replay`. Else a usage error if a provider, an address or a replay was asked for, and
///   [`Model::Offline`] with a notice on stderr if not.
/// - **Model**: `--model`, else the program's, which is for its own provider only.
pub enum Model {
    /// No model. What takes its place belongs to the program.
    Offline,
    /// A model behind a client with all its layers.
    Client {
        /// Ready to be asked; clones share budget and limits.
        client: Client,
        /// The id for [`llm_client::Request::model`].
        model: String,
        /// Who serves it; for results.
        provider: ProviderName,
    },
}

impl ModelFlags {
    /// Decides what to ask and makes it ready; nothing is sent. `seed` is where the random part of waits comes from.
    ///
    /// # Errors
    /// Flags that contradict each other, a missing or unusable key, a cassette that cannot be used: all end the
    /// program with [`crate::Exit::Usage`].
    pub fn open(
        &self,
        defaults: &ModelDefaults,
        seed: u64,
        session: &Session,
    ) -> Result<Model, Failure> {
        match choose(self, defaults, environment::variable).map_err(Failure::usage)? {
            Choice::Offline { notice } => {
                if let Some(notice) = notice {
                    session.notice(&notice);
                }
                Ok(Model::Offline)
            }
            Choice::Ask(target) => {
                let provider: Arc<dyn Provider> = match target.protocol {
                    Protocol::Messages => Arc::new(Anthropic::new(target.endpoint)),
                    Protocol::ChatCompletions(dialect) => {
                        Arc::new(Compat::new(target.endpoint, dialect))
                    }
                };
                Ok(Model::Client {
                    client: self
                        .client(provider, seed)
                        .map_err(|error| Failure::usage(Error::Model(error)))?,
                    model: target.model,
                    provider: target.provider,
                })
            }
        }
    }

    fn client(&self, provider: Arc<dyn Provider>, seed: u64) -> Result<Client, ConfigError> {
        let mut limits = Limits::default();
        if let Some(concurrency) = self.concurrency {
            limits.concurrency = concurrency.get();
        }
        let budget = Budget {
            usd: self.max_usd,
            ..Budget::default()
        };
        let mut builder = Client::builder(provider, Arc::new(SystemClock::new()))
            .limits(limits)
            .budget(budget)
            .seed(seed);
        if let Some(path) = &self.record {
            builder = builder.record(Cassette::new(path));
        }
        if let Some(path) = &self.replay {
            builder = builder.replay(Cassette::new(path));
        }
        builder.build()
    }
}
