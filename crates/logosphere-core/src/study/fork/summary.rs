//! The result of a fork: the differences of its arms, and the descendants of the messages that were put in or taken out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::difference::{ArmDifference, LEAST_REPLICATES};
use super::point::ForkPoint;
use crate::journal::ForkArm;
use crate::measures::lineage::Lineage;
use crate::measures::metrics::Metric;
use crate::measures::metrics::{Window, ablated};
use crate::measures::{Analysis, AnalysisPlan};
use crate::pool::MessageId;
use crate::study::UnreadableRun;
use crate::verify::Transcript;

/// The two runs of a replicate.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "a pair of runs")]
pub struct Replicate {
    /// The run as it is.
    pub control: Transcript,
    /// The run with the interventions.
    pub treated: Transcript,
}

/// The messages that a fork followed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "two lists")]
pub struct FollowedMessages {
    /// The ids of messages that were put in, in the treated arm.
    pub injected: Vec<MessageId>,
    /// The ids of messages that were taken out, in the control arm.
    pub ablated: Vec<MessageId>,
}

/// The result of a fork. The same journals give the same result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForkSummary {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The point of the fork.
    pub point: String,
    /// The number of replicates with both runs.
    pub replicates: usize,
    /// A sentence if there are too few replicates for tests, or for one of them to be significant.
    pub notice: Option<String>,
    /// Sentences about runs that a rule ended before their first call after the point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<String>,
    /// The runs that cannot be read. No number counts them, nor the other run of their replicate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableRun>,
    /// The first call of each replicate that differs between the arms, as a point; `None` if no call does.
    pub first_differences: Vec<Option<String>>,
    /// The differences of the arms, treated less control.
    pub differences: Vec<ArmDifference>,
    /// The messages that were followed.
    pub followed: Vec<FollowedMessage>,
}

/// A message that a fork followed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FollowedMessage {
    /// The id.
    pub id: MessageId,
    /// The arm that it is followed in: `treated` for one that was put in, `control` for one that was taken out.
    pub arm: &'static str,
    /// The text.
    pub text: String,
    /// The mean number of descendants.
    pub descendants: f64,
    /// The mean share of the last window that it and its descendants have, with its 95 % interval over the replicates.
    pub share: [f64; 3],
}

impl ForkSummary {
    /// Compares the arms. `seed` is the seed of drawn signs.
    pub fn of(
        replicates: &[Replicate],
        point: ForkPoint,
        followed: &FollowedMessages,
        seed: u64,
    ) -> Self {
        let numbers: Vec<[ArmNumbers; 2]> = (replicates.iter())
            .map(|runs| [&runs.control, &runs.treated].map(|run| ArmNumbers::of(run, point)))
            .collect();
        let mut differences = Vec::new();
        for (at, metric) in Metric::ALL.iter().enumerate() {
            for part in [Part::Rounds, Part::Last] {
                let pairs: Vec<_> = (numbers.iter())
                    .filter_map(|[control, treated]| {
                        Some((control.get(at, part)?, treated.get(at, part)?))
                    })
                    .collect();
                differences.extend(ArmDifference::of(metric.name(), part.name(), &pairs, seed));
            }
        }
        ArmDifference::correct(&mut differences);
        let tested = differences.iter().filter(|row| row.p.is_some()).count();
        let notice = few_replicates(replicates.len(), tested);
        let arms = [
            ("treated", &followed.injected),
            ("control", &followed.ablated),
        ];
        let followed = arms.into_iter().flat_map(|(arm, ids)| {
            ids.iter()
                .filter_map(move |id| FollowedMessage::of(replicates, arm, *id))
        });
        Self {
            schema_version: 1,
            point: point.to_string(),
            replicates: replicates.len(),
            notice,
            stopped: Vec::new(),
            unreadable: Vec::new(),
            first_differences: replicates.iter().map(first_difference).collect(),
            differences,
            followed: followed.collect(),
        }
    }
}

/// Returns sentences about the runs that ended before their first call after the point of a fork, by arm and rule.
pub fn stopped(runs: &[(ForkArm, &str)]) -> Vec<String> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (arm, rule) in runs {
        *counts.entry((arm.as_str(), rule)).or_default() += 1;
    }
    let counts = counts.into_iter();
    let sentence = |((arm, rule), count)| {
        format!(
            "runs without a call after the point: {count} of the {arm} arm, ended by the rule {rule}; fork at an earlier point"
        )
    };
    counts.map(sentence).collect()
}

/// Returns the sentence about replicates that are too few for a test, or for a row to be significant.
fn few_replicates(replicates: usize, rows: usize) -> Option<String> {
    if replicates < LEAST_REPLICATES {
        return Some(format!(
            "too few replicates for a test: {replicates} of {LEAST_REPLICATES}"
        ));
    }
    let least = rows as f64 * 0.5_f64.powi(replicates as i32 - 1);
    (least > 0.05).then(|| {
        format!("{replicates} replicates: after the correction for {rows} rows no p can be below {least:.2}; make more")
    })
}

/// A part of a run since the fork.
#[derive(Clone, Copy)]
enum Part {
    Rounds,
    Last,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Last => "last",
        }
    }
}

/// The numbers of a run since the fork: for each measure the mean over its rounds, and the last.
struct ArmNumbers(Vec<[Option<f64>; 2]>);

impl ArmNumbers {
    fn of(run: &Transcript, point: ForkPoint) -> Self {
        let mut plan = AnalysisPlan::default();
        (plan.null, plan.threads) = (None, 1);
        let analysis = Analysis::of(run, &plan);
        let numbers = Metric::ALL.iter().map(|metric| {
            let points = analysis.metric(*metric).map(|found| &found.points[..]);
            let since = points.unwrap_or_default().iter();
            let since = since.filter(|found| found.round >= point.round);
            let values: Vec<f64> = since.filter_map(|found| found.value).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            [
                Some(mean).filter(|mean| mean.is_finite()),
                values.last().copied(),
            ]
        });
        Self(numbers.collect())
    }

    fn get(&self, metric: usize, part: Part) -> Option<f64> {
        self.0[metric][part as usize]
    }
}

/// The first call that read or sent other texts in the two arms.
fn first_difference(runs: &Replicate) -> Option<String> {
    let Replicate { control, treated } = runs;
    let texts = |run: &Transcript, ids: &[MessageId]| -> Vec<String> {
        let messages = ids.iter().filter_map(|id| run.messages.get(id.index()));
        messages.map(|message| message.text.clone()).collect()
    };
    let differs = control.calls.iter().zip(&treated.calls).find(|(a, b)| {
        texts(control, &a.sampled) != texts(treated, &b.sampled)
            || texts(control, &a.added) != texts(treated, &b.added)
            || a.reason != b.reason
    });
    let (call, _) = differs?;
    let (round, mind) = (call.round, call.mind);
    Some(ForkPoint { round, mind }.to_string())
}

impl FollowedMessage {
    fn of(replicates: &[Replicate], arm: &'static str, id: MessageId) -> Option<Self> {
        let runs = replicates.iter().map(|runs| match arm {
            "treated" => &runs.treated,
            _ => &runs.control,
        });
        let (mut text, mut descendants, mut shares) = (None, 0.0, Vec::new());
        for run in runs {
            text = text.or_else(|| Some(run.messages.get(id.index())?.text.clone()));
            let family = family(run, id);
            descendants += family.len().saturating_sub(1) as f64;
            let window = last_window(run);
            let inside = window.iter().filter(|id| family.contains(id)).count();
            shares.push(inside as f64 / window.len().max(1) as f64);
        }
        Some(Self {
            id,
            arm,
            text: text?,
            descendants: descendants / replicates.len() as f64,
            share: super::super::interval::interval(&shares)?,
        })
    }
}

/// The messages that can be read at the end of a run.
fn last_window(run: &Transcript) -> Vec<usize> {
    let ranges = Window::Active.ranges(run);
    let gone = ablated(run, ranges.len().saturating_sub(1));
    let last = ranges.into_iter().next_back().unwrap_or_default();
    last.filter(|id| !gone.contains(id)).collect()
}

/// A message and all that descend from it through first parents.
fn family(run: &Transcript, id: MessageId) -> BTreeSet<usize> {
    let lineage = Lineage::of(run);
    let mut family = BTreeSet::from([id.index()]);
    for node in lineage.nodes() {
        if let Some(parent) = node.parent()
            && family.contains(&parent.id.index())
        {
            family.insert(node.id.index());
        }
    }
    family
}
