//! The result of a sweep: tests, verdicts and measures of all cells.

use std::ops::ControlFlow;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::cell::Cell;
use super::effect::Effect;
use super::plan::SweepPlan;
use super::vectors::EmbeddedCell;
use crate::measures::embedding::Embeddings;
use crate::measures::metrics::Metric;
use crate::measures::nulls::{NullProgress, POWER_WEIGHT, RepeatPlan, RepeatTests, holm};
use crate::measures::verdict::{p_value, selected};
use crate::measures::{Analysis, AnalysisPlan};
use crate::study::UnreadableRun;
use crate::verify::Transcript;

/// The smallest power with which a cell without a finding is called drift.
pub const LEAST_POWER: f64 = 0.8;

/// The verdict on a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CellVerdict {
    /// Texts with some feature are passed on more often than others.
    Selection,
    /// The repeats end more alike than neutral descent gives, without a feature that is favoured.
    Agreement,
    /// Neither, and a word with a weight of 1.5 would have been found.
    Drift,
    /// Neither, and the repeats are too few to find such a word.
    Undecided,
}

impl CellVerdict {
    /// Returns the letter in tables: S, A, D or U.
    pub fn letter(self) -> char {
        match self {
            Self::Selection => 'S',
            Self::Agreement => 'A',
            Self::Drift => 'D',
            Self::Undecided => 'U',
        }
    }
}

/// The findings of the runs of one cell, before the tests of all cells are corrected together.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CellFindings {
    /// The tests; `None` without a run.
    tests: Option<RepeatTests>,
    /// For each measure its mean in each run.
    means: Vec<(Metric, Vec<f64>)>,
    /// The measures by vectors, if they were asked for.
    embedded: Option<EmbeddedCell>,
}

/// A cell in the result of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CellSummary {
    /// The key of the cell.
    pub key: String,
    /// The value of each axis as tables show it.
    pub values: Vec<String>,
    /// The number of runs.
    pub repeats: usize,
    /// The verdict.
    pub verdict: CellVerdict,
    /// The verdict in words.
    pub sentence: String,
    /// The tests; `None` without a run.
    pub tests: Option<RepeatTests>,
    /// The p of choice, corrected for all tests of the sweep by Holm's method.
    pub choice_p_holm: Option<f64>,
    /// The p of agreement, likewise.
    pub agreement_p_holm: Option<f64>,
    /// The measures.
    pub effects: Vec<Effect>,
    /// The measures by vectors, with their encoder.
    #[serde(rename = "embedding", skip_serializing_if = "Option::is_none")]
    pub embedded: Option<EmbeddedCell>,
}

/// The result of a sweep. The same plan and journals give the same result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SweepSummary {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The name of the plan.
    pub name: String,
    /// The names of the axes.
    pub axes: Vec<String>,
    /// The level of the tests.
    pub alpha: f64,
    /// The number of null runs of each run.
    pub null_runs: u32,
    /// The cells in the order of the plan.
    pub cells: Vec<CellSummary>,
    /// The runs that cannot be read, in the order of the plan. No number counts them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableRun>,
}

impl CellFindings {
    /// Reads the runs of a cell, with the measures by `embeddings` if they are given. `on_run` is called after each null run; if it
    /// breaks, the result is `None`.
    pub fn of(
        runs: &[Transcript],
        plan: &SweepPlan,
        embeddings: Option<&Embeddings>,
        threads: usize,
        on_run: &mut dyn FnMut(NullProgress) -> ControlFlow<()>,
    ) -> Option<Self> {
        let repeats = RepeatPlan {
            null_runs: plan.null_runs,
            seed: plan.seed,
            weight: POWER_WEIGHT,
            threads,
        };
        let tests = match runs {
            [] => None,
            runs => Some(RepeatTests::of(runs, &repeats, on_run)?),
        };
        let mut measured = AnalysisPlan::default();
        (measured.embeddings, measured.threads) = (embeddings, threads);
        let analyses: Vec<Analysis> = (runs.iter())
            .map(|run| Analysis::of(run, &measured))
            .collect();
        let means = Metric::ALL.iter().map(|&metric| {
            let means = analyses
                .iter()
                .filter_map(|found| found.metric(metric)?.mean);
            (metric, means.collect())
        });
        Some(Self {
            tests,
            means: means.collect(),
            embedded: embeddings.map(|found| EmbeddedCell::of(&analyses, found)),
        })
    }

    fn values(&self, metric: Metric) -> Option<&[f64]> {
        let (_, values) = self.means.iter().find(|(known, _)| *known == metric)?;
        Some(values)
    }
}

impl SweepSummary {
    /// Returns the result of the cells of a plan, in its order.
    pub fn of(plan: &SweepPlan, found: &[(Cell, CellFindings)]) -> Self {
        let mut cells: Vec<CellSummary> = (found.iter())
            .map(|(cell, findings)| summary(plan, cell, findings, found))
            .collect();
        correct_tests(&mut cells);
        correct_deltas(&mut cells);
        for cell in &mut cells {
            (cell.verdict, cell.sentence) = judged(cell, plan);
        }
        Self {
            schema_version: 1,
            name: plan.name.clone(),
            axes: plan.axes.iter().map(|axis| axis.name.clone()).collect(),
            alpha: plan.alpha,
            null_runs: plan.null_runs,
            cells,
            unreadable: Vec::new(),
        }
    }
}

impl CellSummary {
    /// Returns the mean similarity of two messages of one window over the repeats.
    pub fn similarity(&self) -> Option<&Effect> {
        let mut effects = self.effects.iter();
        effects.find(|effect| effect.measure == Metric::TfidfSimilarity)
    }
}

impl SweepSummary {
    /// Returns a row for each measure of each cell as CSV, by key and measure.
    pub fn csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let mut header = vec!["key"];
        header.extend(self.axes.iter().map(String::as_str));
        header.extend([
            "repeats", "measure", "mean", "low", "high", "delta", "p_holm",
        ]);
        // Memory takes every record, and all have one length.
        let _ = out.write_record(&header);
        let mut cells: Vec<&CellSummary> = self.cells.iter().collect();
        cells.sort_by(|a, b| a.key.cmp(&b.key));
        for cell in cells {
            let mut effects: Vec<&Effect> = cell.effects.iter().collect();
            effects.sort_by_key(|effect| effect.measure.name());
            for effect in effects {
                let shown = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
                let mut row = vec![cell.key.clone()];
                row.extend(cell.values.iter().cloned());
                row.push(effect.repeats.to_string());
                row.push(effect.measure.name().to_owned());
                row.extend([effect.mean, effect.low, effect.high].map(|value| value.to_string()));
                row.extend([shown(effect.delta), shown(effect.p_holm)]);
                let _ = out.write_record(&row);
            }
            for effect in cell.embedded.iter().flat_map(|cell| &cell.effects) {
                let mut row = vec![cell.key.clone()];
                row.extend(cell.values.iter().cloned());
                row.push(effect.repeats.to_string());
                row.push(effect.measure.name().to_owned());
                row.extend([effect.mean, effect.low, effect.high].map(|value| value.to_string()));
                row.extend([String::new(), String::new()]);
                let _ = out.write_record(&row);
            }
        }
        let bytes = out.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn summary(
    plan: &SweepPlan,
    cell: &Cell,
    findings: &CellFindings,
    all: &[(Cell, CellFindings)],
) -> CellSummary {
    let first = all.first().filter(|(first, _)| first.key != cell.key);
    let effect = |(metric, values): &(Metric, Vec<f64>)| {
        let first = first.and_then(|(_, first)| first.values(*metric));
        let key = Sha256::digest(format!(
            "logosphere/delta/v1\n{}\n{}\n{}",
            plan.seed,
            cell.key,
            metric.name()
        ));
        Effect::of(*metric, values, first, key.into())
    };
    let shown = plan.axes.iter().zip(&cell.indices);
    CellSummary {
        key: cell.key.clone(),
        values: shown.map(|(axis, index)| axis.shown(*index)).collect(),
        repeats: findings.tests.as_ref().map_or(0, |tests| tests.repeats),
        verdict: CellVerdict::Undecided,
        sentence: String::new(),
        tests: findings.tests.clone(),
        choice_p_holm: None,
        agreement_p_holm: None,
        effects: findings.means.iter().filter_map(effect).collect(),
        embedded: findings.embedded.clone(),
    }
}

/// Sets the corrected p of choice and agreement of all cells together.
fn correct_tests(cells: &mut [CellSummary]) {
    let mut places: Vec<(usize, bool)> = Vec::new();
    let mut p = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        let Some(tests) = &cell.tests else { continue };
        places.push((at, true));
        p.push(tests.choice.p);
        if let Some(agreement) = tests.agreement {
            places.push((at, false));
            p.push(agreement.p);
        }
    }
    for ((at, is_choice), p) in places.into_iter().zip(holm(&p)) {
        let cell = &mut cells[at];
        let place = if is_choice {
            &mut cell.choice_p_holm
        } else {
            &mut cell.agreement_p_holm
        };
        *place = Some(p);
    }
}

/// Sets the corrected p of all deltas together.
fn correct_deltas(cells: &mut [CellSummary]) {
    let effects = || cells.iter().flat_map(|cell| &cell.effects);
    let p: Vec<f64> = effects().filter_map(|effect| effect.p).collect();
    let corrected = holm(&p);
    let effects = cells.iter_mut().flat_map(|cell| &mut cell.effects);
    for (effect, p) in effects.filter(|effect| effect.p.is_some()).zip(corrected) {
        effect.p_holm = Some(p);
    }
}

fn judged(cell: &CellSummary, plan: &SweepPlan) -> (CellVerdict, String) {
    let Some(tests) = &cell.tests else {
        return (CellVerdict::Undecided, "Undecided: no run.".to_owned());
    };
    if tests.repeats == 1 {
        let sentence = "Undecided: one repeat shows nothing across repeats.".to_owned();
        return (CellVerdict::Undecided, sentence);
    }
    let repeats = tests.repeats;
    let is_found = |p: Option<f64>| p.filter(|p| *p <= plan.alpha);
    if let (Some(p), Some(first)) = (is_found(cell.choice_p_holm), &tests.first) {
        let corrected = "all cells and all words";
        return (CellVerdict::Selection, selected(first, p, corrected));
    }
    if let (Some(p), Some(agreement)) = (is_found(cell.agreement_p_holm), tests.agreement) {
        let sentence = format!(
            "Agreement: the texts at the end of {repeats} repeats are more alike than neutral descent gives: {:.2} against {:.2} ({}). No word is favoured.",
            agreement.observed,
            agreement.median,
            p_value(p)
        );
        return (CellVerdict::Agreement, sentence);
    }
    let p = cell.choice_p_holm.unwrap_or(1.0);
    let power = format!(
        "a word that makes a text's chance {POWER_WEIGHT} times as large would have been found in {:.0} % of such sweeps",
        100.0 * tests.power
    );
    if tests.power >= LEAST_POWER {
        let sentence = format!("Drift is enough (choice {}); {power}.", p_value(p));
        return (CellVerdict::Drift, sentence);
    }
    let sentence = format!("Undecided (choice {}): {power}.", p_value(p));
    (CellVerdict::Undecided, sentence)
}
