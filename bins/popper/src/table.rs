//! Tables of verdicts for people: one row a law.

use bin_support::{Cell, Results, Table, Tone, escape};
use popper_harness::counterexample::Counterexample;
use popper_harness::decide::{Status, Strength, Verdict};

use crate::expect::{Difference, word};

/// The verdicts as rows.
pub struct VerdictTable {
    /// Whether there is a column for the claim.
    claims: bool,
    rows: Vec<Row>,
    counts: [usize; 3],
}

struct Row {
    law: String,
    claim: String,
    status: Status,
    reason: String,
    /// The evidence, or the smallest counterexample, and the notes.
    evidence: String,
    /// The states of the counterexample, if they are wanted.
    trace: Vec<Cell>,
}

/// The columns; those for claims and reasons are not always there.
const COLUMNS: [&str; 5] = ["law", "claim", "verdict", "reason", "evidence"];

impl Row {
    fn texts(&self) -> [&str; 5] {
        let verdict = "UNKNOWN";
        [
            &self.law,
            &self.claim,
            verdict,
            &self.reason,
            &self.evidence,
        ]
    }
}

impl VerdictTable {
    pub fn new(claims: bool) -> Self {
        Self {
            claims,
            rows: Vec::new(),
            counts: [0; 3],
        }
    }

    pub fn add(&mut self, verdict: &Verdict, claim: &str, trace: Vec<Cell>) {
        self.counts[match verdict.status {
            Status::Pass => 0,
            Status::Fail => 1,
            Status::Unknown => 2,
        }] += 1;
        let found = verdict.counterexample.as_ref();
        let evidence = found.map_or_else(|| evidence(verdict), counterexample);
        let evidence = Some(evidence).filter(|words| !words.is_empty());
        let notes = verdict.notes.iter().map(|note| escape(note));
        self.rows.push(Row {
            law: escape(&verdict.law_id),
            claim: escape(claim),
            status: verdict.status,
            reason: verdict.reason_code.as_ref().map(word).unwrap_or_default(),
            evidence: evidence
                .into_iter()
                .chain(notes)
                .collect::<Vec<_>>()
                .join("; "),
            trace,
        });
    }

    /// The rows. Law, verdict and evidence explain themselves and have no header.
    pub fn text(&self, results: &Results) -> String {
        let has_reasons = self.rows.iter().any(|row| !row.reason.is_empty());
        let is_plain = !self.claims && !has_reasons;
        // Where the columns do not fit, the claim stands below the law.
        let is_narrow = results.width().is_some_and(|width| self.width() > width);
        let shown = [true, self.claims && !is_narrow, true, has_reasons, true];
        let only = |cells: [Cell; 5]| {
            let cells = cells.into_iter().zip(shown);
            cells.filter_map(|(cell, is_shown)| is_shown.then_some(cell))
        };
        let wrapped = self.longest(is_narrow);
        // A header of blanks takes no room, and its line is left out.
        let names = COLUMNS.map(|name| match is_plain {
            false => name,
            true if name == wrapped => " ",
            true => "",
        });
        let header = names.into_iter().zip(shown);
        let header = header.filter_map(|(name, is_shown)| is_shown.then_some(name));
        let mut table = Table::new(header).wrapping(if is_plain { " " } else { wrapped });
        for row in &self.rows {
            let [law, claim, _, reason, evidence] = row.texts().map(Cell::from);
            let verdict = Cell::toned(tone(row.status), word(&row.status));
            table.row(only([law, claim, verdict, reason, evidence]));
            if self.claims && is_narrow {
                table.row([format!("  {}", row.claim)]);
            }
            for state in &row.trace {
                let mut cells: [Cell; 5] = Default::default();
                cells[4] = state.clone();
                table.row(only(cells));
            }
        }
        let text = table.text(results);
        match text.split_once('\n') {
            Some((_, rows)) if is_plain => rows.to_owned(),
            _ => text,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The length of the longest text of each column.
    fn lengths(&self) -> [usize; 5] {
        let mut longest = [0; 5];
        for row in &self.rows {
            for (longest, text) in longest.iter_mut().zip(row.texts()) {
                *longest = text.chars().count().max(*longest);
            }
        }
        longest
    }

    /// The width of a line in which nothing is wrapped.
    fn width(&self) -> usize {
        let lengths = self.lengths().into_iter().zip(COLUMNS);
        let lengths = lengths.map(|(length, name)| length.max(name.len()) + 2);
        lengths.sum()
    }

    /// The column with the longest text, which a narrow terminal wraps; with claims below it that is the law.
    fn longest(&self, is_narrow: bool) -> &'static str {
        let [law, claim, .., evidence] = self.lengths();
        match (self.claims, is_narrow) {
            (true, true) => "law",
            (true, false) if claim > law.max(evidence) => "claim",
            _ if law > evidence => "law",
            _ => "evidence",
        }
    }

    /// The number of laws by verdict.
    pub fn summary(&self) -> String {
        summary(self.counts)
    }
}

/// The number of laws with each verdict, PASS first.
pub fn summary([pass, fail, unknown]: [usize; 3]) -> String {
    let laws = pass + fail + unknown;
    let noun = if laws == 1 { "law" } else { "laws" };
    format!("{laws} {noun}: {pass} PASS, {fail} FAIL, {unknown} UNKNOWN")
}

fn tone(status: Status) -> Tone {
    match status {
        Status::Pass => Tone::Good,
        Status::Fail => Tone::Bad,
        Status::Unknown => Tone::Unsure,
    }
}

/// The table of the differences from the expectations.
pub fn differences(differences: &[Difference], results: &Results) -> String {
    let mut table = Table::new(["law", "key", "expected", "found"]).wrapping("law");
    for difference in differences {
        let law = escape(&difference.law);
        table.row([
            &law,
            difference.key,
            &difference.expected,
            &difference.found,
        ]);
    }
    table.text(results)
}

/// The evidence in a few words: `evidence.scope` has the whole sentence.
fn evidence(verdict: &Verdict) -> String {
    let rings = &verdict.power.rings;
    let sampled = rings.iter().filter(|ring| ring.used > 0).map(|ring| ring.n);
    let exhausted = rings
        .iter()
        .filter(|ring| ring.exhausted)
        .map(|ring| ring.n);
    match (verdict.evidence.strength, sampled.max(), exhausted.max()) {
        (None, ..) | (_, None, _) => String::new(),
        (Some(Strength::Proved), ..) => "proved for every ring size".to_owned(),
        (Some(Strength::Exhaustive), ..) if verdict.evidence.complete => {
            "exhaustive, complete".to_owned()
        }
        (Some(Strength::Exhaustive), Some(sampled), Some(exhausted)) if exhausted < sampled => {
            format!("exhaustive to N = {exhausted}, sampled to {sampled}")
        }
        (Some(Strength::Exhaustive), Some(largest), _) => format!("exhaustive to N = {largest}"),
        (Some(Strength::Sampled), Some(largest), _) => format!("sampled to N = {largest}"),
    }
}

fn counterexample(found: &Counterexample) -> String {
    let state = escape(&found.initial_state);
    let rank = if found.minimal { " (smallest)" } else { "" };
    format!(
        "{state}  N = {}, t = {}{rank}",
        found.config.n, found.t_fail
    )
}
