use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};

use super::record::RescoreRecord;
use super::{ChangedCalls, DirectoryError, RunDirectory};
use crate::model::{CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, TokenCount};
use crate::plan::Plan;
use crate::plan::rubric::Rubric;
use crate::prompts::{PromptProfile, Role};
use crate::report::RunReport;
use crate::result::PreviousScores;
use crate::text::setters::setters;
use crate::{ExperimentResult, FailureKind, ModelClient, RunEvent, Runner, StageName, StageStatus};

/// The settings of a rescore; by default the judges and prompts of the run.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct RescoreOptions {
    /// The judges; empty for those of the run.
    pub judges: Vec<String>,
    /// The prompts of the judges; `None` for those of the run.
    pub judge_profile: Option<PromptProfile>,
    /// The system prompt of the judge of the meaning; `None` for that of the run, or for that of `judge_profile`.
    pub judge_prompt: Option<String>,
    /// The user's scorers; `None` for those of the run.
    pub rubric: Option<Rubric>,
    /// The temperature of the judges; `None` for that of the run.
    pub judge_temperature: Option<f64>,
    /// Asks only the judges that gave no score, once more; all scores stay.
    pub only_failed: bool,
    /// Continues an interrupted rescore, with its judges; the other fields are not read.
    pub resume: bool,
}

impl RescoreOptions {
    setters! {
        judges: Vec<String>,
        judge_profile: Option<PromptProfile>,
        judge_prompt: Option<String>,
        rubric: Option<Rubric>,
        judge_temperature: Option<f64>,
        only_failed: bool,
        resume: bool,
    }
}

/// A rescore whose plan is known; no judge was asked yet.
#[derive(Debug)]
pub struct Rescore {
    plan: Plan,
    /// The run's report.
    old: RunReport,
    only_failed: bool,
}

/// The end of a rescore.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rescored {
    /// The report by the judges that were asked. It has replaced the run's if nothing is unjudged.
    pub report: RunReport,
    /// Results that no judge has replied to. While there are any, the run's report stays as it was.
    pub unjudged: usize,
}

impl Rescore {
    /// The run's plan with the judges that are to be asked.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The run's report, if every judge gave a score and only failed ones were to be asked: the rescore has nothing to do.
    pub fn nothing_to_do(&self) -> Option<&RunReport> {
        let done = self.only_failed && !self.old.results.iter().any(is_unscored);
        done.then_some(&self.old)
    }
}

impl RunDirectory {
    /// Plans to judge the results of the run again.
    ///
    /// # Errors
    /// [`DirectoryError`]: the run is not finished, or there is no rescore to continue.
    pub fn plan_rescore(&self, options: &RescoreOptions) -> Result<Rescore, DirectoryError> {
        let old = self.decoded_report()?;
        let plan = if options.resume {
            let unfinished = self.rescored()?;
            let nothing = || DirectoryError::NoRescore {
                path: self.path().to_owned(),
            };
            unfinished.ok_or_else(nothing)?.plan
        } else {
            self.rescore_plan(options)
        };
        Ok(Rescore {
            plan,
            old,
            only_failed: options.only_failed,
        })
    }

    /// Asks judges alone. Old scores become [`ExperimentResult::previous_scores`]. Plan and report of the run are replaced when
    /// every result was judged; a rescore that fails, or is killed at any moment, leaves the old report or the new one.
    ///
    /// # Errors
    /// As [`Self::resume`].
    pub async fn rescore(
        &mut self,
        rescore: Rescore,
        runner: Runner<'_>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Rescored, DirectoryError> {
        let Rescore { plan, old, .. } = rescore;
        let only_failed = plan.config.judge_retries > self.plan().config.judge_retries;
        let judges = JudgesOnly(runner.context.client);
        let mut runner = runner;
        runner.context.client = &judges;
        let work = self.perform(&plan, runner, ChangedCalls::Refuse, on_event);
        let mut report = work.await?;
        for (new, old) in report.results.iter_mut().zip(&old.results) {
            // What failed before it was judged would be encoded again: it stays as it is.
            if old.decoded_text.is_some() && (is_unscored(old) || !only_failed) {
                new.previous_scores = earlier(old, new);
            } else {
                *new = old.clone();
            }
        }
        let unjudged = report.results.iter().filter(|one| is_unjudged(one)).count();
        let record = RescoreRecord::new(plan, report, unjudged == 0);
        self.keep_rescored(&record)?;
        let report = record.report;
        Ok(Rescored { report, unjudged })
    }

    /// The run's report, if every text of it was decoded or failed before: what was not run needs more than judges.
    fn decoded_report(&self) -> Result<RunReport, DirectoryError> {
        let unrun = |result: &ExperimentResult| is_not_run(result) && result.decoded_text.is_none();
        match self.report()? {
            Some(report) if !report.results.iter().any(unrun) => Ok(report),
            _ => Err(DirectoryError::Unfinished {
                path: self.path().to_owned(),
            }),
        }
    }

    fn rescore_plan(&self, options: &RescoreOptions) -> Plan {
        let mut plan = self.plan().clone();
        let config = &mut plan.config;
        if !options.judges.is_empty() {
            config.models.judges.clone_from(&options.judges);
            config.judge_retries = 0;
        }
        if options.only_failed {
            config.judge_retries += 1;
        }
        config.judge_profile = options.judge_profile.or(config.judge_profile);
        if options.judge_prompt.is_some() || options.judge_profile.is_some() {
            config.judge_prompt.clone_from(&options.judge_prompt);
        }
        // Other judges have the temperature that is named with them, or none.
        if !options.judges.is_empty() || options.judge_temperature.is_some() {
            config.judge_temperature = options.judge_temperature;
        }
        if options.rubric.is_some() {
            config.rubric.clone_from(&options.rubric);
        }
        plan
    }
}

/// A client that asks judges alone: what others have not said already stays unsaid.
struct JudgesOnly<'a>(&'a dyn ModelClient);

impl ModelClient for JudgesOnly<'_> {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        match request.role {
            Role::SemanticJudge
            | Role::ImplementabilityJudge
            | Role::OwnJudge
            | Role::OwnProgram => self.0.complete(request),
            _ => ready(Err(unasked())).boxed(),
        }
    }

    fn count_tokens(&self, _: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        ready(Err(unasked())).boxed()
    }

    fn label(&self) -> ModelLabel {
        self.0.label()
    }
}

fn unasked() -> ModelError {
    ModelError::unsent(FailureKind::OnlyJudges, "a rescore asks judges only")
}

/// A judge was asked and gave no score.
fn is_unscored(result: &ExperimentResult) -> bool {
    let judging = [
        StageName::JudgeSemantic,
        StageName::JudgeImplementability,
        StageName::JudgeOwn,
    ];
    let stage = result.outcome.stage;
    let own = result
        .own_scores
        .iter()
        .any(|score| score.failure.is_some());
    own || stage.is_some_and(|stage| judging.contains(&stage))
}

/// No judge replied to what was to be judged.
fn is_unjudged(result: &ExperimentResult) -> bool {
    let mut own = result.own_scores.iter();
    is_not_run(result)
        || result.outcome.status == StageStatus::ApiError && is_unscored(result)
        || own.any(|score| score.failure == Some(StageStatus::ApiError))
}

fn is_not_run(result: &ExperimentResult) -> bool {
    result.outcome.status == StageStatus::NotRun
}

/// The scores before those of `new`: the old ones, or those before them if the old ones are of a judge that failed, or of the same
/// judges with the same prompts.
fn earlier(old: &ExperimentResult, new: &ExperimentResult) -> Option<PreviousScores> {
    let judged = |result: &ExperimentResult| {
        (
            result.metadata.models.judges.clone(),
            result.metadata.judge_temperature,
            result.metadata.prompt_sha256.clone(),
        )
    };
    let (last, first) = (PreviousScores::of(old), old.previous_scores.clone());
    if judged(old) == judged(new) {
        first.or(last)
    } else {
        last.or(first)
    }
}
