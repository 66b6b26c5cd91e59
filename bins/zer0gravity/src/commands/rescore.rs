//! `zer0gravity rescore`: judges a run again; only judges are asked.

use std::path::{Path, PathBuf};

use bin_support::model::ModelFlags;
use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::prompts::PromptProfile;
use zer0gravity_engine::run::{RescoreOptions, Rescored, RunDirectory};
use zer0gravity_engine::{RunEvent, Runner};

use crate::ci::CiFlags;
use crate::flags::{BatchFlag, Checks, Judging, ScoringFlags};
use crate::run_dir::{self, Continued, RunOutput};
use crate::{error, experiment, model, setup};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity rescore
  zer0gravity rescore matrix --prompt-profile bands";

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct RescoreArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub judging: Judging,
    /// Prompts of the judges [default: those of the run].
    #[arg(long, value_name = "PROFILE")]
    pub prompt_profile: Option<PromptProfile>,
    #[command(flatten)]
    pub scoring: ScoringFlags,
    /// Ask only the judges that gave no score, once more; all scores stay.
    #[arg(long, conflicts_with_all = ["judge_model", "judge_prompt", "judge_temperature", "prompt_profile", "rubric", "resume"])]
    pub only_failed: bool,
    /// Continue an interrupted rescore, with its judges.
    #[arg(long, conflicts_with_all = ["judge_model", "judge_prompt", "judge_temperature", "prompt_profile", "rubric"])]
    pub resume: bool,
    #[command(flatten)]
    pub batch: BatchFlag,
    #[command(flatten, next_help_heading = "Model options")]
    pub model: ModelFlags,
    /// Table of prices, used before the built-in one.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub prices: Option<PathBuf>,
    /// Run the programs of the run's rubric, which come from its folder.
    #[arg(long, hide_short_help = true)]
    pub allow_programs: bool,
    #[command(flatten)]
    pub checks: Checks,
    #[command(flatten)]
    pub ci: CiFlags,
}

pub fn execute(args: &RescoreArgs, session: &mut Session) -> Result<Exit, Failure> {
    let mut directory =
        RunDirectory::open(&run_dir::folder(&args.run, session)?).map_err(error::directory)?;
    let judges = &args.judging.judge_model;
    let options = RescoreOptions::default()
        .judges(judges.clone())
        .judge_profile(args.prompt_profile)
        .judge_prompt(setup::judge_prompt(&args.scoring)?)
        .rubric(setup::rubric(&args.scoring)?)
        .judge_temperature(args.judging.judge_temperature)
        .only_failed(args.only_failed)
        .resume(args.resume);
    let rescore = (directory.plan_rescore(&options)).map_err(error::directory)?;
    setup::check_scoring(&args.checks, &rescore.plan().config)?;
    let used = setup::used_files(&directory, &args.model, args.prices.as_deref());
    let used = used.chain(args.scoring.files());
    let gate = args.ci.begin(&args.checks, used)?;
    let shown = RunOutput::of(args.json);
    let command = Continued::Rescore;
    if let Some(old) = rescore.nothing_to_do() {
        session.warn("every judge gave a score, so no judge is asked again");
        return run_dir::conclude(command, &directory, old, gate, shown, None, session);
    }
    model::panel(judges)?;
    let (plan, prices) = (rescore.plan(), args.prices.as_deref());
    let allow_programs = args.allow_programs || args.scoring.rubric.is_some();
    let mut asked = setup::reopened(
        &mut directory,
        plan,
        &args.model,
        prices,
        allow_programs,
        session,
    )?;
    let judges = plan.config.models.judges.iter().map(String::as_str);
    asked.use_batches(args.batch, Some(directory.path()), judges)?;
    let calls = asked.keep_in(&directory)?;
    let total = plan.items().count();
    let work = async |runner: Runner<'_>, show: &mut dyn FnMut(RunEvent<'_>)| {
        let rescored = directory.rescore(rescore, runner, show).await;
        rescored.map_err(error::directory)
    };
    let rescored = experiment::watched(&asked, total, calls, session, work)?;
    if rescored.unjudged > 0 {
        tell_unfinished(&rescored, &directory, prices, session);
    }
    let report = &rescored.report;
    let asked = Some(&asked);
    run_dir::conclude(command, &directory, report, gate, shown, asked, session)
}

fn tell_unfinished(
    rescored: &Rescored,
    directory: &RunDirectory,
    prices: Option<&Path>,
    session: &Session,
) {
    let (report, missing) = (&rescored.report, rescored.unjudged);
    let place = run_dir::shell_word(directory.path());
    let again = Continued::Rescore.line(directory.path(), report.config.as_ref(), prices);
    let why = (report.results.iter())
        .find(|result| !result.outcome.is_ok())
        .and_then(|result| result.outcome.sentence());
    session.warn(&format!(
        "{place}: {missing} of {} results were not judged{}; report.json is the old one. Continue with \
         `{again}`, or name another judge with `--judge-model`",
        report.results.len(),
        why.map(|why| format!(" ({})", bin_support::escape(&why)))
            .unwrap_or_default(),
    ));
}
