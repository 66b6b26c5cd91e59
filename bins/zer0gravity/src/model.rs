//! The model of a command: one that `llm-client` reaches, or the offline rules.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bin_support::model::{
    ModelDefaults, ModelFlags, ModelSource, OpenOptions, ProviderName, check_price, price_table,
};
use bin_support::{Failure, Session};
use llm_client::batch::{BatchCalls, BatchOptions};
use llm_client::models::Model;
use llm_client::{
    AnthropicVersion, Client, CountPolicy, LedgerFile, ModelTable, SystemClock, Timer,
};
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::model::ModelLabel;
use zer0gravity_engine::run::RunDirectory;
use zer0gravity_engine::run::pipeline::PriceList;
use zer0gravity_engine::{LlmModelClient, ModelClient, OfflineModel, Tokenizers};

use crate::error::{self, Error};
use crate::flags::BatchFlag;
use crate::programs::ProgramClient;

/// Requests under way at the same time, unless it is said.
pub const CONCURRENCY: usize = 8;
const MOST: usize = 1000;

/// The flag that names the models whose prices are those of an encoding.
pub const ENCODER: &str = "--encoder-model";

/// The model that is asked where no flag names one.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-5-20250929";

const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "zer0gravity",
    provider: ProviderName::Anthropic,
    model: DEFAULT_MODEL,
};

/// The model client of a command, with its settings.
pub struct ModelChoice {
    pub model_client: Arc<dyn ModelClient>,
    /// The client of `llm-client`; `None` where no model is asked.
    client: Option<Client>,
    /// The model's id, or `offline`.
    pub model: String,
    /// Ends the run: no further call is made, and programs end.
    pub stop: CancellationToken,
    /// The clock of the command.
    pub clock: Arc<dyn Timer>,
    pub concurrency: usize,
    /// The table of prices that a flag names.
    pub prices_file: Option<PathBuf>,
    /// Set if calls go in batches.
    batches: Option<BatchFlag>,
    /// The state of the batches, in words, when the run ended.
    pub progress: RefCell<Option<String>>,
    pub counter: Arc<Tokenizers>,
    /// Whether replies come from a cassette.
    pub replay: bool,
    /// The prices of a prompt, if they are known.
    pub prices: Vec<PriceList>,
}

impl ModelChoice {
    /// Lets the client run the programs of a rubric.
    pub fn allow_programs(&mut self) {
        self.model_client = Arc::new(ProgramClient {
            models: self.model_client.clone(),
            stop: self.stop.clone(),
        });
    }

    /// Lets the calls to `models` go in batches, if `flag` says so or the run in `folder` was begun so.
    pub fn use_batches<'a>(
        &mut self,
        flag: BatchFlag,
        folder: Option<&Path>,
        models: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Failure> {
        let is_begun = folder.is_some_and(|folder| RunDirectory::spool_in(folder).exists());
        let reason = match flag.batch {
            true => "--batch",
            false if is_begun => "this run has a batch.jsonl, so its calls go in batches",
            false => return Ok(()),
        };
        let Some(client) = &self.client else {
            return Err(Failure::usage(Error::BatchOffline { reason }));
        };
        for model in models {
            let checked = client.check_batch(model);
            checked.map_err(|source| Failure::usage(Error::Batch { reason, source }))?;
        }
        self.batches = Some(flag);
        Ok(())
    }

    /// Whether calls go in batches.
    pub fn is_batched(&self) -> bool {
        self.batches.is_some()
    }

    /// Keeps what is spent in the directory, so that a cap holds over all processes of a run, and the batches of a run that
    /// has some, from which the calls are then answered.
    pub fn keep_in(&self, directory: &RunDirectory) -> Result<Option<BatchCalls>, Failure> {
        match &self.client {
            Some(client) if !self.replay => {
                let ledger = directory.ledger().map_err(error::directory)?;
                let ledger = LedgerFile::new(ledger);
                client.keep_ledger(&ledger).map_err(Failure::usage)?;
                let spool = RunDirectory::spool_in(directory.path());
                let open = |flag: BatchFlag| {
                    let options = BatchOptions::new(client.clone()).resubmit(flag.resubmit);
                    BatchCalls::open(&spool, options).map_err(Failure::usage)
                };
                self.batches.map(open).transpose()
            }
            _ => Ok(None),
        }
    }
}

/// Refuses to record calls into one of `files`: a cassette only grows, and so would they.
pub fn ensure_not_input(
    flags: &ModelFlags,
    files: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), Failure> {
    flags.record.as_ref().map_or(Ok(()), |record| {
        bin_support::output::ensure_not_input(record, files)
    })
}

/// A panel has different members.
pub fn panel(judges: &[String]) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    match judges.iter().find(|model| !seen.insert(*model)) {
        Some(model) => Err(Failure::usage(Error::JudgeTwice {
            model: model.clone(),
        })),
        None => Ok(()),
    }
}

/// Makes ready whom the flags name; nothing is sent. `others` are the models of further roles, each with its flag. `sampled` are the
/// models that are asked with a temperature, which only an earlier version of the Messages API takes.
pub fn open(
    flags: &ModelFlags,
    prices_file: Option<&Path>,
    others: &[(&'static str, &str)],
    sampled: &[(&str, f64)],
    seed: u64,
    session: &Session,
) -> Result<ModelChoice, Failure> {
    let concurrency = flags.calls_at_once().map_or(CONCURRENCY, NonZeroUsize::get);
    if concurrency > MOST {
        return Err(Failure::usage(Error::OutOfRange {
            flag: "--concurrency",
            found: concurrency,
        }));
    }
    let flags = ModelFlags {
        concurrency: NonZeroUsize::new(concurrency),
        ..flags.clone()
    };
    let table = price_table(prices_file)?;
    let settings = {
        let table = table.clone();
        // An estimate of the client would be of another source than ours.
        |client: llm_client::ClientBuilder| client.models(table).counts(CountPolicy::ExactOnly)
    };
    let counter = Arc::new(Tokenizers::default());
    let clock = flags.clock()?;
    let older = |(model, _): &(&str, f64)| ((*model).to_owned(), AnthropicVersion::V2023_06_01);
    let options = OpenOptions::new(&DEFAULTS, seed, clock.clone())
        .settings(settings)
        .versions(sampled.iter().map(older).collect());
    let opened = flags.open(options, &session.environment, |line| session.warn(line))?;
    match opened {
        ModelSource::Offline => {
            if let Some((flag, _)) = others
                .iter()
                .find(|(_, model)| *model != OfflineModel::NAME)
            {
                return Err(Failure::usage(Error::OfflineRole { flag }));
            }
            if !sampled.is_empty() {
                return Err(Failure::usage(Error::OfflineTemperature));
            }
            Ok(ModelChoice {
                concurrency,
                ..offline()
            })
        }
        ModelSource::Client {
            client,
            model,
            provider,
            host,
            ..
        } => {
            if let Some((flag, _)) = others
                .iter()
                .find(|(_, model)| *model == OfflineModel::NAME)
            {
                return Err(Failure::usage(Error::OnlineRole { flag }));
            }
            for (model, temperature) in sampled {
                LlmModelClient::ensure_takes(&client, model, *temperature).map_err(|error| {
                    let detail = error.message;
                    Failure::usage(Error::TemperatureRefused { detail })
                })?;
            }
            if flags.max_usd.is_some() && flags.replay.is_none() {
                let others = others.iter().map(|(_, model)| *model);
                for model in std::iter::once(model.as_str()).chain(others) {
                    check_price(&table, provider, model)?;
                }
            }
            let named = others.iter().filter(|(flag, _)| *flag == ENCODER);
            let named = named.map(|(_, model)| *model);
            let encoders: BTreeSet<_> = std::iter::once(model.as_str()).chain(named).collect();
            let prices = encoders.into_iter();
            let prices = prices.filter_map(|model| price_list(&table, provider, model));
            let prices = prices.collect();
            let label = ModelLabel::new(provider.to_string(), host);
            Ok(ModelChoice {
                model_client: Arc::new(LlmModelClient::new(client.clone(), label)),
                stop: CancellationToken::new(),
                client: Some(client),
                model,
                clock,
                concurrency,
                prices_file: prices_file.map(Path::to_owned),
                batches: None,
                progress: RefCell::default(),
                counter,
                replay: flags.replay.is_some(),
                prices,
            })
        }
    }
}

/// The program in place of a model.
pub fn offline() -> ModelChoice {
    ModelChoice {
        model_client: Arc::new(OfflineModel),
        stop: CancellationToken::new(),
        client: None,
        model: OfflineModel::NAME.to_owned(),
        clock: Arc::new(SystemClock::new()),
        concurrency: CONCURRENCY,
        prices_file: None,
        batches: None,
        progress: RefCell::default(),
        counter: Arc::new(Tokenizers::default()),
        replay: false,
        prices: Vec::new(),
    }
}

/// The row of a model in a table of prices, with the prices of batches if `is_batched`.
pub fn priced(table: &ModelTable, provider: &str, model: &str, is_batched: bool) -> Option<Model> {
    let row = table.find(provider, model)?;
    if is_batched {
        row.in_batches()
    } else {
        Some(row.clone())
    }
}

/// The price of a prompt of `model`, with its source.
fn price_list(table: &ModelTable, provider: ProviderName, model: &str) -> Option<PriceList> {
    let found = table.find(provider.as_str(), model)?;
    let name = format!("{provider} {model}, prices of {}", table.as_of());
    let list = PriceList::new(name, found.price(0)?.input);
    Some(list.model(Some(model.to_owned())))
}
