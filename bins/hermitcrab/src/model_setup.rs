//! The model that a command calls, chosen by flags and settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use bin_support::environment::Environment;
use bin_support::model::{ModelDefaults, ModelFlags, ModelSource, OpenOptions, ProviderName};
use bin_support::{Failure, Session};
use hermitcrab_kernel::config::{ModelSpec, Settings};
use hermitcrab_kernel::{Brain, LlmBrain, OfflineBrain};
use llm_client::{AnthropicVersion, ClientBuilder, Redactor, Timer, Usd};
use secrecy::SecretString;

use crate::data_dir::DataDir;
use crate::error::Error;
use crate::key_file;
use crate::plain_file;

/// The provider and the model without any flag or setting.
pub const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "hermitcrab",
    provider: ProviderName::Anthropic,
    model: "claude-opus-5-5",
};

/// Reads `hermitcrab.toml` of the data directory. Without it the settings are the defaults.
pub fn settings(data: &DataDir) -> Result<Settings, Error> {
    let path = data.path().join("hermitcrab.toml");
    let text = match plain_file::read_text(&path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Settings::default()),
        Err(source) => return Err(Error::Read { path, source }),
    };
    Settings::parse(&text).map_err(|source| Error::Settings { path, source })
}

/// The choice of provider, models and key, made of flags, environment and settings.
#[derive(Clone)]
pub struct ModelSetup {
    flags: ModelFlags,
    environment: Environment,
    seed: u64,
    clock: Arc<dyn Timer>,
    /// The settings, whose models are those that are called.
    pub settings: Settings,
}

impl ModelSetup {
    pub fn new(
        flags: &ModelFlags,
        seed: u64,
        data: &DataDir,
        session: &mut Session,
    ) -> Result<Self, Failure> {
        let settings = settings(data).map_err(Error::failure)?;
        key_file::read(data, session)?;
        let settings = match (&flags.model, flags.provider) {
            // With `--provider offline` no model is called.
            (Some(model), provider) if provider != Some(ProviderName::Offline) => {
                with_single_model(model.clone(), settings)
            }
            _ => settings,
        };
        Ok(Self {
            flags: flags.clone(),
            environment: session.environment.clone(),
            seed,
            clock: data.clock(),
            settings,
        })
    }

    /// Returns the provider, if only its key is missing.
    pub fn missing_key(&self) -> Result<Option<ProviderName>, Failure> {
        self.flags.missing_key(&DEFAULTS, &self.environment)
    }

    /// Returns the cap of the process in dollars, if its calls are billed.
    pub fn max_usd(&self) -> Option<Usd> {
        let is_billable = self.flags.provider.is_none_or(ProviderName::is_billable);
        self.flags.max_usd.filter(|_| is_billable)
    }

    /// Returns the provider of the flags, or the default one.
    pub fn provider(&self) -> ProviderName {
        self.flags.provider.unwrap_or(DEFAULTS.provider)
    }

    /// Returns the model that is called first, and the price of a prompt with this number of tokens.
    pub fn price(&self, tokens: u64) -> Option<(String, Usd)> {
        let provider = self.provider().as_str();
        let model = self.settings.models.first()?.id.clone();
        let table = self.settings.model_table(provider);
        let million = table.find(provider, &model)?.price(tokens)?.input;
        let nanos = i128::from(million.0) * i128::from(tokens) / 1_000_000;
        Some((model, Usd(i64::try_from(nanos).ok()?)))
    }

    /// Opens the brain with the key of the environment. Its redactor knows the key.
    pub fn brain(&self, session: &Session) -> Result<(Arc<dyn Brain>, Redactor), Failure> {
        self.open(self.options(), |line| session.warn(line))
    }

    /// Opens the brain with this key.
    pub fn brain_with(&self, key: &SecretString) -> Result<(Arc<dyn Brain>, Redactor), Failure> {
        self.open(self.options().key(key), |line| tracing::warn!("{line}"))
    }

    fn options(&self) -> OpenOptions<'_> {
        OpenOptions::new(&DEFAULTS, self.seed, self.clock.clone())
            .versions(self.versions())
            .settings(|client| self.client(client))
    }

    fn open(
        &self,
        options: OpenOptions<'_>,
        warn: impl FnOnce(&str),
    ) -> Result<(Arc<dyn Brain>, Redactor), Failure> {
        match self.flags.open(options, &self.environment, warn)? {
            ModelSource::Offline => Ok((Arc::new(OfflineBrain), Redactor::default())),
            ModelSource::Client {
                client,
                provider,
                redactor,
                ..
            } => {
                let brain = LlmBrain::new(client, provider.as_str(), &self.settings);
                Ok((Arc::new(brain), redactor))
            }
        }
    }

    fn client(&self, client: ClientBuilder) -> ClientBuilder {
        // The client applies the cap of the process to every attempt. The kernel adds up the cost of a turn and a day.
        client.models(self.settings.model_table(self.provider().as_str()))
    }

    fn versions(&self) -> BTreeMap<String, AnthropicVersion> {
        let specs = self.settings.models.iter().chain([&self.settings.fast]);
        specs
            .filter_map(|spec| Some((spec.id.clone(), spec.api_version?)))
            .collect()
    }
}

/// Returns the settings with this model alone, and with its description if they have one.
fn with_single_model(model: String, mut settings: Settings) -> Settings {
    let known = |spec: &&ModelSpec| spec.id == model;
    let spec = (settings.models.iter().chain([&settings.fast]).find(known)).cloned();
    let spec = spec.unwrap_or_else(|| ModelSpec::new(model));
    settings.fast = spec.clone();
    settings.models = vec![spec];
    settings
}
