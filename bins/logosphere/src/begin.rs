//! The start of a run in an experiment's directory, for the commands `run` and `demo`.

use std::path::Path;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use bin_support::runs::EXPERIMENTS;
use bin_support::{Exit, Failure, Session, escape};
use llm_client::{SystemClock, Timer};
use logosphere_core::config::Init;
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::FileJournal;
use logosphere_core::{Effective, ExperimentStart, Orchestrator, RunControl, Settings};

use crate::flags::{RunFlags, Switch};
use crate::population::LEDGER;
use crate::setup::{
    PreparedRun, SOFTWARE, announce, ensure_init_file, failure, prepare, run_id, spare, today,
};
use crate::status::{RunStatus, StatusForm};
use crate::{estimate, leaks, running};

/// The distance of the clock of a canary run: no text mentions a year that far ahead.
const CENTURIES: Duration = Duration::from_hours(500 * 365 * 24);

/// The directory of a run, as the command line names it.
#[derive(Clone, Copy)]
pub enum RunTarget<'a> {
    /// The directory of an existing experiment.
    Experiment(&'a Path),
    /// A directory that is made if it does not exist, and that gets seed messages if it has none.
    Directory(&'a Path),
    /// A new directory with this name.
    New(&'a str),
}

/// Runs in a directory. All checks are done before anything is written.
pub fn run_in(
    place: RunTarget<'_>,
    flags: &RunFlags,
    form: StatusForm,
    session: &mut Session,
) -> Result<(Exit, RunStatus), Failure> {
    let control = running::control()?;
    let root = Path::new(EXPERIMENTS);
    let clock = flags.settings.changeable.model.clock()?;
    let planned = match place {
        RunTarget::Experiment(path) => Experiment::open(path),
        RunTarget::Directory(path) => Experiment::planned(path),
        RunTarget::New(name) => Experiment::next(root, name, today(&clock)),
    };
    let planned = planned.map_err(failure)?;
    spare(&planned, &flags.settings.changeable)?;
    // Another process that works here is named before its run is.
    planned.check_free().map_err(failure)?;
    planned.check_unused().map_err(failure)?;
    let may_lack_seeds = !matches!(place, RunTarget::Experiment(_));
    let ready = {
        let context = clock.clone().into();
        prepare(&planned, may_lack_seeds, &flags.settings, &context, session)?
    };
    let experiment = match place {
        RunTarget::Experiment(_) => planned,
        RunTarget::Directory(path) => Experiment::open_or_make(path).map_err(failure)?,
        RunTarget::New(name) => Experiment::create(root, name, today(&clock)).map_err(failure)?,
    };
    announce(&experiment, &ready.notices, session);
    let _lock = experiment.lock(process::id()).map_err(failure)?;
    experiment.check_unused().map_err(failure)?;
    if may_lack_seeds {
        ensure_init_file(&experiment, session)?;
    }
    begin(&experiment, &ready, flags, clock, control, form, session)
}

/// Writes the directory's files, begins the journal and runs.
fn begin(
    experiment: &Experiment,
    ready: &PreparedRun,
    flags: &RunFlags,
    mut clock: Arc<dyn Timer>,
    mut control: RunControl,
    form: StatusForm,
    session: &mut Session,
) -> Result<(Exit, RunStatus), Failure> {
    let ledger = experiment.path().join(LEDGER);
    ready.population.keep_ledger(&ledger)?;
    let (mind, _) = ready.population.mind(&ready.settings)?;
    let PreparedRun { template, init, .. } = ready;
    let effective = effective(experiment, ready)?;
    header(&effective.settings, init, session);
    let stored = init.stored(effective.settings.stamp_seeds);
    let stored: Vec<_> = stored.map(|seed| seed.len()).collect();
    let prices = flags.settings.changeable.prices.as_deref();
    session.status(&estimate::brief(&effective.settings, &stored, prices)?);
    let durability = effective.settings.durability;
    let stamp = effective.settings.stamp_seeds;
    let is_replay = flags.settings.changeable.model.replay.is_some();
    let mut run_id = run_id(&clock, is_replay)?;
    if flags.canary {
        run_id = format!("canary-{run_id}");
        clock = Arc::new(SystemClock::ahead_by(CENTURIES));
    }
    let start = ExperimentStart::new(effective, run_id, init.stored(stamp), template.clone());
    let mind = if flags.canary {
        leaks::watched(mind, &start.run_id, experiment, &clock)
    } else {
        mind
    };
    let has_choice = flags.settings.changeable.on_error.is_some();
    control.stop_unanswered = !has_choice && !start.effective.settings.is_offline();
    if is_replay {
        control.first_wait = Duration::ZERO;
    }
    control.check_leaks = flags.canary || flags.check_leaks == Switch::On;
    if control.check_leaks {
        leaks::warn(&start, experiment, session);
    }
    let journal = FileJournal::create(&experiment.journal(), &experiment.spool(), durability)?;
    let run = Orchestrator::start(start, mind, journal, clock, control)?;
    running::run_to_end(run, experiment, form, session)
}

/// Writes the settings of a run into its directory, and returns them as they are recorded.
pub fn effective(experiment: &Experiment, ready: &PreparedRun) -> Result<Effective, Failure> {
    let config_sha256 = match &ready.config_sha256 {
        Some(sha256) => sha256.clone(),
        None => experiment
            .write_config(&ready.settings, &ready.recorded)
            .map_err(failure)?,
    };
    let mut effective = Effective::new(ready.settings.clone(), SOFTWARE);
    effective.config_sha256 = config_sha256;
    effective.init_sha256.clone_from(&ready.init_sha256);
    experiment.write_effective(&effective).map_err(failure)?;
    Ok(effective)
}

/// Prints the settings of the run that begins.
fn header(settings: &Settings, init: &Init, session: &Session) {
    let Settings {
        n_minds,
        k_samples,
        m_active_pool,
        max_rounds,
        scheduling,
        parse_mode,
        seed,
        provider,
        model,
        ..
    } = settings;
    session.status(&format!(
        "{} seeds {}, {n_minds} minds, {k_samples} of {m_active_pool} messages, {max_rounds} rounds, {}, {}, seed {seed}, {} {}",
        init.seeds.len(),
        if settings.stamp_seeds {
            format!("signed {}", escape(&init.signature))
        } else {
            "without a signature".to_owned()
        },
        format!("{scheduling:?}").to_lowercase(),
        format!("{parse_mode:?}").to_lowercase(),
        escape(provider),
        escape(model),
    ));
    let snapshot = *scheduling == logosphere_core::config::Scheduling::Snapshot;
    if !snapshot && settings.concurrency != Settings::default().concurrency {
        session.warn("minds that read one after another are called one at a time; concurrency is for --scheduling snapshot");
    }
    if settings.prompt().holds_delimiter() {
        session.warn("the system prompt contains a line `---`, so a prompt cannot be split into its messages");
    }
}
