//! Every text, with its encoded and its decoded form.

use std::collections::{BTreeMap, HashMap};

use report_kit::{Cell, Section, Status, Table, TextDiff};
use serde_json::Value;

use super::own;
use super::signals::weight;
use super::{HEADING, PREVIEW, ROWS, TOLD, counted, mean, number, shortened};
use crate::ExperimentResult;
use crate::judge::flags::Severity;
use crate::report::grouped::total;
use crate::report::{CaseStatistics, RunReport};
use crate::result::{AtomFinding, AtomMetrics, AtomText, JudgeRecord, ProceduralStatus};

/// The experiments that are shown in full: where there are too many, first those that need a look, then one of each text
/// and encoding, then the rest.
pub(super) struct ExperimentView {
    /// The cases, each with its results, in the order of the results.
    cases: Vec<(usize, Vec<usize>)>,
    /// Whether each result is among them.
    told: Vec<bool>,
}

impl ExperimentView {
    pub(super) fn of(report: &RunReport) -> Self {
        let results = &report.results;
        let mut order: Vec<usize> = (0..results.len()).collect();
        let urgent = |result: &ExperimentResult| {
            let critical = |flag: &crate::judge::flags::Flag| flag.severity == Severity::Critical;
            result.flags.iter().any(critical) || !result.outcome.is_ok()
        };
        if order.len() > TOLD {
            order.sort_by_key(|index| (results[*index].trial, results[*index].decode));
            let (mut kept, rest): (Vec<usize>, Vec<usize>) =
                (order.into_iter()).partition(|index| urgent(&results[*index]));
            // What needs a look may be everything: half of the places stay for the rest, as far as there is any.
            kept.truncate(TOLD - rest.len().min(TOLD / 2));
            let places = TOLD - kept.len();
            kept.extend(rest.into_iter().take(places));
            kept.sort_unstable();
            order = kept;
        }
        let mut told = vec![false; results.len()];
        let mut places = HashMap::new();
        let mut cases: Vec<(usize, Vec<usize>)> = Vec::new();
        for index in order {
            told[index] = true;
            let case = results[index].test_case_id.as_str();
            let place = *places.entry(case).or_insert_with(|| {
                cases.push((index, Vec::new()));
                cases.len() - 1
            });
            cases[place].1.push(index);
        }
        Self { cases, told }
    }

    /// The name of a result's text, as a link if the experiment is shown.
    pub(super) fn link(&self, report: &RunReport, index: usize) -> Cell {
        let case = &report.results[index].test_case_id;
        if self.told[index] {
            Cell::link(case, anchor(index))
        } else {
            Cell::text(case)
        }
    }
}

fn anchor(index: usize) -> String {
    format!("result-{index}")
}

/// The texts by their totals, lowest first: what goes wrong is seen first.
pub(super) fn texts(report: &RunReport, told: &ExperimentView) -> Option<Section> {
    let mut cases: Vec<&CaseStatistics> = report.statistics.per_case.iter().collect();
    if cases.is_empty() {
        return None;
    }
    let total = |case: &CaseStatistics| case.total.mean.unwrap_or(f64::NEG_INFINITY);
    cases.sort_by(|a, b| total(a).total_cmp(&total(b)));
    let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (index, result) in report.results.iter().enumerate() {
        first
            .entry((&result.encoding_id, &result.test_case_id))
            .or_insert(index);
    }
    let columns = [
        "Text",
        "Beginning",
        "Encoding system",
        "Total / 100",
        "Meaning / 40",
        "Saved, %",
        "Tokens",
        "Scored",
    ];
    let rows = cases.iter().filter_map(|case| {
        let index = *first.get(&(case.encoding_id.as_str(), case.test_case_id.as_str()))?;
        Some([
            told.link(report, index),
            Cell::text(shortened(&report.results[index].original_text, PREVIEW)),
            Cell::text(&case.encoding_id),
            mean(&case.total),
            number(case.semantic_preservation.mean, 1),
            number(case.compression_percent.mean, 1),
            number(case.original_tokens, 0),
            Cell::text(format!("{} of {}", case.scored, case.items)),
        ])
    });
    let table = Table::new(
        "Every text with every encoding system, lowest total first",
        columns,
    );
    let section = Section::new("Texts").anchor("texts");
    Some(section.table(table.rows(rows).limit(ROWS)))
}

/// The difference of each text from its decoded form, letter by letter.
pub(super) fn section(report: &RunReport, told: &ExperimentView) -> Option<Section> {
    if told.cases.is_empty() {
        return None;
    }
    let mut section = Section::new("Texts side by side")
        .anchor("experiments")
        .folded();
    let shown: usize = told.cases.iter().map(|(_, items)| items.len()).sum();
    if shown < report.results.len() {
        section = section.text(format!(
            "{shown} of {} are shown: failed ones and those with a critical flag (at most half), then one of each text and encoding system. The data of this page has the others.",
            counted(report.results.len(), "experiment", "experiments")
        ));
    }
    for (first, items) in &told.cases {
        let first = &report.results[*first];
        let title = format!(
            "{}: {}",
            first.test_case_id,
            shortened(&first.original_text, HEADING)
        );
        let case = Section::new(title)
            .folded()
            .code("Original", &*first.original_text);
        section = section.section(items.iter().fold(case, |case, index| {
            case.section(experiment(&report.results[*index], *index))
        }));
    }
    Some(section)
}

fn experiment(result: &ExperimentResult, index: usize) -> Section {
    let points = match (total(result), result.partial_total) {
        (Some(total), _) => format!("{total} of 100"),
        (None, Some(partial)) => format!("{} of {}", partial.points, partial.of),
        (None, None) => result.outcome.status.to_string(),
    };
    let repeat = match (result.trial, result.decode) {
        (1, 1) => String::new(),
        (trial, 1) => format!(", trial {trial}"),
        (trial, decode) => format!(", trial {trial}, decoding {decode}"),
    };
    let title = format!("{}{repeat}: {points}", result.encoding_id);
    let mut section = Section::new(title)
        .anchor(anchor(index))
        .facts(facts(result));
    if let Some(error) = &result.error {
        section = section.notice(Status::Bad, error);
    }
    if let Some(encoded) = &result.encoded_text {
        section = section.code("Encoded text", encoded);
    }
    match &result.decoded_text {
        Some(decoded) if **decoded == *result.original_text => {
            section.text("The decoded text equals the original.")
        }
        Some(decoded) => {
            let title = "Original and decoded text";
            let diff = TextDiff::words(title, &*result.original_text, decoded)
                .named("the original", "the decoded text");
            section.diff(underlined(diff, result))
        }
        None => section,
    }
}

/// Underlines the commitments that differ.
fn underlined(diff: TextDiff, result: &ExperimentResult) -> TextDiff {
    let atoms = result.metrics.as_ref().and_then(|it| it.atoms.as_ref());
    let Some(atoms) = atoms.filter(|atoms| !atoms.findings.is_empty()) else {
        return diff;
    };
    let spans = |side: fn(&AtomFinding) -> &Option<AtomText>| {
        let texts = atoms
            .findings
            .iter()
            .filter_map(|finding| side(finding).as_ref());
        texts.map(|text| text.span[0]..text.span[1]).collect()
    };
    let (old, new) = (spans(|it| &it.original), spans(|it| &it.decoded));
    diff.marked("a commitment that differs", old, new)
}

fn facts(result: &ExperimentResult) -> Vec<(&'static str, Cell)> {
    let mut facts = Vec::new();
    if let Some(scores) = result.scores {
        let of = |points: u8, all: u8| Cell::text(format!("{points} of {all}"));
        let judged = |points: u8, all: u8, record: &Option<JudgeRecord>| {
            let notes = record.as_ref().map(JudgeRecord::notes).unwrap_or_default();
            let notes = notes
                .into_iter()
                .map(|note| Cell::badge(note, Status::Caution));
            Cell::Several([of(points, all)].into_iter().chain(notes).collect())
        };
        let (details, semantic) = (&result.details, scores.semantic_preservation);
        facts.extend([
            ("Saved tokens", of(scores.token_efficiency, 40)),
            ("Meaning", judged(semantic, 40, &details.semantic_judge)),
            ("Learnability", of(scores.learnability, 15)),
        ]);
        let rules = scores.implementability.map_or_else(
            || Cell::text("not judged: no rules were given"),
            |rules| judged(rules, 5, &details.implementability_judge),
        );
        facts.push(("Rules", rules));
    }
    if let (Some(original), Some(encoded)) = (result.original_tokens, result.encoded_tokens) {
        facts.push(("Tokens", Cell::text(format!("{original} → {encoded}"))));
        let saved = number(result.details.compression_percent, 1);
        facts.push(("Compression, %", saved));
    }
    if let Some(metrics) = &result.metrics {
        facts.push(("chrF++ (letters)", Cell::number(metrics.chrf_pp, 1)));
        facts.push(("ROUGE-L (words)", Cell::number(metrics.rouge_l, 2)));
        if let Some(atoms) = &metrics.atoms {
            facts.push(("Commitments", Cell::text(commitments(atoms))));
        }
    }
    let (procedural, tone) = match result.procedural.status {
        ProceduralStatus::Pass => ("gives the expected result", Status::Good),
        ProceduralStatus::Fail => ("gives another result", Status::Bad),
        ProceduralStatus::Undetermined => ("gave no result", Status::Caution),
        ProceduralStatus::NotRun => ("", Status::Neutral),
    };
    if !procedural.is_empty() {
        let answer = (result.procedural.answer.as_ref()).map_or(Cell::Missing, Cell::code);
        let badge = Cell::badge(procedural, tone);
        facts.push(("Decoded instruction", Cell::Several(vec![badge, answer])));
    }
    if !result.own_scores.is_empty() {
        let own = result.own_scores.iter().map(own::fact).collect();
        facts.push(("Own measures", Cell::Several(own)));
    }
    if !result.flags.is_empty() {
        let flags = result.flags.iter().flat_map(|flag| {
            let id = super::signals::name(flag.id);
            [
                weight(flag.severity),
                Cell::text(format!("{id}: {}", flag.evidence)),
            ]
        });
        facts.push(("Flags", Cell::Several(flags.collect())));
    }
    if let Some(words) = reason(result.details.semantic_reasoning.as_ref()) {
        facts.push(("Judge's reasoning", Cell::text(words)));
    }
    facts
}

/// The kept share of commitments, and each difference.
fn commitments(atoms: &AtomMetrics) -> String {
    let recall = match atoms.critical_recall {
        Some(recall) => format!("{:.1} % of the critical ones kept", 100.0 * recall),
        None if atoms.truncated => "not compared one by one: a text is too long".to_owned(),
        None => "none that are critical".to_owned(),
    };
    let language = (atoms.language == "unsupported")
        .then(|| "not English: only identifiers, numbers and dates in digits".to_owned());
    let findings = atoms.findings.iter().map(|finding| {
        let texts = [&finding.original, &finding.decoded].into_iter().flatten();
        let texts: Vec<_> = texts.map(|it| it.text.as_str()).collect();
        let noted = if finding.critical { "" } else { " (noted)" };
        format!(
            "{} {}: {}{noted}",
            finding.kind,
            finding.change,
            texts.join(" → ")
        )
    });
    let all: Vec<_> = std::iter::once(recall)
        .chain(language)
        .chain(findings)
        .collect();
    all.join("; ")
}

/// The reason of a judge, as text.
fn reason(value: Option<&Value>) -> Option<String> {
    let words = match value? {
        Value::Null => String::new(),
        Value::String(words) => words.clone(),
        other => other.to_string(),
    };
    (!words.trim().is_empty()).then_some(words)
}
