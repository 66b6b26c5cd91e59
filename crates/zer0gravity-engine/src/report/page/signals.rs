//! Findings to look at before a number is trusted: flags, failures, judges, rules.

use std::collections::{BTreeMap, BTreeSet};

use report_kit::{Cell, Section, Status, Table};

use super::experiments::ExperimentView;
use super::{ROWS, counted, mean, number, with};
use crate::judge::flags::{FlagId, Severity};
use crate::report::export::word;
use crate::report::{JudgeStatistics, RunReport};
use crate::{FailureKind, StageName, StageStatus};

pub(super) fn flags(report: &RunReport, told: &ExperimentView) -> Option<Section> {
    /// Results with a flag: how many, the first of them, and what it says.
    struct Raised<'a> {
        count: usize,
        first: usize,
        evidence: &'a str,
    }
    let mut raised: BTreeMap<_, Raised<'_>> = BTreeMap::new();
    for (index, result) in report.results.iter().enumerate() {
        for flag in &result.flags {
            // The worst comes first.
            let key = (
                std::cmp::Reverse(flag.severity),
                flag.id,
                result.encoding_id.as_str(),
            );
            let raised = raised.entry(key).or_insert(Raised {
                count: 0,
                first: index,
                evidence: &flag.evidence,
            });
            raised.count += 1;
        }
    }
    let section = Section::new("Flags").anchor("flags");
    if raised.is_empty() {
        return (!report.results.is_empty())
            .then(|| with(section.text("No result has a flag."), lint(report)));
    }
    let columns = [
        "Flag",
        "Severity",
        "Encoding system",
        "Results",
        "Reason",
        "First",
        "Evidence",
    ];
    let rows = raised.iter().map(|((severity, id, encoding), raised)| {
        [
            Cell::text(name(*id)),
            weight(severity.0),
            Cell::text(*encoding),
            raised.count.into(),
            Cell::text(meaning(*id)),
            told.link(report, raised.first),
            Cell::text(raised.evidence),
        ]
    });
    let table = Table::new("Flags raised, worst first", columns);
    let section = section.text(
        "Flags come from fixed rules, not from a model, and may be wrong. No flag changes a score.",
    );
    let section = section.table(table.rows(rows).limit(ROWS));
    Some(with(section, lint(report)))
}

/// A flag's id in words: underscores would not let a narrow column break it.
pub(super) fn name(id: FlagId) -> String {
    word(&id).replace('_', " ")
}

/// A severity as a badge.
pub(super) fn weight(severity: Severity) -> Cell {
    let tone = match severity {
        Severity::Critical => Status::Bad,
        Severity::Warning => Status::Caution,
        Severity::Info => Status::Info,
    };
    Cell::badge(word(&severity), tone)
}

fn meaning(id: FlagId) -> &'static str {
    match id {
        FlagId::IdentityEncoding => "The encoded text equals the original.",
        FlagId::Expansion => "The encoded text has more tokens than the original.",
        FlagId::ExecutedAnswer => "The instruction was carried out instead of encoded.",
        FlagId::JudgeMetricDisagreement => "The judge and the text metrics disagree.",
        FlagId::RulesContainText => "The rules contain the text.",
        FlagId::PromptEcho => "The encoded text repeats the encoder's instructions.",
        FlagId::RulesEcho => "The encoded or the decoded text repeats the rules.",
        FlagId::SelfTalk => "The encoded or the decoded text talks about the task.",
        FlagId::JudgeInjection => "A text addresses the judge.",
        FlagId::PossibleRefusalText => "The decoded text looks like a refusal.",
        FlagId::HiddenCharacters => "The decoded text has invisible characters.",
        FlagId::AtomLoss => "A critical commitment is lost, changed or invented.",
        FlagId::ImplausibleCompression => {
            "The encoded text is too short to carry the text: the information came from elsewhere."
        }
    }
}

pub(super) fn outcomes(report: &RunReport, told: &ExperimentView) -> Option<Section> {
    let outcomes = &report.outcomes;
    if outcomes.items == 0 {
        return None;
    }
    let rows = outcomes.counts.iter().map(|row| {
        [
            Cell::badge(word(&row.status), tone(row.status)),
            row.stage.map(StageName::as_str).into(),
            row.count.into(),
            Cell::number(100.0 * row.count as f64 / outcomes.items as f64, 1),
        ]
    });
    let columns = ["Outcome", "Stage", "Experiments", "%"];
    let section = Section::new("Failed calls").anchor("outcomes");
    if outcomes.failed == 0 {
        return Some(section.text("No experiment failed."));
    }
    let section = section.table(Table::new("Experiments by outcome", columns).rows(rows));
    let failed = (report.results.iter().enumerate())
        .filter(|(_, result)| !result.outcome.is_ok())
        .map(|(index, result)| {
            [
                told.link(report, index),
                Cell::text(&result.encoding_id),
                Cell::badge(word(&result.outcome.status), tone(result.outcome.status)),
                result.outcome.kind.map(FailureKind::as_str).into(),
                result.error.clone().into(),
            ]
        });
    let columns = ["Text", "Encoding system", "Outcome", "Kind", "Error"];
    Some(
        section.table(
            Table::new("Failed experiments", columns)
                .rows(failed)
                .limit(ROWS),
        ),
    )
}

/// The weight of an outcome to the reader.
pub(super) fn tone(status: StageStatus) -> Status {
    match status {
        StageStatus::Ok => Status::Good,
        StageStatus::NotRun => Status::Neutral,
        StageStatus::Refused | StageStatus::Truncated => Status::Caution,
        StageStatus::Empty
        | StageStatus::Unparseable
        | StageStatus::ApiError
        | StageStatus::UnsupportedOffline => Status::Bad,
    }
}

pub(super) fn judges(report: &RunReport) -> Option<Section> {
    let judges = &report.statistics.judges;
    let panel = &judges.semantic;
    if panel.per_judge.is_empty() {
        return None;
    }
    let mut section = Section::new("Judges").anchor("judges");
    if let Some(alpha) = panel.alpha {
        section = section.text(format!(
            "Over {} the judges agree with a Krippendorff alpha of {alpha:.2} (1 is agreement, 0 is chance).",
            counted(panel.units, "decoded text", "decoded texts")
        ));
    }
    let columns = ["Judge", "Samples", "Meaning / 40", "Rules / 5"];
    let rows = panel.per_judge.iter().map(|judge| {
        let mut rules = judges.implementability.per_judge.iter();
        let rules = rules.find(|other| other.model == judge.model);
        [
            Cell::text(&judge.model),
            judge.samples.into(),
            mean(&judge.points),
            rules.map_or(Cell::Missing, |rules| number(rules.points.mean, 1)),
        ]
    });
    section = section.table(Table::new("Judge bias", columns).rows(rows).limit(ROWS));
    let repeated = |judge: &&JudgeStatistics| judge.components.is_some();
    if panel.per_judge.iter().any(|judge| repeated(&judge)) {
        section = section.text("Standard deviations between repeats of the same text, in points of 40. A level without repeats has no number; its variation is part of the level above it.").table(spread(&panel.per_judge));
    }
    Some(section)
}

/// The sources of the spread of repeats.
fn spread(judges: &[JudgeStatistics]) -> Table {
    let columns = [
        "Judge",
        "Between encodings of a text",
        "Between decodings of an encoded text",
        "Between samples of the judge",
        "Texts used",
        "Texts with missing repeats",
    ];
    let rows = judges.iter().filter_map(|judge| {
        let components = judge.components?;
        let deviation = |variance: Option<f64>| number(variance.map(f64::sqrt), 2);
        Some([
            Cell::text(&judge.model),
            deviation(components.encode),
            deviation(components.decode),
            deviation(components.judge),
            judge.component_cases.into(),
            judge.incomplete_cases.into(),
        ])
    });
    Table::new("Sources of variation", columns)
        .rows(rows)
        .limit(ROWS)
}

fn lint(report: &RunReport) -> Option<Section> {
    let findings = || {
        let mut seen = BTreeSet::new();
        let encodings = report.encodings.iter().map(|encoding| {
            let crossed = encoding.crossed.as_ref();
            let id = crossed.map_or(&encoding.id, |crossed| &crossed.encoding);
            (id, &encoding.lint)
        });
        let encodings = encodings.filter(move |(id, _)| seen.insert(*id));
        encodings.flat_map(|(id, lint)| lint.findings.iter().map(move |finding| (id, finding)))
    };
    findings().next()?;
    let columns = ["Encoding system", "Line", "Code", "Finding", "Evidence"];
    let rows = findings().map(|(id, finding)| {
        [
            Cell::text(id),
            finding.line.into(),
            Cell::code(&finding.code),
            Cell::text(&finding.message),
            Cell::code(&finding.evidence),
        ]
    });
    let section = Section::new("Rule lint").anchor("lint");
    let section = section.text("Findings in the rules, before any run.");
    Some(section.table(Table::new("Findings", columns).rows(rows).limit(ROWS)))
}
