//! The systems of a contest in their ranks, and those that are out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::grouped::{self, Group, OutcomeCounts, average, figure, groups};
use super::statistics::Statistics;
use super::{CaseStatistics, EncodingSystemStatistics, Pairwise, RunReport};
use crate::ExperimentResult;
use crate::judge::flags::Severity;
use crate::metrics::stats::{SIGNIFICANT, texts_to_separate};
use crate::result::SCHEMA_VERSION;
use crate::rules::lint::addressed_judge;

/// The smallest number of common texts that systems are ranked on.
const LEAST_TEXTS: usize = 6;
/// The difference in points whose number of texts a tie names.
const POINTS: f64 = 3.0;

/// The encoding systems of a run as a contest: ranked by paired differences on their common texts, or out for a reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Board {
    /// The version of the JSON format.
    #[serde(rename = "schema_version")]
    pub schema_version: u32,
    /// The text `zer0gravity.board`.
    pub kind: &'static str,
    /// Whether no model was asked.
    pub offline: bool,
    /// The commitment to the texts that the run began with: it must be the published one. The caller sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    /// The smallest critical recall of a system that is not out, 0 to 1.
    #[serde(with = "crate::judge::number::plain")]
    pub min_critical_recall: f64,
    /// The number of texts that all systems which are not out have a total for. A failed experiment has 0 points.
    pub texts: usize,
    /// The systems that are not out, best first.
    pub systems: Vec<RankedSystem>,
    /// The systems that share a rank.
    pub ties: Vec<BoardTie>,
    /// The paired differences on the common texts; empty without ranks.
    pub pairs: Vec<Pairwise>,
    /// The systems without a place, in plan order.
    pub out: Vec<ExcludedSystem>,
    /// The systems that are not out and have results of earlier versions, which have no critical recall.
    pub unmeasured: Vec<String>,
}

/// An encoding system on the common texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RankedSystem {
    /// One more than the number of significantly better systems; `None` with fewer than 6 common texts.
    pub rank: Option<usize>,
    /// The statistics over the common texts.
    #[serde(flatten)]
    pub statistics: EncodingSystemStatistics,
}

/// Neighbours on the board that share a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BoardTie {
    /// The place of the first one, from 1.
    pub first: usize,
    /// The place of the last one.
    pub last: usize,
    /// The number of texts that would separate 3 points in about 80 % of contests.
    pub texts_needed: usize,
}

/// An encoding system that is out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExcludedSystem {
    /// The encoding.
    pub encoding_id: String,
    /// The reasons, each in a few words.
    pub reasons: Vec<String>,
}

/// The total; of a failed experiment 0, or a system could choose its texts by failing.
fn points(result: &ExperimentResult) -> Option<f64> {
    grouped::total(result).or_else(|| (!result.outcome.is_ok()).then_some(0.0))
}

fn critical_recall(result: &ExperimentResult) -> Option<f64> {
    result.metrics.as_ref()?.atoms.as_ref()?.critical_recall
}

/// The texts of a run.
struct Texts<'a> {
    all: BTreeSet<&'a str>,
    /// The texts of which a result has a critical recall.
    critical: BTreeSet<&'a str>,
}

impl Texts<'_> {
    /// The reasons why a system with these results is out.
    fn reasons(&self, groups: &[&Group<'_>], min_critical_recall: f64) -> Vec<String> {
        let results = || groups.iter().flat_map(|group| group.items.iter().copied());
        let flag = results().find_map(|result| {
            let mut flags = result.flags.iter();
            let flag = flags.find(|flag| flag.severity == Severity::Critical)?;
            let (id, case) = (flag.id.as_str(), &result.test_case_id);
            Some(format!("critical flag {id} in {case}"))
        });
        let rules: BTreeSet<&str> = results().map(|it| &*it.encoding_system).collect();
        let judge = rules.into_iter().find_map(addressed_judge);
        let judge = judge.map(|it| format!("{} in line {} of the rules", it.code, it.line));
        // A failed experiment keeps nothing of a text that has something critical.
        let recall = |result: &ExperimentResult| {
            let lost = !result.outcome.is_ok() && self.critical.contains(&*result.test_case_id);
            critical_recall(result).or_else(|| lost.then_some(0.0))
        };
        let recalls: Vec<_> = groups.iter().filter_map(|it| it.mean(recall)).collect();
        let (recall, least) = (average(&recalls).map(figure), min_critical_recall);
        let low = recall.filter(|recall| *recall < least);
        let low = low.map(|recall| format!("critical recall {recall:.3} is below {least}"));
        let OutcomeCounts { items, failed, .. } = OutcomeCounts::of(results());
        let told = format!("{failed} of {items} experiments failed");
        let failed = is_much(failed, items).then_some(told);
        let scored = groups.iter().filter(|it| it.mean(points).is_some());
        let texts = self.all.len();
        let missing = texts - scored.count();
        let told = format!("{missing} of {texts} texts have no total");
        let missing = is_much(missing, texts).then_some(told);
        let reasons = [flag, judge, low, failed, missing];
        reasons.into_iter().flatten().collect()
    }
}

/// Whether more than 10 % are missing, more than a ranked system may lack.
fn is_much(missing: usize, of: usize) -> bool {
    10 * missing > of
}

impl Board {
    /// The usual smallest critical recall.
    pub const MIN_CRITICAL_RECALL: f64 = 0.8;

    /// Ranks the encoding systems of `report`. The same report gives the same board.
    ///
    /// ```
    /// use zer0gravity_engine::report::{Board, RunReport};
    /// let board = Board::of(&RunReport::read("[]").unwrap(), Board::MIN_CRITICAL_RECALL);
    /// assert!(board.systems.is_empty() && board.out.is_empty());
    /// ```
    pub fn of(report: &RunReport, min_critical_recall: f64) -> Self {
        let groups = groups(&report.results);
        let results = report.results.iter();
        let critical = results.filter(|it| critical_recall(it).is_some());
        let texts = Texts {
            all: groups.iter().map(|group| group.case).collect(),
            critical: critical.map(|it| &*it.test_case_id).collect(),
        };
        let (mut out, mut unmeasured) = (Vec::new(), Vec::new());
        let (mut kept, mut common) = (BTreeSet::new(), texts.all.clone());
        for id in grouped::encoding_ids(&report.encodings, &report.results) {
            let own: Vec<_> = groups.iter().filter(|group| group.encoding == id).collect();
            let reasons = texts.reasons(&own, min_critical_recall);
            let encoding_id = id.to_owned();
            if !reasons.is_empty() {
                out.push(ExcludedSystem {
                    encoding_id,
                    reasons,
                });
                continue;
            }
            kept.insert(id);
            let scored = own.iter().filter(|group| group.mean(points).is_some());
            let scored: BTreeSet<_> = scored.map(|group| group.case).collect();
            common.retain(|case| scored.contains(case));
            let items = own.iter().flat_map(|group| &group.items);
            let mut metrics = items.filter_map(|it| it.metrics.as_ref());
            if metrics.any(|metrics| metrics.atoms.is_none()) {
                unmeasured.push(encoding_id);
            }
        }
        if kept.is_empty() {
            common.clear();
        }
        let is_ranked = |result: &&ExperimentResult| {
            kept.contains(&*result.encoding_id) && common.contains(&*result.test_case_id)
        };
        let results: Vec<_> = report.results.iter().filter(is_ranked).cloned().collect();
        let encodings = report.encodings.iter().filter(|it| kept.contains(&*it.id));
        let encodings: Vec<_> = encodings.cloned().collect();
        let mut board = Self {
            schema_version: SCHEMA_VERSION,
            kind: "zer0gravity.board",
            offline: report.offline,
            sealed: None,
            min_critical_recall,
            texts: common.len(),
            systems: Vec::new(),
            ties: Vec::new(),
            pairs: Vec::new(),
            out,
            unmeasured,
        };
        board.rank(Statistics::of(
            &encodings,
            &results,
            report.randomness.seed,
            points,
        ));
        board
    }

    fn rank(&mut self, statistics: Statistics) {
        let is_ranked = self.texts >= LEAST_TEXTS;
        let worse = |pair: &Pairwise| {
            let is_significant = pair.p_holm.is_some_and(|p| p <= SIGNIFICANT);
            let difference = pair.mean_difference.filter(|_| is_significant)?;
            let worse = if difference > 0.0 { &pair.b } else { &pair.a };
            Some(worse.clone())
        };
        let worse: Vec<_> = statistics.pairwise.iter().filter_map(worse).collect();
        let better = |id: &str| worse.iter().filter(|worse| *worse == id).count();
        let systems = statistics.per_encoding.into_iter();
        let systems = systems.map(|statistics| RankedSystem {
            rank: is_ranked.then(|| 1 + better(&statistics.encoding_id)),
            statistics,
        });
        self.systems = systems.collect();
        let mean = |one: &RankedSystem| one.statistics.total.mean.unwrap_or(f64::NEG_INFINITY);
        self.systems.sort_by(|a, b| {
            let by_id = || a.statistics.encoding_id.cmp(&b.statistics.encoding_id);
            let by_mean = mean(b).total_cmp(&mean(a));
            a.rank.cmp(&b.rank).then(by_mean).then_with(by_id)
        });
        if !is_ranked {
            return;
        }
        let totals = |one: &RankedSystem| -> Vec<f64> {
            let is_own = |case: &&CaseStatistics| case.encoding_id == one.statistics.encoding_id;
            let own = statistics.per_case.iter().filter(is_own);
            let own = own.map(|case| (&case.test_case_id, case.total.mean));
            let own: BTreeMap<_, _> = own.collect();
            own.into_values().flatten().collect()
        };
        let mut first = 1;
        for tied in self.systems.chunk_by(|a, b| a.rank == b.rank) {
            let last = first + tied.len() - 1;
            if first < last {
                let totals: Vec<_> = tied.iter().map(totals).collect();
                self.ties.push(BoardTie {
                    first,
                    last,
                    texts_needed: texts_to_separate(&totals, POINTS, statistics.pairwise.len()),
                });
            }
            first = last + 1;
        }
        self.pairs = statistics.pairwise;
    }

    /// Returns a sentence for each tie, or the reason why there are no ranks, and one for systems without a critical recall.
    pub fn notes(&self) -> Vec<String> {
        let texts = self.texts;
        let mut notes = Vec::new();
        if self.systems.is_empty() {
            notes.push("no ranks: no system is left".to_owned());
        } else if texts < LEAST_TEXTS {
            let common = if texts == 1 { "text" } else { "texts" };
            let note = format!("no ranks: {texts} common {common}, and ranks need {LEAST_TEXTS}");
            notes.push(note);
        }
        for tie in &self.ties {
            let (first, last, needed) = (tie.first, tie.last, tie.texts_needed);
            let power = if needed <= texts {
                format!("a difference of {POINTS} points would probably show")
            } else {
                format!("separating {POINTS} points needs about {needed}")
            };
            notes.push(format!(
                "places {first}-{last} tied ({texts} texts; {power})"
            ));
        }
        if !self.unmeasured.is_empty() {
            let systems = self.unmeasured.join(", ");
            let note = "was not measured in all results: some are of an earlier version";
            notes.push(format!("critical recall of {systems} {note}"));
        }
        notes
    }
}
