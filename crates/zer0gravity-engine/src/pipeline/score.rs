//! From the judges' words to points.

use futures_util::future::join_all;
use serde_json::Value;

use super::Context;
use super::roles::{RoleConfig, Verdict, judge};
use super::stage::{Failure, Stage, Tally};
use crate::judge::JudgeStatus;
use crate::plan::Item;
use crate::prompts::{Role, RoleInput};
use crate::stats::panel_score;
use crate::{JudgeRecord, JudgeSample, Points, Repeat};

/// What all judges of one thing said, and what it comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judgement {
    /// Median over samples, then over judges; NaN with the compatible parser only.
    pub points: f64,
    /// Of the first judge's first word.
    pub reasoning: Value,
    pub record: JudgeRecord,
}

/// Asks every judge for every sample, side by side. One that gives no score fails the whole: a judge that is silent on
/// hard texts must not raise their mean.
pub(crate) async fn panel(
    ctx: &Context<'_>,
    item: &Item<'_>,
    input: RoleInput<'_>,
) -> Stage<Judgement> {
    let config = item.config;
    let words = (config.models.judges.iter())
        .flat_map(|model| (1..=config.judge_samples).map(move |sample| (model, sample)));
    let asked = words.map(|(model, sample)| async move {
        let cfg = RoleConfig {
            model: model.clone(),
            profile: config.judge_profile(),
            repeat: repeat(item, input.role(), sample),
            ..item.role_config(model)
        };
        (model, sample, judge(ctx.port, &cfg, input).await)
    });
    let mut tally = Tally::default();
    let mut spoken = Vec::new();
    let mut failure = None;
    for (model, sample, stage) in join_all(asked).await {
        tally.beside(&stage.tally);
        match stage.value {
            Ok(verdict) => spoken.push((model.as_str(), sample, verdict)),
            Err(one) => failure = failure.or(Some(one)),
        }
    }
    Stage {
        value: failure.map_or_else(|| Ok(judgement(&spoken, tally.calls)), Err::<_, Failure>),
        tally,
    }
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

/// `spoken` holds at least one word, those of one judge side by side.
fn judgement(spoken: &[(&str, u32, Verdict)], asks: u32) -> Judgement {
    let of_each: Vec<Vec<f64>> = spoken
        .chunk_by(|one, next| one.0 == next.0)
        .map(|words| words.iter().map(|(_, _, verdict)| verdict.score).collect())
        .collect();
    let record = JudgeRecord {
        status: (spoken.iter().map(|(_, _, verdict)| verdict.status))
            .max()
            .unwrap_or(JudgeStatus::Unparseable),
        asks,
        clamped: spoken.iter().any(|(_, _, verdict)| verdict.clamped),
        samples: (spoken.iter())
            .map(|(model, sample, verdict)| JudgeSample {
                model: (*model).to_owned(),
                sample: *sample,
                score: Some(Points(verdict.score)),
                status: verdict.status,
            })
            .collect(),
    };
    Judgement {
        points: panel_score(&of_each).unwrap_or(f64::NAN),
        reasoning: spoken
            .first()
            .map_or(Value::Null, |(_, _, verdict)| verdict.reasoning.clone()),
        record,
    }
}
