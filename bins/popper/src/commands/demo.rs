//! The command `popper demo`: laws of the built-in universe decided, and a discovery run with its page.

use std::sync::Arc;

use bin_support::demo::{DemoArgs, DemoResult};
use bin_support::{Exit, Failure, Session, escape};
use llm_client::SystemClock;
use popper_discovery::report::{DiscoveryReport, page};
use popper_discovery::status::RunStatus;
use popper_discovery::{Discovery, EnumerativeProposer, LoopConfig, RunSelector, Unobserved};
use popper_harness::decide::{Config, Harness, Status};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::KineticGrid;
use popper_store::{Access, Database};

use crate::discovery::database::failure;
use crate::flags::DEFAULT_ITERATIONS;
use crate::location::StoreLocation;
use crate::table::{VerdictTable, summary};
use crate::{input, stated, trace};

/// The laws that are decided: each file has laws of one verdict.
const LAWS: [&str; 3] = [
    include_str!("demo/true.json"),
    include_str!("demo/false.json"),
    include_str!("demo/unknown.json"),
];

/// A law that is proved, and one that is refuted.
const SHOWN: [&str; 2] = ["count('>') + count('X')", "count('X')"];

pub async fn execute(args: &DemoArgs, session: &mut Session) -> Result<Exit, Failure> {
    let harness = Harness::new(KineticGrid, Config::default())?;
    let mut shown = VerdictTable::new(false);
    for expr in SHOWN {
        let law = stated::conserved(expr)?;
        let verdict = harness.evaluate(&law);
        let found = verdict.counterexample.as_ref();
        let rows = found.map(|found| trace::rows(found, law.template(), harness.universe()));
        shown.add(&verdict, law.claim(), rows.unwrap_or_default());
    }
    let decided = decide(&harness)?;

    let folder = args.make_folder()?;
    session.status(&format!("writing to {}", input::name(&folder)));
    let database = StoreLocation::File(folder.join("popper.db"));
    let page = folder.join("report.html");
    let tested = discover(harness, &folder, &page).await?;
    let line = format!("{decided}; discovery: {tested} tested");
    let mut lines: Vec<String> = shown
        .text(&session.results)
        .lines()
        .map(str::to_owned)
        .collect();
    lines.push(line.clone());
    lines.push(format!("page: {}", input::name(&page)));
    if let Some((flag, value)) = database.flag() {
        lines.push(format!(
            "next: popper status {flag} {}",
            escape(&input::quoted(&value))
        ));
    }
    DemoResult { lines, line, page }.print(args, session)
}

/// Returns the number of laws with each verdict.
fn decide(harness: &Harness) -> Result<String, Failure> {
    let mut counts = [0; 3];
    for text in LAWS {
        for law in Law::read_all(text, Extensions::default())? {
            counts[match harness.evaluate(&law?).status {
                Status::Pass => 0,
                Status::Fail => 1,
                Status::Unknown => 2,
            }] += 1;
        }
    }
    Ok(summary(counts))
}

/// Makes a run that proposes laws itself, and its page; returns the number of tested laws.
async fn discover(
    harness: Harness,
    folder: &std::path::Path,
    target: &std::path::Path,
) -> Result<u64, Failure> {
    let store = Database::open(&folder.join("popper.db"), Access::Write).await;
    let proposer = EnumerativeProposer::new(harness.config().seed);
    let discovery = Discovery::open(
        store.map_err(failure)?,
        harness,
        LoopConfig::default(),
        EnumerativeProposer::ID,
        Arc::new(SystemClock::new()),
        RunSelector::Latest,
    );
    let mut discovery = discovery.await.map_err(failure)?;
    let mut unobserved = Unobserved;
    let ended = discovery.run_to(DEFAULT_ITERATIONS, &proposer, &mut unobserved);
    ended.await.map_err(failure)?;
    let run = discovery.run().clone();
    let mut store = discovery.into_store();
    let report = DiscoveryReport::gather(&mut store, &run).await;
    let html = page(&report.map_err(failure)?).render()?;
    bin_support::output::write_file(target, |out| {
        std::io::Write::write_all(out, html.as_bytes())
    })?;
    let status = RunStatus::read(&mut store, &run).await.map_err(failure)?;
    store.close().await.map_err(failure)?;
    Ok(status.verdicts.iter().map(|one| one.laws).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_laws_are_those_of_the_fixtures() {
        for (name, laws) in ["true", "false", "unknown"].iter().zip(LAWS) {
            let path = test_support::fixture(format!("popper/laws/{name}.json"));
            assert_eq!(std::fs::read_to_string(path).unwrap(), laws, "{name}");
        }
    }
}
