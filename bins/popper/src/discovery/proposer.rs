//! The choice of the proposer, from flags, the run's row, and the keys for a model.

use std::sync::Arc;

use bin_support::model::{
    ModelDefaults, ModelSource, OpenOptions, ProviderName, check_price, price_table,
};
use bin_support::{Failure, Session};
use llm_client::{Client, ClientBuilder, Timer};
use popper_discovery::llm::{LlmOptions, LlmProposer};
use popper_discovery::{EnumerativeProposer, Proposer};

use super::settings::Settings;
use crate::error::Error;
use crate::flags::{ProposerName, RunOptions};

/// The model that is called if neither flags nor the run name one.
const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "popper",
    provider: ProviderName::Anthropic,
    model: LlmProposer::DEFAULT_MODEL,
};

/// The proposer of a run.
pub struct Chosen {
    pub proposer: Box<dyn Proposer>,
    /// The client of a proposer that calls a model.
    pub client: Option<Client>,
    /// The clock of the run.
    pub clock: Arc<dyn Timer>,
}

/// Chooses the proposer for a run; `stored` is the one that the run has had so far.
pub fn choose(
    work: &RunOptions,
    stored: Option<&str>,
    settings: &Settings,
    session: &Session,
) -> Result<Chosen, Failure> {
    let seed = settings.harness.config().seed;
    let clock = work.model.clock()?;
    let enumerative = Chosen {
        proposer: Box::new(EnumerativeProposer::new(seed)),
        client: None,
        clock: clock.clone(),
    };
    let known = stored.filter(|id| *id != EnumerativeProposer::ID);
    let must_ask = match (work.proposer, stored) {
        (Some(ProposerName::Enumerative), _) => {
            return match named(work) {
                Some(flag) => Err(Failure::usage(Error::Meaningless { flag })),
                None => Ok(enumerative),
            };
        }
        (None, None) => false,
        (None, Some(_)) if known.is_none() && named(work).is_none() => {
            return Ok(enumerative);
        }
        (Some(ProposerName::Llm), _) | (None, Some(_)) => true,
    };
    let mut flags = work.model.clone();
    if must_ask {
        if flags.provider == Some(ProviderName::Offline) {
            return Err(Failure::usage(Error::OfflineModel));
        }
        // Said aloud, the default is an order: a missing key is then an error and no reason to work without a model.
        flags.provider = flags.provider.or(Some(DEFAULTS.provider));
        flags.model = flags.model.or_else(|| known.map(str::to_owned));
    }
    let prices = price_table(work.prices.as_deref())?;
    let options = OpenOptions::new(&DEFAULTS, seed, clock).settings({
        let prices = prices.clone();
        |client: ClientBuilder| client.models(prices)
    });
    match flags.open(options, &session.environment, |line| session.warn(line))? {
        ModelSource::Offline if work.half_price => {
            let flag = "--half-price";
            Err(Failure::usage(Error::Meaningless { flag }))
        }
        ModelSource::Offline => Ok(enumerative),
        ModelSource::Client {
            client,
            model,
            provider,
            ..
        } => {
            if flags.max_usd.is_some() && flags.replay.is_none() {
                check_price(&prices, provider, &model)?;
            }
            if work.half_price {
                client.check_batch(&model).map_err(Failure::usage)?;
            }
            let options = LlmOptions::of(&settings.discovery, seed);
            let proposer = LlmProposer::new(client.clone(), model, options);
            Ok(Chosen {
                proposer: Box::new(proposer),
                client: Some(client),
                ..enumerative
            })
        }
    }
}

/// The first flag that names a model or a server. `--replay` also gives the time of a run, so it may stand alone.
fn named(work: &RunOptions) -> Option<&'static str> {
    let flags = &work.model;
    let asks = flags
        .provider
        .is_some_and(|name| name != ProviderName::Offline);
    let given = [
        ("--provider", asks),
        ("--base-url", flags.base_url.is_some()),
        ("--model", flags.model.is_some()),
        ("--record", flags.record.is_some()),
        ("--half-price", work.half_price),
    ];
    let mut given = given.into_iter().filter(|(_, given)| *given);
    given.next().map(|(flag, _)| flag)
}
