//! `resume`: continues a run that stopped, and adds rounds to one that ended.

use std::path::Path;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session};
use llm_client::Timer;
use logosphere_core::config::Layer;
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::{Event, FileJournal, RunResumed};
use logosphere_core::verify::ResumedRun;
use logosphere_core::{Mind, Orchestrator, RunControl, Settings};

use crate::changing::{ChangeFlags, ChangedRun};
use crate::error::Error;
use crate::flags::{ChangeableFlags, Switch};
use crate::folders;
use crate::journal_file::not_resumable;
use crate::population::{ClientContext, LEDGER, Population};
use crate::running::{self, FileRun};
use crate::setup::{SOFTWARE, announce, changes, failure, shown, spare};
use crate::status::{RunPhase, RunStatus, StatusForm};

#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Check before each call that the request equals the one built from its messages: on or off.
    #[arg(long, value_enum, value_name = "SWITCH", default_value_t = Switch::On, hide_possible_values = true, hide_short_help = true)]
    pub check_leaks: Switch,
    #[command(flatten, next_help_heading = "Changes from outside")]
    pub changes: ChangeFlags,
    #[command(flatten)]
    pub settings: ChangeableFlags,
}

pub fn execute(args: &ResumeArgs, session: &mut Session) -> Result<Exit, Failure> {
    let experiment = Experiment::open(&folders::recorded(&args.run, session)?).map_err(failure)?;
    if !experiment.journal().exists() {
        let path = experiment.path().to_owned();
        return Err(Failure::usage(Error::NoRun { path }));
    }
    spare(&experiment, &args.settings)?;
    let form = StatusForm::of(args.json);
    let mut control = running::control()?;
    let _lock = experiment.lock(process::id()).map_err(failure)?;
    let journal = experiment.journal();
    let resumption = ResumedRun::open(&journal, &experiment.spool())
        .map_err(|error| not_resumable(error, &journal))?;
    let changed = changes(&args.settings.layer(), resumption.state.settings())?;
    let settings = resumption.state.settings().with_changes(&changed);
    let settings = settings.map_err(Failure::usage)?;
    let begun = resumption.state.round().0;
    if settings.max_rounds < begun {
        let rounds = settings.max_rounds;
        return Err(Failure::usage(Error::FewerRounds { rounds, begun }));
    }
    let given = Layer::of(&settings).settings(settings.seed);
    given.map_err(Failure::usage)?;
    let is_over = settings.max_rounds <= resumption.state.settings().max_rounds;
    if resumption.ended && is_over && !args.changes.is_empty() {
        return Err(Failure::usage(Error::ChangeAfterEnd));
    }
    if resumption.ended && is_over {
        let state = &resumption.state;
        let status = RunStatus::new(experiment.path(), &journal, state, RunPhase::Ended);
        status.print(form, session)?;
        session.warn("the run has ended; --rounds N with more rounds than before continues it");
        return Ok(match resumption.state.errors() {
            0 => Exit::Done,
            _ => Exit::SomeFailed,
        });
    }
    if let (true, Some(rule)) = (resumption.ended, resumption.state.stop_reason(&settings)) {
        return Err(Failure::usage(Error::StillStopped { rule }));
    }
    let mut notices = Vec::new();
    let clock = args.settings.model.clock()?;
    let context = clock.clone().into();
    let (interventions, settings) = {
        let mut state = resumption.state.clone();
        let resumed = RunResumed::new(SOFTWARE, changed.clone());
        let resumed = state.apply(&Event::RunResumed(resumed));
        resumed.map_err(Failure::usage)?;
        let run = ChangedRun::new(&state, &journal, &args.settings, &context);
        run.make(&args.changes, &[], session)?
    };
    let population = population(
        &settings,
        &journal,
        &args.settings,
        &context,
        session,
        &mut notices,
    )?;
    let (mind, _) = population.mind(&settings)?;
    announce(&experiment, &notices, session);
    population.keep_ledger(&experiment.path().join(LEDGER))?;
    control.check_leaks = args.check_leaks == Switch::On;
    control.stop_unanswered = args.settings.on_error.is_none() && !settings.is_offline();
    if args.settings.model.replay.is_some() {
        control.first_wait = Duration::ZERO;
    }
    let resumed = RunResumed::new(SOFTWARE, changed);
    let (mut run, torn) = continued(&experiment, resumption, resumed, mind, clock, control)?;
    if let Some(notice) = torn {
        session.warn(&notice);
    }
    run.intervene_all(interventions)?;
    let (round, mind) = run.state().next_call();
    session.status(&format!("continues with mind {mind} of round {round}"));
    running::run_to_end(run, &experiment, form, session).map(|(exit, _)| exit)
}

/// Continues the journal of a run. Returns the run, and a line about an incomplete last line, which is moved to another file.
pub fn continued(
    experiment: &Experiment,
    resumption: ResumedRun,
    resumed: RunResumed,
    mind: Box<dyn Mind>,
    clock: Arc<dyn Timer>,
    mut control: RunControl,
) -> Result<(FileRun, Option<String>), Failure> {
    let journal = experiment.journal();
    let settings = resumption.state.settings().with_changes(&resumed.changed);
    let settings = settings.map_err(Failure::usage)?;
    let torn = resumption
        .quarantine_torn_tail(&journal)
        .map_err(|source| {
            let path = journal.clone();
            Error::Write { path, source }
        })?;
    let torn = torn.map(|part| {
        format!(
            "{}: the last event was not written to its end; its bytes are in {}",
            shown(&journal),
            shown(&part)
        )
    });
    let mut effective = resumption.start.effective.clone();
    effective.settings.clone_from(&settings);
    effective.software = SOFTWARE.into();
    experiment.write_effective(&effective).map_err(failure)?;
    let (lines, chain) = (resumption.lines, resumption.chain.clone());
    let spool = experiment.spool();
    let file = FileJournal::open(&journal, &spool, settings.durability, lines, chain)?;
    control.spent_ms = resumption.spent_ms;
    let run = Orchestrator::resume(resumption, resumed, mind, file, clock, control)?;
    Ok((run, torn))
}

/// Returns the minds of the run, as they were when it began.
pub fn population(
    settings: &Settings,
    journal: &Path,
    flags: &ChangeableFlags,
    context: &ClientContext,
    session: &Session,
    notices: &mut Vec<String>,
) -> Result<Population, Failure> {
    let offline = settings.is_offline();
    let mut layer = Layer::default().with(|layer| {
        layer.provider = Some(settings.provider.clone());
        let has_one = !offline && settings.minds.is_none();
        layer.model = Some(settings.model.clone()).filter(|_| has_one);
        layer.api_base_url.clone_from(&settings.api_base_url);
        layer.seed = Some(settings.seed);
        layer.concurrency = Some(settings.concurrency);
        layer.on_error = Some(settings.on_error);
        layer.call_timeout = settings.call_timeout;
        layer.first_byte_timeout = settings.first_byte_timeout;
        layer.retries = settings.retries;
        layer.retry_wait = settings.retry_wait;
        layer.max_usd = settings.caps.max_usd;
        layer.max_tokens = settings.caps.max_tokens;
        layer.mind.clone_from(&settings.mind);
        layer.minds.clone_from(&settings.minds);
    });
    let environment = &session.environment;
    Population::choose(&mut layer, journal, flags, context, environment, notices)
}
