//! The minds of a run: those of a model, or scripted minds.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bin_support::Failure;
use bin_support::environment::Environment;
use bin_support::model::{
    ModelDefaults, ModelFlags, ModelSource, ModelWords, OpenOptions, ProviderName, check_price,
    price_table,
};
use clap::ValueEnum as _;
use llm_client::{Client, LedgerFile, RetryPolicy, Timeouts, Timer, Usd};
use logosphere_core::config::{Layer, MindEntry, ModelEntry, OnError};
use logosphere_core::experiment::check_change;
use logosphere_core::{LlmMind, LocalMind, Mind, MixedMinds, Settings, local_mind};

use crate::error::Error;
use crate::flags::{ChangeableFlags, MindsAt, SettingFlags};
use crate::setup::failure;

/// The file of a run's spending in its directory.
pub const LEDGER: &str = "spend.jsonl";

pub const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "logosphere",
    provider: ProviderName::Openrouter,
    model: "anthropic/claude-3.5-sonnet",
};

/// The clients of a run: their clock, the account that they spend from if it is not their own, and the words of their messages.
#[derive(Clone)]
pub struct ClientContext {
    pub clock: Arc<dyn Timer>,
    pub account: Option<Client>,
    pub words: ModelWords,
}

impl From<Arc<dyn Timer>> for ClientContext {
    fn from(clock: Arc<dyn Timer>) -> Self {
        Self {
            clock,
            account: None,
            words: ModelWords::default(),
        }
    }
}

/// The minds of a run, before all its settings are known.
pub enum Population {
    Offline,
    /// The client and the provider of each entry of the minds; of all minds in a run with one kind.
    Models(Vec<(Client, ProviderName)>),
}

impl Population {
    /// Chooses the minds by the settings and the environment, and records the choice in the settings. Nothing is sent.
    ///
    /// `file` is the file with the settings that are not flags. The lines that the user must read go to `notices`.
    pub fn choose(
        layer: &mut Layer,
        file: &Path,
        flags: &ChangeableFlags,
        context: &ClientContext,
        environment: &Environment,
        notices: &mut Vec<String>,
    ) -> Result<Self, Failure> {
        let mut clients: Vec<(Client, ProviderName)> = Vec::new();
        let mut servers: Vec<(ProviderName, Option<String>)> = Vec::new();
        let prices = price_table(flags.prices.as_deref())?;
        let entries = entries(layer, flags)?;
        for (at, mut model) in entries.into_iter().enumerate() {
            if flags.model.base_url.is_none() && model.base_url.is_some() {
                model.base_url_file = Some(file.to_owned());
            }
            let provider = model.provider.unwrap_or(DEFAULTS.provider);
            let server = (provider, model.base_url.clone());
            let same = servers.iter().position(|known| *known == server);
            let (client, name) = if let (Some(same), Some(name)) = (same, &model.model) {
                (clients[same].0.clone(), name.clone())
            } else {
                if at > 0 && model.record.is_some() {
                    return Err(Failure::usage(Error::RecordServers));
                }
                let first = clients.first().map(|(client, _)| client);
                let account = first.or(context.account.as_ref());
                let (retry, timeouts) = limits(layer);
                let (seed, clock) = (layer.seed.unwrap_or(0), context.clock.clone());
                let options = OpenOptions::new(&DEFAULTS, seed, clock);
                let options = options.words(context.words.clone()).settings(|client| {
                    let client = client.models(prices.clone());
                    let client = client.retry(retry).timeouts(timeouts);
                    match account {
                        Some(account) => client.account_of(account),
                        None => client,
                    }
                });
                let warn = |line: &str| notices.push(line.to_owned());
                match model.open(options, environment, warn)? {
                    ModelSource::Offline => return Self::offline(layer, notices),
                    ModelSource::Client { client, model, .. } => (client, model),
                }
            };
            if layer.max_usd.is_some() && flags.model.replay.is_none() {
                check_price(&prices, provider, &name)?;
            }
            if at == 0 {
                layer.provider = Some(provider.to_string());
                layer.model = Some(name);
            }
            servers.push(server);
            clients.push((client, provider));
        }
        Ok(Self::Models(clients))
    }

    /// Records that the minds are scripted.
    fn offline(layer: &mut Layer, notices: &mut Vec<String>) -> Result<Self, Failure> {
        let refuse = |flag| Err(Failure::usage(bin_support::Error::OfflineWith { flag }));
        // A cap in dollars holds trivially; tokens are only estimates.
        if layer.max_tokens.is_some() {
            return refuse("--max-tokens");
        }
        // A scripted mind that fails does so however late it is called.
        if layer.on_error == Some(OnError::Wait) {
            return refuse("--on-error wait");
        }
        if layer.max_usd.is_some() {
            let notice = "--max-usd: no model is called offline, and there is no cost";
            notices.push(notice.to_owned());
        }
        layer.provider = Some(ProviderName::Offline.to_string());
        let first = layer.minds.iter().flatten().next();
        let name = match first {
            Some(mind) => mind.name(),
            None => layer
                .mind
                .get_or_insert_with(|| LocalMind::DEFAULT.to_owned()),
        };
        layer.model = Some(name.to_owned());
        Ok(Self::Offline)
    }

    /// Records the spending in this file, so that caps hold over all processes of the run.
    pub fn keep_ledger(&self, path: &Path) -> Result<(), Failure> {
        match self.account() {
            None => Ok(()),
            Some(client) => {
                let folder = path.parent().unwrap_or(path);
                check_change(folder, path).map_err(failure)?;
                let file = LedgerFile::new(path);
                client.keep_ledger(&file).map_err(Failure::usage)
            }
        }
    }

    /// Returns a client with the account that all clients spend from; `None` offline.
    pub fn account(&self) -> Option<&Client> {
        match self {
            Self::Offline => None,
            Self::Models(clients) => clients.first().map(|(client, _)| client),
        }
    }

    /// Returns the mind, and the protocol of its requests.
    pub fn mind(&self, settings: &Settings) -> Result<(Box<dyn Mind>, String), Failure> {
        let prompt = settings.prompt();
        let scripted = |spec: &str| -> Result<Box<dyn Mind>, Failure> {
            let mind = local_mind(spec, &prompt).map_err(Failure::usage)?;
            Ok(Box::new(mind))
        };
        let (minds, dialect): (Vec<Box<dyn Mind>>, _) = match self {
            Self::Offline => {
                let names = settings.mind_names().into_iter().map(scripted);
                (names.collect::<Result<_, _>>()?, "local".to_owned())
            }
            Self::Models(clients) => {
                let minds = clients.iter().map(|(client, provider)| -> Box<dyn Mind> {
                    Box::new(LlmMind::new(client.clone(), provider.to_string()))
                });
                let first = clients.first().map(|(_, provider)| provider.to_string());
                (minds.collect(), first.unwrap_or_default())
            }
        };
        Ok((Box::new(MixedMinds::new(minds)), dialect))
    }
}

/// Puts the minds of the flags at their positions.
pub fn place_minds(
    layer: &mut Layer,
    flags: &SettingFlags,
    environment: &Environment,
) -> Result<(), Failure> {
    let placed = &flags.fixed.minds_at;
    if let (Some(model), Some(_), []) = (&flags.changeable.model.model, &layer.minds, &placed[..]) {
        let model = model.clone();
        return Err(Failure::usage(Error::ModelAndMinds { model }));
    }
    if placed.is_empty() {
        return Ok(());
    }
    let offline = layer.is_scripted()
        || layer.provider.as_deref() == Some(ProviderName::Offline.as_str())
        || asks_no_model(layer, &flags.changeable, environment)?;
    let entry = |name: &str| {
        if offline {
            MindEntry::Scripted(name.to_owned())
        } else {
            MindEntry::Model(ModelEntry::new(name))
        }
    };
    let (common, default) = if offline {
        (layer.mind.take(), LocalMind::DEFAULT)
    } else {
        (layer.model.clone(), DEFAULTS.model)
    };
    let provider = layer.provider.as_deref();
    if common.is_none()
        && !offline
        && provider.is_some_and(|name| name != DEFAULTS.provider.as_str())
    {
        return Err(Failure::usage(Error::MindsAtWithoutModel));
    }
    let common = common.unwrap_or_else(|| default.to_owned());
    let known = layer.minds.take().unwrap_or_else(|| vec![entry(&common)]);
    let count = layer.n_minds.unwrap_or(Settings::default().n_minds);
    let mut minds: Vec<_> = known.into_iter().cycle().take(count as usize).collect();
    for MindsAt { positions, mind } in placed {
        for &position in positions {
            let place = minds.get_mut(position as usize).ok_or_else(|| {
                let minds = count;
                Failure::usage(Error::NoPosition { position, minds })
            })?;
            *place = entry(mind);
        }
    }
    layer.minds = Some(minds);
    Ok(())
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

/// Returns the flags of the client of each entry of the minds; of one in a run with one kind.
fn entries(layer: &Layer, flags: &ChangeableFlags) -> Result<Vec<ModelFlags>, Failure> {
    let common = model_flags(layer, flags)?;
    let models = layer.minds.iter().flatten().filter_map(|mind| match mind {
        MindEntry::Scripted(_) => None,
        MindEntry::Model(model) => Some(model),
    });
    let of_model = |model: &ModelEntry| {
        let mut flags = common.clone();
        flags.model = Some(model.model.clone());
        if let Some(name) = &model.provider {
            let provider = ProviderName::from_str(name, false).ok();
            if provider != flags.provider {
                flags.base_url = None;
            }
            flags.provider = provider;
        }
        flags.base_url = model.api_base_url.clone().or(flags.base_url);
        flags
    };
    let of_models: Vec<_> = models.map(of_model).collect();
    Ok(if of_models.is_empty() {
        vec![common]
    } else {
        of_models
    })
}

/// Returns the flags of the client after all layers of settings.
fn model_flags(layer: &Layer, flags: &ChangeableFlags) -> Result<ModelFlags, Failure> {
    let provider = match &layer.provider {
        // The settings' own check has seen that it is one of them.
        Some(name) => ProviderName::from_str(name, false).ok(),
        None => layer.is_scripted().then_some(ProviderName::Offline),
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
