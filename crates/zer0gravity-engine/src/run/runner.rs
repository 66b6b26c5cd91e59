//! The runner: all experiments of a plan side by side within one limit, their results in plan order.

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
use crate::plan::{Config, EncodingSystem, Item, Plan, PlannedCase};
use crate::report::{ReportedEncodingSystem, RunReport};
use crate::result::timestamp;
use crate::rules::lint::lint;
use crate::store::{CallStore, MemoryStore, SharedStore, StoreError, StoredModel, TornLine};
use crate::{Context, ExperimentResult, TokenCounter, TokenSource};

/// An event of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RunEvent<'a> {
    /// An experiment has ended, well or not.
    Ended {
        /// The number of experiments that have ended.
        done: usize,
        /// The number of experiments of the run.
        total: usize,
        /// The result of the experiment.
        result: &'a ExperimentResult,
    },
    /// The last line of the calls of a run directory was not written to its end and was cut off, before the run.
    CutOff {
        /// The file.
        path: &'a Path,
        /// The line.
        line: &'a TornLine,
    },
}

/// The reason that a run has no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A call could not be kept. What was kept before is, and the run can be resumed.
    #[error("cannot store a call")]
    Store(#[from] StoreError),
}

/// Runs experiments: each call that the store does not hold is made once, and kept.
///
/// After the token is cancelled nothing more is sent; calls under way are waited for and kept. A dropped future loses no kept call.
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
}

impl<'a> Runner<'a> {
    /// Keeps calls in memory, with at most 8 under way.
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            store: SharedStore::new(MemoryStore::default()),
            concurrency: 8,
            cancel: CancellationToken::new(),
            replayed: false,
        }
    }

    /// Keeps calls in `store`, whose calls are not made again.
    #[must_use]
    pub fn store(mut self, store: impl CallStore + 'static) -> Self {
        self.store = SharedStore::new(store);
        self
    }

    /// Limits the calls under way to this number, and to 1 if it is 0.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    /// Sends nothing more when `token` is cancelled.
    #[must_use]
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Says in reports whether replies come from a recording.
    #[must_use]
    pub fn replayed(mut self, replayed: bool) -> Self {
        self.replayed = replayed;
        self
    }

    /// Runs every experiment of `plan` and reports on them.
    ///
    /// # Errors
    /// [`RunError`]: the store takes no more calls. An experiment that fails is a result, not an error.
    pub async fn run(
        &self,
        plan: &Plan,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunReport, RunError> {
        let created_at = timestamp(now(self.context.clock));
        let (results, pricing, totals) = self.planned(plan, on_event).await?;
        let counter = self.context.counter;
        let encodings = plan.encodings.iter().map(|encoding| {
            let counted = pricing.rules_tokens(&encoding.sha256);
            let (tokens, source) = counted.unwrap_or_else(|| {
                let local = TokenCounter::of(&plan.config.models.encoder);
                let tokens = local.message_tokens(&encoding.rules, counter);
                (tokens, TokenSource::Local)
            });
            ReportedEncodingSystem {
                id: encoding.id.clone(),
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

    /// Runs every experiment of `plan` without a report: nothing is said of the rules, so the tokenizers, which take longer to load than a
    /// short run takes, are not loaded.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn results(
        &self,
        plan: &Plan,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Vec<ExperimentResult>, RunError> {
        let (results, ..) = self.planned(plan, on_event).await?;
        Ok(results)
    }

    /// Scores texts that were encoded and decoded somewhere else, by the judges of `config`; what is given is not asked for.
    /// Results come in the order of `samples`.
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

    /// Runs experiments side by side; their results come in the order of `items`, with what costs are computed from and what all calls
    /// took.
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
        );
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
        // As many experiments as calls: more would only wait for each other.
        let mut running = stream::iter(items.iter().enumerate())
            .map(|(index, item)| async move { (index, run_experiment(asking, item).await) })
            .buffer_unordered(concurrency);
        let mut ended = Vec::with_capacity(total);
        while let Some((index, result)) = running.next().await {
            let done = ended.len() + 1;
            on_event(RunEvent::Ended {
                done,
                total,
                result: &result,
            });
            ended.push((index, result));
        }
        drop(running);
        let totals = model.end()?;
        ended.sort_by_key(|(index, _)| *index);
        let results = ended.into_iter().map(|(_, result)| result).collect();
        Ok((results, pricing, totals))
    }
}

/// Fills in [`crate::result::Details::learnability_measured`]: of the decodings of one encoding, the share within 2 points of the
/// best. Failed ones have no points and do not count.
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
