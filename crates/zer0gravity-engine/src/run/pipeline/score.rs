//! Points from the samples of judges.

use futures_util::future::join_all;

use super::roles::{JudgeCall, JudgeScore, judge, max_points};
use super::stage::{Stage, StageFailure};
use crate::FailureKind;
use crate::judge::JudgeStatus;
use crate::metrics::stats::panel_score;
use crate::model::CallTally;
use crate::model::Repeat;
use crate::plan::Item;
use crate::plan::RoleConfig;
use crate::prompts::{Role, RoleInput};
use crate::result::{JudgeRecord, JudgeSample};
use crate::{Context, StageStatus};

/// Characters of a judge's reply that a result keeps.
const MAX_KEPT_REPLY: usize = 4096;

/// The samples of all judges of one thing, as points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgeSamples {
    /// Median over samples, then over judges.
    pub points: u8,
    /// The reason of the first judge's first sample.
    pub reasoning: String,
}

/// The stage of a panel of judges, and its record.
#[derive(Debug)]
pub(crate) struct PanelScores {
    pub stage: Stage<JudgeSamples>,
    /// Every sample that was read, those without a score too; `None` if no judge replied.
    pub record: Option<JudgeRecord>,
}

impl PanelScores {
    /// Points that came with the texts.
    fn given(points: u8) -> Self {
        Self {
            stage: Stage {
                value: Ok(JudgeSamples {
                    points,
                    reasoning: "given".to_owned(),
                }),
                tally: CallTally::default(),
            },
            record: None,
        }
    }
}

/// Asks every judge for every sample at the same time. One that gives no score fails the whole: a judge that is silent on
/// hard texts must not raise their mean.
///
/// Points that were `given` with the texts are taken as they are, without a call.
pub(crate) async fn panel(
    ctx: &Context<'_>,
    item: &Item<'_>,
    input: RoleInput<'_>,
    given: Option<u8>,
) -> PanelScores {
    let config = item.config;
    if let Some(points) = given {
        return PanelScores::given(points);
    }
    let words = (config.models.judges.iter())
        .flat_map(|model| (1..=config.judge_samples).map(move |sample| (model, sample)));
    let asked = words.map(|(model, sample)| async move {
        let cfg = RoleConfig {
            model: model.clone(),
            profile: config.judge_profile(),
            temperature: config.judge_temperature,
            repeat: repeat(item, input.role(), sample),
            ..item.role_config(model)
        };
        (model, sample, judge(ctx.client, &cfg, input).await)
    });
    let mut tally = CallTally::default();
    let mut spoken = Vec::new();
    let mut samples = Vec::new();
    let mut clamped = false;
    let mut failed = Vec::new();
    for (model, sample, JudgeCall { stage, reply }) in join_all(asked).await {
        tally.merge_parallel(&stage.tally);
        let read = |verdict: Option<&JudgeScore>| {
            let (reply, cut) = shortened(reply.as_deref().unwrap_or_default());
            JudgeSample {
                model: model.as_str().into(),
                sample,
                score: verdict.map(|verdict| verdict.score),
                status: verdict.map_or(JudgeStatus::Unparseable, |verdict| verdict.status),
                clamped: verdict.is_some_and(|verdict| verdict.clamped),
                given: verdict
                    .filter(|verdict| verdict.clamped)
                    .and_then(|v| v.given),
                reply: reply.to_owned(),
                reply_truncated: cut,
            }
        };
        match stage.value {
            Ok(verdict) => {
                samples.push(read(Some(&verdict)));
                clamped |= verdict.clamped;
                spoken.push((model.as_str(), verdict));
            }
            Err(one) => {
                if one.status == StageStatus::Unparseable {
                    samples.push(read(None));
                }
                failed.push((model.as_str(), sample, one));
            }
        }
    }
    let value = match failure(failed, &samples, max_points(&input)) {
        None => judgement(&spoken),
        Some(failure) => Err(failure),
    };
    let worst = samples.iter().map(|sample| sample.status).max();
    let record = worst.map(|status| JudgeRecord {
        status,
        asks: tally.calls,
        clamped,
        samples,
    });
    PanelScores {
        stage: Stage { value, tally },
        record,
    }
}

/// The first failure of a panel. Of several judges or samples it names those that gave no score, and the scores of the
/// others.
fn failure(
    failed: Vec<(&str, u32, StageFailure)>,
    samples: &[JudgeSample],
    max: u8,
) -> Option<StageFailure> {
    let scored = samples.iter().filter_map(|one| Some((one, one.score?)));
    let alone = failed.len() == 1 && scored.clone().next().is_none();
    let repeats = (samples.iter().map(|one| one.sample))
        .chain(failed.iter().map(|(_, sample, _)| *sample))
        .any(|sample| sample > 1);
    let name = |model: &str, sample: u32| {
        if repeats {
            format!("{model} sample {sample}")
        } else {
            model.to_owned()
        }
    };
    let scores: Vec<_> = scored
        .map(|(one, points)| format!("{}: {points}/{max}", name(&one.model, one.sample)))
        .collect();
    let others = match scores.as_slice() {
        [] => String::new(),
        scores => format!(" ({})", scores.join(", ")),
    };
    let silent: Vec<_> = failed
        .iter()
        .map(|(model, sample, _)| name(model, *sample))
        .collect();
    // One that ends the run is not to be hidden by another.
    let refused =
        |(_, _, one): &(&str, u32, StageFailure)| one.kind == Some(FailureKind::TemperatureRefused);
    let place = failed.iter().position(refused).unwrap_or(0);
    let (_, _, mut first) = failed.into_iter().nth(place)?;
    if !alone {
        first.detail = format!("{}{others}: {}", silent.join(", "), first.detail);
    }
    Some(first)
}

/// The part of a reply that a result keeps, and whether that is not all of it.
fn shortened(reply: &str) -> (&str, bool) {
    let end = reply.char_indices().nth(MAX_KEPT_REPLY);
    end.map_or((reply, false), |(end, _)| (&reply[..end], true))
}

/// The numbers that the role repeats over.
fn repeat(item: &Item<'_>, role: Role, sample: u32) -> Repeat {
    let rules = role == Role::ImplementabilityJudge;
    if rules && item.config.implementability_once {
        return Repeat {
            sample: Some(sample),
            ..Repeat::default()
        };
    }
    Repeat {
        encoding: rules.then(|| item.encoding.id.clone()),
        case: rules.then(|| item.case.case.id.clone()),
        trial: Some(item.trial),
        decode: Some(item.decode),
        sample: Some(sample),
        ask: None,
    }
}

/// Computes the points of `spoken`, with the samples of one judge next to each other.
fn judgement(spoken: &[(&str, JudgeScore)]) -> Result<JudgeSamples, StageFailure> {
    let of_each: Vec<Vec<f64>> = spoken
        .chunk_by(|one, next| one.0 == next.0)
        .map(|words| {
            words
                .iter()
                .map(|(_, verdict)| f64::from(verdict.score))
                .collect()
        })
        .collect();
    let no_judge = || StageFailure::new(StageStatus::Unparseable, "the plan names no judge");
    let points = panel_score(&of_each).ok_or_else(no_judge)?;
    Ok(JudgeSamples {
        points: points as u8,
        reasoning: spoken[0].1.reasoning.clone(),
    })
}
