//! The runner: runs the experiments of a plan in parallel, within one limit, and returns their results in plan order.

use std::collections::HashMap;
use std::path::Path;

use futures_util::StreamExt as _;
use futures_util::stream;
use tokio_util::sync::CancellationToken;

use super::pipeline::{Pricing, run_experiment};
use crate::dataset::RoundTripSample;
use crate::judge::score::{MAX_LEARNABILITY, round_half_up};
use crate::model::CallTally;
use crate::model::client::now;
use crate::plan::{Config, EncodingSystem, Item, ModelPair, Plan, PlannedCase};
use crate::report::{CrossedModels, ReportedEncodingSystem, RunCost, RunReport};
use crate::result::shared::SharedParts;
use crate::result::timestamp;
use crate::rules::lint::lint;
use crate::store::{
    CallStore, MemoryStore, SampledModel, SharedStore, StoreError, StoredModel, TornLine,
};
use crate::{Context, ExperimentResult, StageStatus, TokenCounter, TokenSource};

/// An event of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RunEvent<'a> {
    /// An experiment has ended, with or without a score.
    Ended {
        /// The number of experiments that have ended.
        done: usize,
        /// The number of experiments of the run.
        total: usize,
        /// The result of the experiment.
        result: &'a ExperimentResult,
    },
    /// The last line of the calls of a run directory was incomplete and was removed before the run.
    CutOff {
        /// The file.
        path: &'a Path,
        /// The line.
        line: &'a TornLine,
    },
}

/// The reason why a run has no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A call could not be stored. Earlier calls are stored, and the run can be resumed.
    #[error("cannot store a call")]
    Store(#[from] StoreError),
}

/// The number of experiments at the same time whose calls go in batches: a larger run has several batches a phase.
const BATCHED: usize = 10_000;

/// A runner of experiments. Each call that the store does not have is made once and stored.
///
/// After the token is cancelled nothing more is sent; calls in flight are awaited and stored. A dropped future loses no stored call.
///
/// ```
/// # use zer0gravity_engine::{Context, Runner, plan::Plan, report::RunReport, store::MemoryStore};
/// # async fn example(context: Context<'_>, plan: &Plan) -> Result<RunReport, zer0gravity_engine::RunError> {
/// let runner = Runner::new(context).store(MemoryStore::default()).concurrency(4);
/// runner.run(plan, &mut |_| {}).await
/// # }
/// ```
pub struct Runner<'a> {
    pub(crate) context: Context<'a>,
    store: SharedStore,
    concurrency: usize,
    cancel: CancellationToken,
    replayed: bool,
    batched: bool,
}

impl<'a> Runner<'a> {
    /// Creates a runner that stores calls in memory and has at most 8 in flight.
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            store: SharedStore::new(MemoryStore::default()),
            concurrency: 8,
            cancel: CancellationToken::new(),
            replayed: false,
            batched: false,
        }
    }

    /// Stores calls in `store`. Calls that it has already are not made again.
    #[must_use]
    pub fn store(mut self, store: impl CallStore + 'static) -> Self {
        self.store = SharedStore::new(store);
        self
    }

    /// Limits the calls in flight to this number, at least 1.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    /// Sets the token whose cancellation ends the run: no further call is sent.
    #[must_use]
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Sets whether replies come from a recording, for the report.
    #[must_use]
    pub fn replayed(mut self, replayed: bool) -> Self {
        self.replayed = replayed;
        self
    }

    /// Sets whether the client sends calls to models in batches, each of which takes long. Then at most 10,000 experiments run at the same
    /// time, whose calls all wait together; [`Self::concurrency`] limits token counts and programs. No model is tried with its temperature
    /// before the others, since a refusal costs nothing.
    #[must_use]
    pub fn batched(mut self, batched: bool) -> Self {
        self.batched = batched;
        self
    }

    /// Runs every experiment of `plan` and reports on them.
    ///
    /// # Errors
    /// [`RunError`]: the store cannot write. A failed experiment is a result, not an error.
    pub async fn run(
        &self,
        plan: &Plan,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunReport, RunError> {
        let created_at = timestamp(now(self.context.clock));
        let (results, pricing, totals) = self.planned(plan, on_event).await?;
        let counter = self.context.counter;
        let several = !plan.config.model_pairs.is_empty();
        let encodings = plan.systems().map(|(encoding, encoder, decoder)| {
            let counted = pricing.rules_tokens(&encoding.sha256, encoder);
            let (tokens, source) = counted.unwrap_or_else(|| {
                let local = TokenCounter::of(encoder);
                let tokens = local.message_tokens(&encoding.rules, counter);
                (tokens, TokenSource::Local)
            });
            ReportedEncodingSystem {
                id: plan.config.system_id(encoding, (encoder, decoder)),
                crossed: several.then(|| CrossedModels {
                    encoding: encoding.id.clone(),
                    models: ModelPair::new(encoder, decoder),
                }),
                path: encoding.path.clone(),
                sha256: encoding.sha256.clone(),
                rules_tokens: Some(tokens),
                rules_tokens_source: Some(source),
                lint: lint(&encoding.rules, counter),
            }
        });
        let mut report = RunReport::new(
            Some(plan.config.clone()),
            encodings.collect(),
            plan.cases.clone(),
            results,
            created_at,
            plan.config.seed,
        );
        report.replayed = self.replayed;
        if !report.offline {
            report.cost.spent(&totals);
        }
        Ok(report)
    }

    /// Runs every experiment of `plan` and returns the results and their cost, without a report. The rules are not counted, so the
    /// tokenizers are not loaded for them, which would take longer than a short run.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn results(
        &self,
        plan: &Plan,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<(Vec<ExperimentResult>, RunCost), RunError> {
        let (results, _, totals) = self.planned(plan, on_event).await?;
        let mut cost = RunCost::default();
        cost.spent(&totals);
        Ok((results, cost))
    }

    /// Scores texts that another tool encoded and decoded, with the judges of `config`. Given scores and token counts are used as
    /// they are. Results are in the order of `samples`.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn score(
        &self,
        config: &Config,
        samples: &[RoundTripSample],
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Vec<ExperimentResult>, RunError> {
        let mut encodings: Vec<EncodingSystem> = Vec::new();
        let mut places = Vec::with_capacity(samples.len());
        let mut known = HashMap::new();
        for sample in samples {
            let rules = sample.encoding_system.as_deref().unwrap_or_default();
            let id = sample.encoding_id.as_str();
            let place = *known.entry((id, rules)).or_insert_with(|| {
                encodings.push(EncodingSystem::new(id, None, rules));
                encodings.len() - 1
            });
            places.push(place);
        }
        let cases: Vec<_> = (samples.iter())
            .map(|sample| PlannedCase {
                level: None,
                case: sample.case.clone(),
            })
            .collect();
        let items = (samples.iter().zip(&cases).zip(places))
            .map(|((sample, case), place)| Item {
                config,
                encoding: &encodings[place],
                encoder: &config.models.encoder,
                decoder: &config.models.decoder,
                case,
                trial: 1,
                decode: 1,
                given: Some(sample),
            })
            .collect();
        let (results, ..) = self.items(config, &encodings, items, on_event).await?;
        Ok(results)
    }

    async fn planned(
        &self,
        plan: &Plan,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<(Vec<ExperimentResult>, Pricing, CallTally), RunError> {
        let (config, items) = (&plan.config, plan.items().collect());
        let (results, pricing, totals) =
            (self.items(config, &plan.encodings, items, on_event)).await?;
        Ok((with_measured_learnability(results, config), pricing, totals))
    }

    /// Runs experiments in parallel. Returns their results in the order of `items`, the counts for costs, and the tally of all calls.
    async fn items(
        &self,
        config: &Config,
        encodings: &[EncodingSystem],
        items: Vec<Item<'_>>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<(Vec<ExperimentResult>, Pricing, CallTally), RunError> {
        let (context, concurrency) = (self.context, self.concurrency);
        let cancel = self.cancel.clone();
        let model = StoredModel::new(
            context.client,
            context.clock,
            &self.store,
            concurrency,
            cancel,
        )
        .batched(self.batched);
        let asking = Context {
            client: &model,
            ..context
        };
        let pricing = Pricing::measure(&asking, config, encodings).await;
        let asking = Context {
            pricing: Some(&pricing),
            ..asking
        };
        let (asking, total) = (&asking, items.len());
        let mut ended = Vec::with_capacity(total);
        let mut parts = SharedParts::default();
        {
            let mut end = |index: usize, mut result: ExperimentResult| {
                parts.share(&mut result);
                let done = ended.len() + 1;
                on_event(RunEvent::Ended {
                    done,
                    total,
                    result: &result,
                });
                ended.push((index, result));
            };
            let mut waiting: Vec<_> = items.iter().enumerate().collect();
            // A provider that refuses a temperature ends the run, so until every model has answered to its own, one experiment at a time
            // spends; at most as many as would run at once.
            // More experiments than calls would only wait.
            let (tries, at_once) = if self.batched {
                (0, BATCHED)
            } else {
                (concurrency, concurrency)
            };
            for _ in 0..tries {
                let is_new = |item: &Item<'_>| sampled(item).any(|one| !model.has_answered(&one));
                let Some(place) = waiting.iter().position(|(_, item)| is_new(item)) else {
                    break;
                };
                let (index, item) = waiting.remove(place);
                let result = run_experiment(asking, item).await;
                let is_failing = result.outcome.status == StageStatus::ApiError;
                end(index, result);
                if is_failing {
                    break;
                }
            }
            let run = |(index, item)| async move { (index, run_experiment(asking, item).await) };
            let mut running = stream::iter(waiting).map(run).buffer_unordered(at_once);
            while let Some((index, result)) = running.next().await {
                end(index, result);
            }
        }
        let totals = model.end()?;
        ended.sort_by_key(|(index, _)| *index);
        let results = ended.into_iter().map(|(_, result)| result).collect();
        Ok((results, pricing, totals))
    }
}

/// The models that an experiment asks with a temperature, each with it.
fn sampled<'a>(item: &'a Item<'_>) -> impl Iterator<Item = SampledModel> + 'a {
    let config = item.config;
    let of = |models: Vec<&str>, temperature: Option<f64>| {
        let models: Vec<String> = models.into_iter().map(str::to_owned).collect();
        let sampled = move |model: String| Some((model, temperature?.to_bits()));
        models.into_iter().filter_map(sampled)
    };
    let judges = config.models.judges.iter().map(String::as_str).collect();
    of(vec![item.encoder, item.decoder], config.temperature)
        .chain(of(judges, config.judge_temperature))
}

/// Sets [`crate::result::Details::learnability_measured`] from the share of an encoding's decodings that are within 2 points of the
/// best one. Failed decodings do not count.
fn with_measured_learnability(
    mut results: Vec<ExperimentResult>,
    config: &Config,
) -> Vec<ExperimentResult> {
    const NEAR: u8 = 2;
    if config.decodes < 2 {
        return results;
    }
    for decodings in results.chunks_mut(config.decodes as usize) {
        let points: Vec<_> = (decodings.iter())
            .filter_map(|result| Some(result.scores?.semantic_preservation))
            .collect();
        let Some(best) = points.iter().max().filter(|_| points.len() > 1) else {
            continue;
        };
        let near = points
            .iter()
            .filter(|points| *best - **points <= NEAR)
            .count();
        let share = near as f64 / points.len() as f64;
        let measured = round_half_up(f64::from(MAX_LEARNABILITY) * share) as u8;
        for result in decodings {
            result.details.learnability_measured = Some(measured);
        }
    }
    results
}
