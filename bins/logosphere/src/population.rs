//! The minds of a run: those of a model, or scripted minds.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bin_support::Failure;
use bin_support::environment::Environment;
use bin_support::model::{
    ModelDefaults, ModelFlags, ModelSource, OpenOptions, ProviderName, check_price, price_table,
};
use clap::ValueEnum as _;
use llm_client::{Client, LedgerFile, RetryPolicy, Timeouts, Timer, Usd};
use logosphere_core::config::{Layer, OnError};
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
        let (retry, timeouts) = limits(layer);
        let options = OpenOptions::new(&DEFAULTS, seed, clock).settings(|client| {
            client
                .models(prices.clone())
                .retry(retry)
                .timeouts(timeouts)
        });
        let opened = model.open(options, environment, |line| notices.push(line.to_owned()))?;
        match opened {
            ModelSource::Offline => {
                // A cap in dollars holds trivially; tokens are only estimates.
                if layer.max_tokens.is_some() {
                    let flag = "--max-tokens";
                    return Err(Failure::usage(bin_support::Error::OfflineWith { flag }));
                }
                // A scripted mind that fails does so however late it is called.
                if layer.on_error == Some(OnError::Wait) {
                    let flag = "--on-error wait";
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

/// The most that a client adds to a wait that a server asks for.
const SPREAD: Duration = Duration::from_secs(2);

/// Returns the retries and the timeouts of every call. The limit of the whole call grows with those of its attempts and
/// waits, so that it never ends an attempt that the settings allow.
fn limits(layer: &Layer) -> (RetryPolicy, Timeouts) {
    let defaults = Settings::default();
    let mut retry = RetryPolicy::default()
        // Requests of a run differ in their messages and in nothing else.
        .send_count(false)
        .insist(true);
    retry.retries = (layer.retries.or(defaults.retries)).unwrap_or(retry.retries);
    if let Some(longest) = layer.retry_wait.or(defaults.retry_wait) {
        let floor = retry.floor.min(longest);
        retry = retry.ceiling(longest).longest_wish(longest).floor(floor);
    }
    let mut timeouts = Timeouts::default().attempt(layer.call_timeout);
    if let Some(limit) = layer.first_byte_timeout {
        let of_call = layer.call_timeout.unwrap_or(timeouts.total);
        let limit = if limit.is_zero() { of_call } else { limit };
        timeouts = timeouts.headers(Some(limit)).first_byte(limit);
    }
    let attempts = layer.call_timeout.unwrap_or_default() * (retry.retries + 1);
    let waits = (retry.longest_wish + SPREAD) * retry.retries;
    timeouts.total += attempts + waits;
    (retry, timeouts)
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_limits_of_calls_are_those_of_the_client_unless_a_setting_gives_others() {
        let (retry, timeouts) = limits(&Layer::default());
        let client = RetryPolicy::default();
        assert_eq!(
            (retry.retries, retry.longest_wish),
            (client.retries, client.longest_wish)
        );
        assert_eq!((retry.base, retry.floor), (client.base, client.floor));
        assert!(!retry.send_count);
        let of_client = Timeouts::default();
        // The longest waits come on top of the time for the attempts.
        assert_eq!(timeouts.total, of_client.total + 2 * 62 * SECOND);
        assert_eq!(timeouts, of_client.total(timeouts.total));
    }

    #[test]
    fn every_attempt_that_is_allowed_has_its_time_and_its_wait() {
        let layer = Layer::default().with(|layer| {
            layer.call_timeout = Some(30 * SECOND);
            layer.first_byte_timeout = Some(Duration::ZERO);
            layer.retries = Some(20);
            layer.retry_wait = Some(3600 * SECOND);
        });
        let (retry, timeouts) = limits(&layer);
        assert_eq!(retry.retries, 20);
        assert_eq!([retry.ceiling, retry.longest_wish], [3600 * SECOND; 2]);
        assert_eq!(timeouts.attempt, Some(30 * SECOND));
        assert_eq!(
            (timeouts.headers, timeouts.first_byte),
            (Some(30 * SECOND), 30 * SECOND)
        );
        let allowed = 21 * 30 * SECOND + 20 * 3602 * SECOND;
        assert_eq!(timeouts.total, Timeouts::default().total + allowed);
        let none = Layer::default().with(|layer| {
            layer.retry_wait = Some(Duration::ZERO);
            layer.first_byte_timeout = Some(7 * SECOND);
        });
        let (retry, timeouts) = limits(&none);
        assert_eq!(
            [retry.ceiling, retry.longest_wish, retry.floor],
            [Duration::ZERO; 3]
        );
        assert_eq!(
            (timeouts.headers, timeouts.first_byte),
            (Some(7 * SECOND), 7 * SECOND)
        );
        assert_eq!(timeouts.attempt, None);
    }
}
