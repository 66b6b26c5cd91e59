//! Tables of verdicts for people: one line a law.

use comfy_table::{Table, presets};
use popper_harness::counterexample::Counterexample;
use popper_harness::decide::{Status, Strength, Verdict};

use crate::expect::{Difference, word};
use bin_support::{Results, escape, shortened};

/// The longest name, claim and state that fit into a line of a terminal, in characters, and the longest name or claim anywhere.
const NAME: usize = 40;
const CLAIM: usize = 60;
const STATE: usize = 30;
const LONGEST: usize = 200;

/// The columns of a table and their widths.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Whether names and claims are cut to fit a terminal; a file gets up to 200 characters.
    cut: bool,
    /// Whether there is a column for the claim.
    claims: bool,
}

impl Layout {
    pub fn of(results: &Results, claims: bool) -> Self {
        Self {
            cut: results.is_terminal(),
            claims,
        }
    }
}

/// A text in one line of a table.
fn fitted(text: &str, limit: usize, cut: bool) -> String {
    shortened(text, if cut { limit } else { LONGEST })
}

/// The table of the verdicts, with the notes that do not fit into it.
pub struct VerdictTable {
    layout: Layout,
    table: Table,
    notes: Vec<String>,
    counts: [usize; 3],
}

impl VerdictTable {
    pub fn new(layout: Layout) -> Self {
        let claim = layout.claims.then_some("claim");
        let rest = ["verdict", "reason", "evidence", "counterexample"];
        Self {
            layout,
            table: table(["law"].into_iter().chain(claim).chain(rest)),
            notes: Vec::new(),
            counts: [0; 3],
        }
    }

    pub fn add(&mut self, verdict: &Verdict, claim: &str) {
        let Layout { cut, claims } = self.layout;
        let name = fitted(&verdict.law_id, NAME, cut);
        for note in &verdict.notes {
            self.notes.push(format!("{name}: {}", escape(note)));
        }
        self.counts[match verdict.status {
            Status::Pass => 0,
            Status::Fail => 1,
            Status::Unknown => 2,
        }] += 1;
        let claim = claims.then(|| fitted(claim, CLAIM, cut));
        let reason = verdict.reason_code.as_ref().map(word);
        let found = verdict.counterexample.as_ref().map(counterexample);
        let rest = [
            word(&verdict.status),
            reason.unwrap_or_default(),
            evidence(verdict),
            found.unwrap_or_default(),
        ];
        self.table
            .add_row([name].into_iter().chain(claim).chain(rest));
    }

    /// The table and the notes.
    pub fn table(&self) -> String {
        let mut text = self.table.trim_fmt();
        text.push('\n');
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            text.push_str(note);
            text.push('\n');
        }
        text
    }

    /// The lines of the report: the table, the notes, and a summary.
    pub fn lines(&self, broken: usize) -> String {
        let mut text = self.table();
        text.push('\n');
        text.push_str(&summary(self.counts, broken));
        text.push('\n');
        text
    }
}

fn summary([pass, fail, unknown]: [usize; 3], broken: usize) -> String {
    let laws = pass + fail + unknown;
    let noun = if laws == 1 { "law" } else { "laws" };
    let mut line = format!("{laws} {noun}: {pass} PASS, {fail} FAIL, {unknown} UNKNOWN");
    if broken > 0 {
        line.push_str("; what could not be read is named on stderr");
    }
    line
}

/// The table of the differences from the expectations.
pub fn differences(differences: &[Difference], cut: bool) -> String {
    let mut table = table(["law", "key", "expected", "found"]);
    for difference in differences {
        table.add_row([
            &fitted(&difference.law, NAME, cut),
            difference.key,
            &difference.expected,
            &difference.found,
        ]);
    }
    table.trim_fmt()
}

/// Plain columns of fixed order, the same in a terminal and in a file.
fn table<'a>(header: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    table
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
        (Some(Strength::Proved), ..) => "proved for every N".to_owned(),
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
    let state = shortened(&found.initial_state, STATE);
    let rank = if found.minimal { ", smallest" } else { "" };
    format!(
        "{state} (N = {}, t = {}{rank})",
        found.config.n, found.t_fail
    )
}
