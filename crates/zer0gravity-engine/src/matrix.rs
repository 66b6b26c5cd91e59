//! All experiments of a plan, side by side within one limit, their results in plan order.

use std::collections::HashMap;

use futures_util::StreamExt as _;
use futures_util::stream;
use tokio_util::sync::CancellationToken;

use crate::dataset::Triple;
use crate::lint::lint;
use crate::pipeline::{CallTotals, Context, Pricing, run_experiment};
use crate::plan::{Config, Encoding, Item, Plan, PlannedCase};
use crate::report::{Report, ReportedEncoding};
use crate::result::timestamp;
use crate::store::{StoreError, StoredModel};
use crate::{ExperimentResult, MAX_LEARNABILITY, TokenCounter, TokenSource, round_half_up};

/// What happens in a run, as it happens.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An experiment has ended, well or not.
    Ended {
        /// How many have by now.
        done: usize,
        /// Of how many.
        total: usize,
        /// What came of it.
        result: &'a ExperimentResult,
    },
}

/// Why a run gave no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A call could not be kept. What was kept before is, and the run can be resumed.
    #[error("a call cannot be kept")]
    Store(#[from] StoreError),
}

/// Runs every experiment of `plan`. What the store of `ctx` holds is not asked again.
///
/// After `cancel` nothing more is sent; calls under way are waited for and kept. A dropped future loses no kept call.
///
/// # Errors
/// [`RunError`]: the store takes no more calls. An experiment that fails is a result, not an error.
pub async fn run_matrix(
    ctx: &Context<'_>,
    plan: &Plan,
    cancel: CancellationToken,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Report, RunError> {
    let created_at = timestamp(ctx.clock.now());
    let Done {
        results,
        pricing,
        spent,
    } = priced_results(ctx, plan, cancel, on_event).await?;
    let encodings = plan.encodings.iter().map(|encoding| {
        let counted = pricing.rules_tokens(&encoding.sha256);
        let (tokens, source) = counted.unwrap_or_else(|| {
            let local = TokenCounter::of(&plan.config.models.encoder);
            let tokens = local.message_tokens(&encoding.rules, ctx.counter);
            (tokens, TokenSource::Local)
        });
        ReportedEncoding {
            id: encoding.id.clone(),
            path: encoding.path.clone(),
            sha256: encoding.sha256.clone(),
            rules_tokens: Some(tokens),
            rules_tokens_source: Some(source),
            lint: lint(&encoding.rules, ctx.counter),
        }
    });
    let mut report = Report::new(
        Some(plan.config.clone()),
        encodings.collect(),
        plan.cases.clone(),
        results,
        created_at,
        plan.config.seed,
    );
    if !report.offline {
        report.cost.spent(&spent);
    }
    Ok(report)
}

/// As [`run_matrix`] without a report: nothing is said of the rules, so the tokenizers, which take longer to load than a
/// short run takes, stay where they are.
///
/// # Errors
/// As [`run_matrix`].
pub async fn run_plan(
    ctx: &Context<'_>,
    plan: &Plan,
    cancel: CancellationToken,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<ExperimentResult>, RunError> {
    let done = priced_results(ctx, plan, cancel, on_event).await?;
    Ok(done.results)
}

/// All experiments of a plan, and what they took.
struct Done {
    results: Vec<ExperimentResult>,
    pricing: Pricing,
    spent: CallTotals,
}

async fn priced_results(
    ctx: &Context<'_>,
    plan: &Plan,
    cancel: CancellationToken,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Done, RunError> {
    let port = StoredModel::new(ctx.port, ctx.clock, ctx.store, ctx.concurrency, cancel);
    let asking = Context {
        port: &port,
        ..*ctx
    };
    let pricing = Pricing::measure(&asking, &plan.config, &plan.encodings).await;
    let asking = Context {
        pricing: Some(&pricing),
        ..asking
    };
    let results = run_items(&asking, plan.items().collect(), on_event).await;
    Ok(Done {
        spent: port.end()?,
        results: with_measured_learnability(results, &plan.config),
        pricing,
    })
}

/// Scores texts that were encoded and decoded somewhere else, by the judges of `config`; what is given is not asked for.
/// Results come in the order of `triples`.
///
/// # Errors
/// As [`run_matrix`].
pub async fn score_triples(
    ctx: &Context<'_>,
    config: &Config,
    triples: &[Triple],
    cancel: CancellationToken,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<ExperimentResult>, RunError> {
    let mut encodings: Vec<Encoding> = Vec::new();
    let mut places = Vec::with_capacity(triples.len());
    let mut known = HashMap::new();
    for triple in triples {
        let rules = triple.encoding_system.as_deref().unwrap_or_default();
        let id = triple.encoding_id.as_str();
        let place = *known.entry((id, rules)).or_insert_with(|| {
            encodings.push(Encoding::new(id, None, rules));
            encodings.len() - 1
        });
        places.push(place);
    }
    let cases: Vec<_> = (triples.iter())
        .map(|triple| PlannedCase {
            level: None,
            case: triple.case.clone(),
        })
        .collect();
    let items = triples
        .iter()
        .zip(&cases)
        .zip(places)
        .map(|((triple, case), place)| Item {
            config,
            encoding: &encodings[place],
            case,
            trial: 1,
            decode: 1,
            given: Some(triple),
        });
    let port = StoredModel::new(ctx.port, ctx.clock, ctx.store, ctx.concurrency, cancel);
    let asking = Context {
        port: &port,
        ..*ctx
    };
    let pricing = Pricing::measure(&asking, config, &encodings).await;
    let asking = Context {
        pricing: Some(&pricing),
        ..asking
    };
    let results = run_items(&asking, items.collect(), on_event).await;
    port.end()?;
    Ok(results)
}

/// Runs experiments side by side; their results come in the order of `items`.
async fn run_items(
    ctx: &Context<'_>,
    items: Vec<Item<'_>>,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Vec<ExperimentResult> {
    let total = items.len();
    // As many experiments as calls: more would only wait for each other.
    let mut running = stream::iter(items.iter().enumerate())
        .map(|(index, item)| async move { (index, run_experiment(ctx, item).await) })
        .buffer_unordered(ctx.concurrency.max(1));
    let mut ended = Vec::with_capacity(total);
    while let Some((index, result)) = running.next().await {
        let done = ended.len() + 1;
        on_event(Event::Ended {
            done,
            total,
            result: &result,
        });
        ended.push((index, result));
    }
    ended.sort_by_key(|(index, _)| *index);
    ended.into_iter().map(|(_, result)| result).collect()
}

/// Fills in [`crate::Details::learnability_measured`]: of the decodings of one encoding, the share within 2 points of the
/// best. Failed ones have no points and do not count.
fn with_measured_learnability(
    mut results: Vec<ExperimentResult>,
    config: &Config,
) -> Vec<ExperimentResult> {
    const NEAR: f64 = 2.0;
    if config.decodes < 2 {
        return results;
    }
    for decodings in results.chunks_mut(config.decodes as usize) {
        let points: Vec<_> = (decodings.iter())
            .filter_map(|result| Some(result.scores?.semantic_preservation.0))
            .filter(|points| !points.is_nan())
            .collect();
        if points.len() < 2 {
            continue;
        }
        let best = points.iter().copied().fold(f64::MIN, f64::max);
        let near = points
            .iter()
            .filter(|points| best - **points <= NEAR)
            .count();
        let share = near as f64 / points.len() as f64;
        let measured = round_half_up(f64::from(MAX_LEARNABILITY) * share) as u8;
        for result in decodings {
            result.details.learnability_measured = Some(measured);
        }
    }
    results
}
