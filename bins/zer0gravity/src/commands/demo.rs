//! `zer0gravity demo`: the texts of all levels by the built-in rules, offline, and a page.

use std::io::Write as _;

use bin_support::demo::{DemoArgs, DemoResult};
use bin_support::{Exit, Failure, Session, output};
use zer0gravity_engine::dataset::{LEVELS, Level};
use zer0gravity_engine::plan::{Config, Costs, EncodingSystem, Plan, PlannedCase};
use zer0gravity_engine::report::{RunReport, page};
use zer0gravity_engine::run::{ChangedCalls, RunNotes};
use zer0gravity_engine::{DEFAULT_RULES, OfflineModel};

use crate::{model, ranking, run_dir, setup};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity demo
  zer0gravity demo --dir tour --json";

pub fn execute(args: &DemoArgs, session: &mut Session) -> Result<Exit, Failure> {
    let asked = model::offline();
    let encodings = vec![EncodingSystem::new("default", None, DEFAULT_RULES)];
    let cases = LEVELS.iter().flat_map(|level: &Level| {
        let planned = |case| PlannedCase::new(case).level(Some(level.number));
        level.cases().into_iter().map(planned)
    });
    let mut config = Config::new(asked.model_client.label(), OfflineModel::NAME);
    config.cost = Costs::Estimated;
    let plan = Plan::new(encodings, cases.collect(), config);
    let folder = args.make_folder()?;
    let directory = setup::begun(
        &folder,
        &plan,
        RunNotes::default(),
        &bin_support::model::ModelFlags::default(),
        &*asked.clock,
    )?;
    run_dir::tell(&folder, session);
    let report = run_dir::resume(&directory, &asked, ChangedCalls::Refuse, session)?;
    let file = folder.join("report.html");
    let html = page(&report).render()?;
    output::write_file(&file, |out| out.write_all(html.as_bytes()))?;
    let line = line(&report);
    let ranking = ranking::rows(&report, &session.results);
    let mut lines: Vec<String> = ranking.lines().map(str::to_owned).collect();
    lines.push(line.clone());
    let shown = bin_support::escape(&file.display().to_string());
    lines.push(format!("page: {shown}"));
    lines.push(format!(
        "next: zer0gravity status {}",
        run_dir::shell_word(&folder)
    ));
    DemoResult {
        lines,
        line,
        page: file,
    }
    .print(args, session)
}

/// Writes a line such as `offline: 56.2 of 100 on 4 texts (scripted, no model)`.
fn line(report: &RunReport) -> String {
    let totals: Vec<f64> = (report.results.iter())
        .filter_map(|result| result.total.map(f64::from))
        .collect();
    let mean = totals.iter().sum::<f64>() / totals.len().max(1) as f64;
    let texts = totals.len();
    format!("offline: {mean:.1} of 100 on {texts} texts (scripted, no model)")
}
