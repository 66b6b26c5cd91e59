//! Names, verdicts and evidence of a law as the cells of a table.

use popper_harness::decide::{Status, Strength};
use report_kit::Cell;

use super::discovery_report::Judged;
use crate::discovery::status_text;

/// Rows of a table: more would make a page of many megabytes.
pub(super) const ROWS: usize = 500;
/// Accepted laws that are shown in full.
pub(super) const SHOWN: usize = 200;
/// Characters of a name and of a claim in a heading or a table.
const NAME: usize = 60;
const CLAIM: usize = 160;

/// "1 law", "3 laws".
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The anchor of a law on the page.
pub(super) fn anchor(law: &Judged) -> String {
    format!("law-{}", law.id)
}

/// The claim of a law in one line, for a heading or a table.
pub(super) fn claim(law: &Judged) -> String {
    // A line would be broken inside of an arrow of two characters.
    shortened(&law.wording.whole().replace("->", "→"), CLAIM)
}

/// The claim of a law with its name below, as a link to the part that shows the law if there is one.
pub(super) fn titled(law: &Judged, is_shown: bool) -> Cell {
    let claim = claim(law);
    let claim = if is_shown {
        Cell::link(claim, anchor(law))
    } else {
        Cell::text(claim)
    };
    claim.with_id(name(law))
}

/// The claim of a law, from its normal form and in the proposer's words.
pub(super) fn said(law: &Judged) -> Vec<(&'static str, Cell)> {
    let mut facts = vec![
        ("Name", Cell::text(name(law))),
        ("Claim", Cell::code(&law.wording.claim)),
        ("Claim, in the proposer's words", Cell::text(&law.claim)),
        (
            "Forbidden, in the proposer's words",
            Cell::text(&law.forbidden),
        ),
        ("Horizon", Cell::text(&law.wording.times)),
    ];
    if !law.wording.given.is_empty() {
        facts.push(("Given", Cell::code(law.wording.given.join(", "))));
    }
    facts
}

/// The name of a law: the proposer's, else its fingerprint.
pub(super) fn name(law: &Judged) -> String {
    match law.law_id.trim() {
        "" => short(&law.law_fingerprint),
        name => shortened(name, NAME),
    }
}

/// The first ten digits of a fingerprint.
pub(super) fn short(fingerprint: &str) -> String {
    fingerprint.chars().take(10).collect()
}

/// The beginning of a text.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

pub(super) fn badge(status: Status) -> Cell {
    let tone = match status {
        Status::Pass => report_kit::Status::Good,
        Status::Fail => report_kit::Status::Bad,
        Status::Unknown => report_kit::Status::Caution,
    };
    Cell::badge(status_text(status), tone)
}

/// The evidence of a verdict, or the reason of UNKNOWN.
pub(super) fn evidence(law: &Judged) -> Cell {
    match law.status {
        Status::Fail => Cell::text("a counterexample"),
        Status::Unknown => Cell::text(law.reason.clone().unwrap_or_default().replace('_', " ")),
        Status::Pass => {
            let (word, tone) = strength(law.evidence.strength);
            let badge = Cell::badge(word, tone);
            // Stored evidence writes the time as a letter.
            let scope = law.evidence.scope.replace("every t", "every step");
            Cell::Several(vec![badge, Cell::text(scope)])
        }
    }
}

fn strength(strength: Option<Strength>) -> (&'static str, report_kit::Status) {
    match strength {
        Some(Strength::Proved) => ("proved", report_kit::Status::Good),
        Some(Strength::Exhaustive) => ("exhausted", report_kit::Status::Info),
        Some(Strength::Sampled) => ("sampled", report_kit::Status::Neutral),
        None => ("none", report_kit::Status::Caution),
    }
}
