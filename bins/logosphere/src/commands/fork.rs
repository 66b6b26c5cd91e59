//! `fork`: continues a run from a call on, several times as it is and several times with changes.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process;
use std::thread::available_parallelism;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session, Table, escape};
use logosphere_core::RecordedReplies;
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::InterventionChange;
use logosphere_core::study::fork::{
    FollowedMessages, ForkFolder, ForkPlan, ForkPoint, ForkSummary, PointError, SharedPart, page,
    stopped,
};
use logosphere_core::study::{UnreadableRun, is_study_name};
use serde_json::Value;

use crate::changing::{ChangeFlags, ChangedRun, setting};
use crate::error::Error;
use crate::flags::ChangeableFlags;
use crate::folders;
use crate::forking::{ARMS, ForkRuns, RunOfArm, fork_failure};
use crate::journal_file::{does_not_hold, open};
use crate::many_runs::ManyRuns;
use crate::numbers::wrapped;
use crate::population::LEDGER;
use crate::running;
use crate::setup::{failure, shown};
use crate::study_folder::FORKS;

#[derive(Debug, clap::Args)]
pub struct ForkArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Point of the fork: before the first call of ROUND, or before the call of MIND in it.
    #[arg(long, value_name = "ROUND[.MIND]", value_parser = point)]
    pub at: ForkPoint,
    #[command(flatten)]
    pub changes: ChangeFlags,
    /// Change `k_samples`, `m_active_pool`, `token_limit`, `options.*` or `system_prompt`; again for further ones.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<(String, Value)>,
    /// Number of pairs of runs, each with other random numbers [default: 20].
    #[arg(long, value_name = "R", default_value_t = 20, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub replicates: u32,
    /// Number of rounds after the point [default: those that the run has left, at least 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Name of the folder in forks/ [default: that of the run with the point].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Runs at the same time [default: 1 with a model, the processors without].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Cap on the cost of all runs together in US dollars.
    #[arg(long, value_name = "USD")]
    pub max_usd: Option<llm_client::Usd>,
    /// Address of the server [default: that of the run].
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Table of prices that overrides the built-in one.
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

fn point(text: &str) -> Result<ForkPoint, String> {
    text.parse().map_err(|error: PointError| error.to_string())
}

pub fn execute(args: &ForkArgs, session: &mut Session) -> Result<Exit, Failure> {
    let path = folders::recorded(&args.run, session)?;
    let parent = Experiment::open(&path).map_err(failure)?;
    let journal = parent.journal();
    let control = running::control()?;
    logosphere_core::verify::verify(open(&path)?).map_err(|error| does_not_hold(&path, error))?;
    let shared = SharedPart::read(&parent, args.at).map_err(fork_failure)?;
    let state = &shared.run.state;
    let begun = parent.begun().map_err(failure)?;
    let last = begun.map_or(0, |run| run.state.settings().max_rounds);
    let left = last.saturating_sub(args.at.round.0 - 1);
    let rounds = args.rounds.unwrap_or(left).max(1);
    let max_rounds = (args.at.round.0 - 1).saturating_add(rounds);
    let mut flags = ChangeableFlags::default();
    flags.model.max_usd = args.max_usd;
    flags.model.base_url.clone_from(&args.base_url);
    flags.prices.clone_from(&args.prices);
    let folder = Path::new(FORKS).join(name(args, &path)?);
    let runs = ManyRuns::new(flags, control, folder.join(LEDGER), None)?;
    let mut plan = ForkPlan::new(&path, &shared, args.at, max_rounds, args.replicates);
    let context = runs.context();
    let changed = ChangedRun::new(state, &journal, &runs.flags, &context);
    (plan.changes, _) = changed.make(&args.changes, &args.set, session)?;
    let folder = ForkFolder::planned(&folder);
    ForkRuns::check(&folder, &plan, &shared)?;
    let _lock = folder.lock(process::id()).map_err(failure)?;
    folder.take(&plan).map_err(fork_failure)?;
    let recorded =
        RecordedReplies::read(open(&path)?).map_err(|error| does_not_hold(&path, error.into()))?;
    let fork = ForkRuns {
        folder: &folder,
        plan: &plan,
        parent: &parent,
        shared: &shared,
        recorded: &recorded,
        runs: &runs,
    };
    let all = (0..args.replicates)
        .flat_map(|replicate| ARMS.map(|arm| RunOfArm { arm, replicate }))
        .collect();
    session.status(&format!("writing to {}", shown(folder.path())));
    let calls = u64::from(rounds) * u64::from(state.settings().n_minds);
    session.status(&format!(
        "{} runs of up to {calls} calls",
        2 * args.replicates
    ));
    let is_offline = state.settings().is_offline();
    let jobs = args
        .jobs
        .map_or_else(|| jobs(is_offline), NonZeroUsize::get);
    let open = |run: &RunOfArm| fork.open(*run, session);
    let end = runs.make(all, jobs, session, |run| fork.name(*run), open)?;
    end.report(session);
    if runs.control.cancel.is_cancelled() {
        session.warn("stopped; continue with the same command");
        return Ok(Exit::Interrupted);
    }
    let read = fork.read();
    let followed = followed(&plan);
    let seed = shared.run.state.settings().seed;
    let mut summary = ForkSummary::of(&read.replicates, args.at, &followed, seed);
    (summary.stopped, summary.unreadable) = (stopped(&read.stopped), read.unreadable);
    let json = serde_json::to_vec_pretty(&summary)?;
    let html = page(&summary, is_offline).render()?;
    folder.write("summary.json", &json).map_err(failure)?;
    folder
        .write("report.html", html.as_bytes())
        .map_err(failure)?;
    if args.json {
        session.results.json(&summary)?;
    } else {
        let text = printed(&summary, session);
        session.results.write_all(text.as_bytes())?;
    }
    let unreadable = &summary.unreadable;
    end.report_unreadable(unreadable, folder.path(), "fork", session);
    if unreadable.is_empty() {
        Ok(end.exit())
    } else {
        Ok(Exit::Failed)
    }
}

fn jobs(is_offline: bool) -> usize {
    if is_offline {
        available_parallelism().map_or(1, usize::from)
    } else {
        1
    }
}

/// Returns the name of the folder.
fn name(args: &ForkArgs, path: &Path) -> Result<String, Failure> {
    if let Some(name) = &args.name {
        if !is_study_name(name) {
            let name = name.clone();
            return Err(Failure::usage(Error::StudyName { name }));
        }
        return Ok(name.clone());
    }
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let run = whole.file_name().map(|name| name.to_string_lossy());
    Ok(format!("{}-at-{}", run.unwrap_or_default(), args.at))
}

/// Returns the messages that the fork puts in and takes out.
fn followed(plan: &ForkPlan) -> FollowedMessages {
    let mut followed = FollowedMessages::default();
    for change in &plan.changes {
        match change {
            InterventionChange::Inject { added_ids, .. } => followed.injected.extend(added_ids),
            InterventionChange::Ablate { ids } => followed.ablated.extend(ids),
            _ => {}
        }
    }
    followed
}

/// The result as text: messages that were followed, then the differences of the means over the rounds.
fn printed(summary: &ForkSummary, session: &Session) -> String {
    let mut text = String::new();
    for notice in summary.notice.iter().chain(&summary.stopped) {
        text.push_str(notice);
        text.push('\n');
    }
    if !summary.followed.is_empty() {
        let columns = ["message", "arm", "descendants", "share", "95 %", "text"];
        let mut table = Table::new(columns.map(str::to_owned));
        for message in &summary.followed {
            let [share, low, high] = message.share;
            let start: String = message.text.chars().take(40).collect();
            table.row([
                message.id.to_string(),
                message.arm.to_owned(),
                format!("{:.1}", message.descendants),
                format!("{share:.3}"),
                format!("{low:.3} to {high:.3}"),
                escape(&start),
            ]);
        }
        text.push_str(&table.text(&session.results));
        text.push('\n');
    }
    let all = session.verbosity() > 0;
    let columns = [
        "measure",
        "part",
        "n",
        "control",
        "treated",
        "difference",
        "95 %",
        "p",
    ];
    let mut table = Table::new(columns.map(str::to_owned));
    for row in summary
        .differences
        .iter()
        .filter(|row| all || row.part == "rounds")
    {
        table.row([
            row.measure.clone(),
            row.part.to_owned(),
            row.replicates.to_string(),
            format!("{:.3}", row.control),
            format!("{:.3}", row.treated),
            format!("{:+.3}", row.mean),
            format!("{:.3} to {:.3}", row.low, row.high),
            row.p_holm
                .map_or_else(|| "-".to_owned(), |p| format!("{p:.2}")),
        ]);
    }
    text.push_str(&table.text(&session.results));
    for UnreadableRun { run, reason, .. } in &summary.unreadable {
        let line = format!("{run} cannot be read: {}", escape(reason));
        text.push('\n');
        text.push_str(&wrapped(&line, session.results.width()));
    }
    text
}
