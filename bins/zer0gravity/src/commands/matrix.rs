//! `zer0gravity matrix`: every encoding on every text, kept in a directory.

use std::path::PathBuf;

use bin_support::{Exit, Failure, Session, runs};
use zer0gravity_engine::calibration::JudgeIdentity;
use zer0gravity_engine::plan::{Costs, Plan};
use zer0gravity_engine::run::{ChangedCalls, RunDirectory, RunNotes};

use crate::calibrated::{self, CalibrationFlags};
use crate::ci::CiFlags;
use crate::flags::{BatchFlag, Checks, MatrixModels, Repeats, RoleFlags, Texts};
use crate::run_dir::{self, Continued, RunOutput};
use crate::selection::{self, Selected};
use crate::{model, setup};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity matrix --level 1
  zer0gravity matrix --all --encoding rules.txt more.txt
  zer0gravity matrix --level 1 --trials 2 --run-dir runs/twice";

#[derive(Debug, clap::Args)]
pub struct MatrixArgs {
    /// Files with encoding systems [default: the built-in rules].
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub encoding: Vec<PathBuf>,
    #[command(flatten)]
    pub texts: Texts,
    /// Directory of the run [default: experiments/DATE-matrix].
    #[arg(long, value_name = "DIR")]
    pub run_dir: Option<PathBuf>,
    /// Seal of the texts, which must be those of this run.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub sealed: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub batch: BatchFlag,
    #[command(flatten)]
    pub repeats: Repeats,
    #[command(flatten)]
    pub checks: Checks,
    #[command(flatten)]
    pub ci: CiFlags,
    #[command(flatten)]
    pub calibration: CalibrationFlags,
    #[command(flatten)]
    pub asking: RoleFlags,
    #[command(flatten)]
    pub crossed: MatrixModels,
}

pub fn execute(args: &MatrixArgs, session: &mut Session) -> Result<Exit, Failure> {
    let encodings = selection::encodings(&args.encoding).map_err(Failure::usage)?;
    let asking = &args.asking;
    let Selected { cases, left_out } = selection::texts(
        &args.texts,
        &args.encoding,
        asking.skip_bad,
        asking.allow_long,
        session,
    )?;
    let sealed = args.sealed.as_deref();
    let commitment = sealed
        .map(|path| selection::commitment(path, &cases))
        .transpose()?;
    let read = args
        .encoding
        .iter()
        .chain(&asking.prices)
        .chain(&args.sealed)
        .cloned();
    let read = read.chain(selection::files(&args.texts));
    let read = read.chain(asking.scoring.files());
    let stored = args
        .run_dir
        .iter()
        .flat_map(|folder| RunDirectory::files_in(folder));
    let used: Vec<_> = read.chain(stored).collect();
    model::ensure_not_input(&asking.model, &used)?;
    let mut asked = setup::asked(asking, &args.crossed, args.run_dir.as_deref(), session)?;
    let mut config = setup::config(
        asking,
        &args.crossed,
        &args.repeats,
        asked.model_client.label(),
        &asked.model,
    )?;
    if config.cost == Costs::None {
        // What is compared here is what encodings are worth.
        config.cost = Costs::Estimated;
    }
    let plan = Plan::new(encodings, cases, config);
    asked.use_batches(
        args.batch,
        args.run_dir.as_deref(),
        setup::models(&plan.config),
    )?;
    setup::check(&plan, asking, &args.checks, &asked, session)?;
    let judge = JudgeIdentity::of_config(&plan.config);
    let calibration = args.calibration.of_judge(Ok(Some(judge)))?;
    let used = used
        .into_iter()
        .chain(asking.talks())
        .chain(args.calibration.file())
        .chain(args.run_dir.clone());
    let gate = args.ci.begin(&args.checks, used)?;
    let folder = args.run_dir.clone();
    let folder = folder.map_or_else(|| runs::make_next("matrix"), Ok)?;
    let notes = RunNotes::default().left_out(left_out).sealed(commitment);
    let directory = setup::begun(&folder, &plan, notes, &asking.model, &*asked.clock)?;
    run_dir::tell(&folder, session);
    let mut report = run_dir::resume(&directory, &asked, ChangedCalls::Refuse, session)?;
    if let Some(calibration) = calibration {
        report.calibrate(calibration);
        calibrated::tell(&report, "", session);
    }
    let shown = RunOutput::of(args.json);
    let (command, asked) = (Continued::Run, Some(&asked));
    run_dir::conclude(command, &directory, &report, gate, shown, asked, session)
}
