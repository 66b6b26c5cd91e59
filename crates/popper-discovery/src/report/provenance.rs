//! The last section: ids, hashes, versions, settings, and the commands that check the run.

use report_kit::{Cell, Section, Table};

use super::cells::{ROWS, name};
use super::discovery_report::DiscoveryReport;

pub(super) fn section(report: &DiscoveryReport) -> Section {
    let run = report.run.id;
    let rows =
        (report.laws.iter()).map(|law| [Cell::text(name(law)), Cell::code(&law.law_fingerprint)]);
    let fingerprints = Table::new("Fingerprints", ["Law", "SHA-256 of its normal form"]);
    Section::new("Provenance")
        .anchor("provenance")
        .facts(facts(report))
        .command("Writes this page", format!("popper report {run}"))
        .command("Writes the rows", format!("popper export {run}"))
        .command(
            "Decides a law again",
            format!("popper retest FINGERPRINT {run}"),
        )
        .text("A database in another place than experiments/popper/popper.db is named with --db.")
        .table(fingerprints.rows(rows).limit(ROWS))
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
        ("Invalid proposals", report.invalid.into()),
        ("Model", named(models)),
        ("Calls", calls.count.into()),
        ("Tokens in", tokens(calls.input_tokens)),
        ("Tokens out", tokens(calls.output_tokens)),
        ("Cost", cost),
        ("Program that began it", Cell::text(&config.version)),
        ("Program that wrote this", env!("CARGO_PKG_VERSION").into()),
        ("Universe", Cell::text(&run.universe_id)),
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
