//! `zer0gravity status`: the state of a run, also while another process works on it.

use std::io::Write as _;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Output, Session, escape};
use llm_client::batch::Progress;
use serde::Serialize;
use zer0gravity_engine::run::RunDirectory;

use crate::live::{LiveRun, Phase};
use crate::output::{self, Versioned};
use crate::run_dir::{self, Continued};
use crate::setup;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity status
  zer0gravity status matrix --json";

#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Print the status as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The state of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunStatus {
    run: String,
    status: Phase,
    frozen_at: String,
    provider: String,
    /// The first encoder model.
    model: String,
    /// All encoder and decoder models, if there are several pairs of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    models: Vec<String>,
    offline: bool,
    experiments: usize,
    scored: usize,
    failed: usize,
    not_run: usize,
    /// The mean total of the scored experiments.
    mean_total: Option<f64>,
    cap: Option<String>,
}

pub fn execute(args: &StatusArgs, session: &mut Session) -> Result<Exit, Failure> {
    let folder = run_dir::folder(&args.run, session)?;
    let live = LiveRun::open(&folder)?;
    let (phase, report) = bin_support::block_on(live.read())??;
    let plan = live.view().plan();
    let not_run = report.results.iter().filter(|one| one.outcome.is_stopped());
    let not_run = not_run.count();
    let scored = report
        .results
        .iter()
        .filter(|one| one.outcome.is_ok())
        .count();
    let totals = report
        .results
        .iter()
        .filter_map(|one| one.total)
        .map(f64::from);
    let (count, sum) = totals.fold((0_u32, 0.0), |(count, sum), total| (count + 1, sum + total));
    let status = RunStatus {
        run: folder.display().to_string(),
        status: phase,
        frozen_at: live.view().frozen_at().to_owned(),
        provider: plan.config.label.provider.clone(),
        model: plan.config.models.encoder.clone(),
        models: setup::crossed_models(&plan.config),
        offline: plan.config.label.offline,
        experiments: report.results.len(),
        scored,
        failed: report.results.len() - scored - not_run,
        not_run,
        mean_total: (count > 0).then(|| (sum / f64::from(count) * 10.0).round() / 10.0),
        cap: live.view().cap().map(|cap| cap.to_string()),
    };
    if args.json {
        output::json(Output::Stdout, &Versioned::new(&status), session)?;
        return Ok(Exit::Done);
    }
    let mean = status.mean_total;
    let mean = mean.map_or_else(String::new, |mean| format!("; mean total {mean:.1} of 100"));
    let RunStatus {
        experiments,
        scored,
        failed,
        not_run,
        ..
    } = &status;
    let who = if status.offline {
        "offline (scripted, no model)".to_owned()
    } else {
        let models = match status.models.as_slice() {
            [] => status.model.clone(),
            models => models.join(", "),
        };
        escape(&format!("{} {models}", status.provider))
    };
    let batches = match phase {
        Phase::Finished => None,
        _ => Progress::read(&RunDirectory::spool_in(&folder)).map_err(Failure::usage)?,
    };
    let batches = batches.map_or_else(String::new, |progress| {
        let under_way = progress.batches;
        format!("{progress}, batches under way: {under_way}\n")
    });
    let next = match phase {
        Phase::Running => String::new(),
        Phase::Finished => format!(
            "report: zer0gravity report {}\n",
            run_dir::shell_word(&folder)
        ),
        Phase::Stopped => {
            let line = Continued::Run.line(&folder, Some(&plan.config), None);
            format!("continue with: {line}\n")
        }
    };
    write!(
        session.results,
        "{}: {scored} of {experiments} scored, {failed} failed, {not_run} not run{mean}\n\
         run {}, begun {}, {who}\n{batches}{next}",
        phase.as_str(),
        escape(&status.run),
        escape(&status.frozen_at),
    )?;
    Ok(Exit::Done)
}
