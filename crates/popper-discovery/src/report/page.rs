//! The report as a page: its head, the table of verdicts, and the order of all sections.

use popper_harness::decide::{Status, Strength};
use report_kit::{Cell, Page, Section, Status as BadgeStatus, Table};

use super::cells::{ROWS, SHOWN, anchor, badge, counted, evidence, name, short, shortened};
use super::discovery_report::{DiscoveryReport, Judged, Refutation};
use super::{accepted, curve, gather, progress, refuted};
use crate::enumerative::EnumerativeProposer;
use crate::store::IterationStatus;

/// The longest claim in a table, in characters.
const CLAIM: usize = 300;

/// Returns the page of a run.
///
/// Text of a proposer is escaped text on the page. The page embeds the whole report as JSON with the name `report`.
pub fn page(report: &DiscoveryReport) -> Page {
    let mut page = Page::new(format!("Laws of {}", report.run.universe_id)).lead(lead(report));
    for (tone, notice) in notices(report) {
        page = page.notice(tone, notice);
    }
    if let Some(diagram) = refuted::smallest(report) {
        page = page.grid(diagram);
    }
    page.section(verdicts(report))
        .section(refuted::section(report))
        .section(accepted::section(report))
        .section(accepted::power(report))
        .section(curve::discovery(report))
        .section(curve::recall(report))
        .section(progress::undecided(report))
        .section(progress::rejected(report))
        .section(progress::iterations(report))
        .section(progress::log(report))
        .section(progress::ranking(report))
        .provenance(
            Section::new("Provenance")
                .anchor("provenance")
                .facts(facts(report)),
        )
        .data("report", report)
}

fn lead(report: &DiscoveryReport) -> String {
    let verdicts = &report.verdicts;
    let completed = report
        .iterations
        .iter()
        .filter(|turn| turn.status == IterationStatus::Completed)
        .count() as u64;
    let proposer = &report.run.discovery_model_id;
    let proposer = if proposer == EnumerativeProposer::ID {
        "The enumerative proposer".to_owned()
    } else {
        format!("The proposer {proposer}")
    };
    let proved = (report.laws.iter())
        .filter(|law| law.status == Status::Pass)
        .filter(|law| law.evidence.strength == Some(Strength::Proved))
        .count();
    let tested = verdicts.pass + verdicts.fail + verdicts.unknown;
    format!(
        "{} tested: {} ({proved} proved for every ring size), {} refuted, {} undecided. {proposer} looked for laws of the universe {} in {}.",
        counted(tested, "law", "laws"),
        counted(verdicts.pass, "holds", "hold"),
        verdicts.fail,
        verdicts.unknown,
        report.run.universe_id,
        counted(completed, "complete iteration", "complete iterations"),
    )
}

fn notices(report: &DiscoveryReport) -> Vec<(BadgeStatus, String)> {
    let mut notices = Vec::new();
    if report.calls.count == 0 {
        let text = "Offline: no model was called. Every law comes from a program.";
        let text = if report.run.discovery_model_id == EnumerativeProposer::ID {
            text
        } else {
            "No call to a model is stored in this run."
        };
        notices.push((BadgeStatus::Info, text.to_owned()));
    }
    match report.iterations.last() {
        None => notices.push((BadgeStatus::Caution, "No iteration has begun.".into())),
        Some(turn) if turn.status == IterationStatus::Running => {
            let text = format!(
                "Iteration {} is running or was interrupted: this page shows the rows stored so far.",
                turn.index
            );
            notices.push((BadgeStatus::Caution, text));
        }
        Some(turn) if turn.status == IterationStatus::Aborted => {
            let text = format!(
                "Iteration {} was stopped: this page shows the rows stored so far.",
                turn.index
            );
            notices.push((BadgeStatus::Caution, text));
        }
        Some(_) => {}
    }
    let others = report.laws.iter().filter(|law| !law.own).count() as u64;
    if others > 0 {
        let text = format!(
            "{} known from another run in the same database and not decided again.",
            counted(others, "verdict was", "verdicts were")
        );
        notices.push((BadgeStatus::Info, text));
    }
    notices
}

fn facts(report: &DiscoveryReport) -> Vec<(&'static str, Cell)> {
    let (run, config, calls) = (&report.run, &report.config, &report.calls);
    let models = calls.models.iter().map(Cell::text).collect::<Vec<_>>();
    let tokens = |tokens: u64| match (calls.count, calls.uncounted) {
        (0, _) => Cell::Missing,
        (_, 0) => Cell::from(tokens),
        (_, silent) => Cell::text(format!("{tokens}, {silent} calls unknown")),
    };
    let cost = match (calls.count, calls.unpriced) {
        (0, _) => Cell::Missing,
        (_, 0) => Cell::text(dollars(calls.nano_usd)),
        (count, unknown) if count == unknown => Cell::text("unknown"),
        (_, unknown) => Cell::text(format!(
            "{}, {unknown} calls unknown",
            dollars(calls.nano_usd)
        )),
    };
    let named = |models: Vec<Cell>| match models.len() {
        0 => Cell::Missing,
        _ => Cell::Several(models),
    };
    vec![
        ("Run", run.id.into()),
        (
            "Begun",
            Cell::text(run.created_at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
        ),
        ("Proposer", Cell::text(&run.discovery_model_id)),
        ("Seed", config.harness.seed.into()),
        ("Proposals asked for (K)", config.discovery.propose.into()),
        ("Tests an iteration (M)", config.discovery.test.into()),
        ("Laws waiting", report.waiting.into()),
        ("Invalid proposals", report.rejected.len().into()),
        ("Model", named(models)),
        ("Calls", calls.count.into()),
        ("Tokens in", tokens(calls.input_tokens)),
        ("Tokens out", tokens(calls.output_tokens)),
        ("Cost", cost),
        ("Program that began it", Cell::text(&config.version)),
        ("Program that wrote this", env!("CARGO_PKG_VERSION").into()),
        ("Universe (sim hash)", Cell::code(&run.sim_hash)),
        ("Harness configuration", Cell::code(&run.harness_hash)),
    ]
}

/// Writes nano-dollars as dollars with six decimals.
fn dollars(nano_usd: i64) -> String {
    let sign = if nano_usd < 0 { "-" } else { "" };
    let nano = nano_usd.unsigned_abs();
    format!(
        "{sign}${}.{:06}",
        nano / 1_000_000_000,
        nano / 1000 % 1_000_000
    )
}

fn verdicts(report: &DiscoveryReport) -> Section {
    let columns = ["Law", "Claim", "Verdict", "Evidence", "Fingerprint"];
    let (mut told, mut drawn) = (0, 0);
    let rows = report.laws.iter().map(|law| {
        let shown = match law.status {
            Status::Pass => {
                told += 1;
                told <= SHOWN
            }
            Status::Fail => {
                drawn += 1;
                drawn <= gather::DRAWN
            }
            Status::Unknown => false,
        };
        [
            if shown {
                Cell::link(name(law), anchor(law))
            } else {
                Cell::text(name(law))
            },
            Cell::code(shortened(&law.wording.whole(), CLAIM)),
            badge(law.status),
            match &law.refutation {
                Some(refutation) => refuting(law, refutation, shown),
                None => evidence(law),
            },
            Cell::code(short(&law.law_fingerprint)),
        ]
    });
    Section::new("Verdicts")
        .anchor("verdicts")
        .text("In a claim, [t] after an observable is the step at which it is read. The evidence says how far a verdict reaches: proved for every ring size, exhausted up to a ring size, or sampled.")
        .table(Table::new("Laws with a verdict", columns).rows(rows).limit(ROWS))
}

/// Returns the size of a counterexample, with a link to its drawing if it is drawn.
fn refuting(law: &Judged, refutation: &Refutation, shown: bool) -> Cell {
    let cells = refutation.package.initial_state.chars().count();
    let words = format!(
        "counterexample of {}",
        counted(cells as u64, "cell", "cells")
    );
    let link = if shown {
        Cell::link(words, anchor(law))
    } else {
        Cell::text(words)
    };
    let minimal = refutation.package.minimal;
    let size = if minimal {
        "none is smaller"
    } else {
        "a smaller one may exist"
    };
    Cell::Several(vec![link, Cell::text(format!("({size})"))])
}
