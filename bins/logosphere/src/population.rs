//! The minds of a run: those of a model, or scripted minds.

use std::path::Path;
use std::sync::Arc;

use bin_support::Failure;
use bin_support::environment::Environment;
use bin_support::model::{
    ModelDefaults, ModelFlags, ModelSource, OpenOptions, ProviderName, check_price, price_table,
};
use clap::ValueEnum as _;
use llm_client::{Client, LedgerFile, RetryPolicy, Timer, Usd};
use logosphere_core::config::Layer;
use logosphere_core::experiment::Experiment;
use logosphere_core::{LlmMind, LocalMind, Mind, Settings, local_mind};

use crate::error::Error;
use crate::flags::ChangeableFlags;

/// The file of a run's spending in its directory.
pub const LEDGER: &str = "spend.jsonl";

pub const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "logosphere",
    provider: ProviderName::Openrouter,
    model: "anthropic/claude-3.5-sonnet",
};

/// The minds of a run, before all its settings are known.
pub enum Population {
    Offline,
    Model {
        client: Client,
        provider: ProviderName,
    },
}

impl Population {
    /// Chooses the minds by the settings and the environment, and records the choice in the settings. Nothing is sent.
    ///
    /// `file` is the file with the settings that are not flags. The lines that the user must read go to `notices`.
    pub fn choose(
        layer: &mut Layer,
        file: &Path,
        flags: &ChangeableFlags,
        clock: Arc<dyn Timer>,
        environment: &Environment,
        notices: &mut Vec<String>,
    ) -> Result<Self, Failure> {
        let prices = price_table(flags.prices.as_deref())?;
        let mut model = model_flags(layer, flags)?;
        if flags.model.base_url.is_none() && model.base_url.is_some() {
            model.base_url_file = Some(file.to_owned());
        }
        let seed = layer.seed.unwrap_or(0);
        let options = OpenOptions::new(&DEFAULTS, seed, clock).settings(|client| {
            client
                .models(prices.clone())
                // Requests of a run differ in their messages and in nothing else.
                .retry(RetryPolicy::default().send_count(false))
        });
        let opened = model.open(options, environment, |line| notices.push(line.to_owned()))?;
        match opened {
            ModelSource::Offline => {
                // A cap in dollars holds trivially; tokens are only estimates.
                if layer.max_tokens.is_some() {
                    let flag = "--max-tokens";
                    return Err(Failure::usage(bin_support::Error::OfflineWith { flag }));
                }
                if layer.max_usd.is_some() {
                    let notice = "--max-usd: no model is called offline, and there is no cost";
                    notices.push(notice.to_owned());
                }
                layer.provider = Some(ProviderName::Offline.to_string());
                let mind = layer
                    .mind
                    .get_or_insert_with(|| LocalMind::DEFAULT.to_owned());
                layer.model = Some(mind.clone());
                Ok(Self::Offline)
            }
            ModelSource::Client {
                client,
                model,
                provider,
                ..
            } => {
                if layer.max_usd.is_some() && flags.model.replay.is_none() {
                    check_price(&prices, provider, &model)?;
                }
                layer.provider = Some(provider.to_string());
                layer.model = Some(model);
                Ok(Self::Model { client, provider })
            }
        }
    }

    /// Records the spending in the experiment's directory, so that caps hold over all processes of the run.
    pub fn keep_ledger(&self, experiment: &Experiment) -> Result<(), Failure> {
        match self {
            Self::Offline => Ok(()),
            Self::Model { client, .. } => {
                let file = LedgerFile::new(experiment.path().join(LEDGER));
                client.keep_ledger(&file).map_err(Failure::usage)
            }
        }
    }

    /// Returns the mind, and the protocol of its requests.
    pub fn mind(&self, settings: &Settings) -> Result<(Box<dyn Mind>, String), Failure> {
        match self {
            Self::Offline => {
                let spec = settings.mind.as_deref().unwrap_or(LocalMind::DEFAULT);
                let mind = local_mind(spec, &settings.prompt()).map_err(Failure::usage)?;
                Ok((Box::new(mind), "local".to_owned()))
            }
            Self::Model { client, provider } => {
                let name = provider.to_string();
                Ok((Box::new(LlmMind::new(client.clone(), name.clone())), name))
            }
        }
    }
}

/// Returns whether a run with these settings would be offline because there is neither a key nor a choice of a
/// provider.
pub fn asks_no_model(
    layer: &Layer,
    flags: &ChangeableFlags,
    environment: &Environment,
) -> Result<bool, Failure> {
    Ok(model_flags(layer, flags)?.defaults_to_offline(&DEFAULTS, environment))
}

/// Returns the flags of the client after all layers of settings.
fn model_flags(layer: &Layer, flags: &ChangeableFlags) -> Result<ModelFlags, Failure> {
    let provider = match &layer.provider {
        // The settings' own check has seen that it is one of them.
        Some(name) => ProviderName::from_str(name, false).ok(),
        None => layer.mind.is_some().then_some(ProviderName::Offline),
    };
    if let (Some(mind), Some(name)) = (&layer.mind, provider)
        && name != ProviderName::Offline
    {
        return Err(Failure::usage(Error::MindAndModel {
            mind: mind.clone(),
            provider: name,
        }));
    }
    if provider == Some(ProviderName::Offline) && flags.model.model.is_some() {
        return Err(Failure::usage(Error::ModelOffline));
    }
    let cap = |usd: f64| Usd::from_dollars(usd).unwrap_or(Usd(i64::MAX));
    Ok(ModelFlags {
        provider,
        base_url: layer.api_base_url.clone(),
        base_url_file: None,
        model: layer
            .model
            .clone()
            .filter(|_| provider != Some(ProviderName::Offline)),
        record: flags.model.record.clone(),
        replay: flags.model.replay.clone(),
        max_usd: layer.max_usd.map(cap),
        max_tokens: layer.max_tokens,
        concurrency: layer.concurrency.and_then(std::num::NonZeroUsize::new),
    })
}
