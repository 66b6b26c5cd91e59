//! The evaluator that hands laws out to workers.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use futures_util::future::ready;
use futures_util::stream::{self, Stream, TryStreamExt as _};
use popper_harness::decide::Harness;
use popper_harness::law::Law;
use work_queue::{Audit, Collected, Group, Notices, Queue, QueueError, Work, is_audited};

use super::work::{EvaluationWork, JobInput, JobLaw, read_outcomes};
use crate::error::EvaluatorError;
use crate::evaluator::{Batch, Evaluated, Evaluator, Outcome};

/// The most laws of a job.
const MOST_LAWS: usize = 256;

/// The settings of a [`QueueEvaluator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueEvaluatorOptions {
    /// The number of threads with which this process itself works on the queue.
    pub own_threads: usize,
    /// The share of jobs in percent that this process decides a second time, 0 to 100.
    pub audit_percent: u8,
}

impl Default for QueueEvaluatorOptions {
    fn default() -> Self {
        Self {
            own_threads: 0,
            audit_percent: 1,
        }
    }
}

/// Hands laws out to workers through a queue, and checks what they answer.
///
/// The jobs of an iteration are a group. They are deleted when the next batch of their run begins, for then their verdicts are
/// stored.
pub struct QueueEvaluator {
    queue: Queue,
    work: Arc<dyn Work>,
    options: QueueEvaluatorOptions,
}

impl QueueEvaluator {
    /// An evaluator that hands out the jobs of `work`, whose verdicts it audits.
    pub fn new(queue: Queue, work: Arc<EvaluationWork>, options: QueueEvaluatorOptions) -> Self {
        Self {
            queue,
            work,
            options,
        }
    }

    /// Deletes the jobs of a run, after its last verdicts are stored.
    ///
    /// # Errors
    /// Those of the queue.
    pub async fn finish(&self, run_id: i64) -> Result<(), QueueError> {
        self.delete_jobs(run_id, None).await
    }

    /// Deletes the jobs of a run's iterations, also those of a killed process, but one group.
    async fn delete_jobs(&self, run_id: i64, kept: Option<&Group>) -> Result<(), QueueError> {
        let begin = iterations_of(run_id);
        for group in self.queue.status().await?.groups {
            if group.id.starts_with(&begin) && kept.is_none_or(|kept| kept.id() != group.id) {
                let group = Group::new(&group.kind, &group.semantics, &group.id)?;
                self.queue.complete(&group).await?;
            }
        }
        Ok(())
    }

    /// Returns the queue, to ask for its state.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The number of laws in a job: small enough that every thread gets several.
    async fn laws_in_a_job(&self, laws: usize) -> Result<usize, QueueError> {
        let workers = self.queue.workers().await?;
        let alike = workers.iter().filter(|worker| {
            worker.is_alive
                && (worker.kind.as_str(), worker.semantics.as_str())
                    == (self.work.kind(), self.work.semantics())
        });
        let threads = alike.map(|worker| worker.threads as usize).sum::<usize>();
        let threads = threads.max(self.options.own_threads).max(1);
        Ok(laws.div_ceil(4 * threads).clamp(1, MOST_LAWS))
    }
}

impl Evaluator for QueueEvaluator {
    fn evaluate<'a>(
        &'a mut self,
        batch: Batch<'a>,
    ) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + 'a {
        let former = iterations_of(batch.run_id);
        let name = match batch.iteration_id {
            Some(iteration) => format!("{former}{iteration}"),
            None => format!("run {} retest", batch.run_id),
        };
        let laws: Result<_, _> = batch.laws.iter().map(JobLaw::of_row).collect();
        let input = laws.map(|laws| JobInput::new(batch.harness, batch.wall_limit_ms, laws));
        let begin = input.map_err(other).map(|input| BatchRun {
            evaluator: self,
            name,
            former: Some(batch.run_id),
            input,
            open: None,
            ready: VecDeque::new(),
        });
        outcomes(begin)
    }
}

impl QueueEvaluator {
    /// Evaluates laws that belong to no run. Each index comes once, in any order.
    ///
    /// Their jobs are a group of this name, which stays until [`Self::forget`]: a process that continues finds the answers.
    pub fn check(
        &mut self,
        name: &str,
        harness: &Harness,
        laws: &[Law],
    ) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send {
        let seed = harness.config().seed;
        let laws = laws.iter().map(|law| JobLaw::of_source(law, seed));
        let input = JobInput::new(harness, None, laws.collect());
        outcomes(Ok(BatchRun {
            evaluator: self,
            name: name.to_owned(),
            former: None,
            input,
            open: None,
            ready: VecDeque::new(),
        }))
    }

    /// Deletes the jobs of [`Self::check`] under a name.
    ///
    /// # Errors
    /// Those of the queue.
    pub async fn forget(&self, name: &str) -> Result<(), QueueError> {
        let group = Group::of(&*self.work, name)?;
        self.queue.complete(&group).await
    }
}

/// The outcomes of a batch.
fn outcomes<'a>(
    begin: Result<BatchRun<'a>, EvaluatorError>,
) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + 'a {
    let next = |mut run: BatchRun<'a>| async move {
        let next = run.next().await?;
        Ok(next.map(|evaluated| (evaluated, run)))
    };
    stream::once(ready(begin))
        .map_ok(move |begin| stream::try_unfold(begin, next))
        .try_flatten()
}

/// The beginning of the names of a run's groups.
fn iterations_of(run_id: i64) -> String {
    format!("run {run_id} iteration ")
}

/// The work on a batch.
struct BatchRun<'a> {
    evaluator: &'a mut QueueEvaluator,
    /// The name of the group.
    name: String,
    /// The run whose other groups are not needed any more.
    former: Option<i64>,
    /// All laws as one input.
    input: JobInput,
    /// `None` before the jobs are submitted.
    open: Option<OpenJobs>,
    /// Outcomes that are not given out.
    ready: VecDeque<Evaluated>,
}

/// The jobs of a batch that are submitted.
struct OpenJobs {
    group: Group,
    notices: Notices,
    taken: HashSet<String>,
    /// The indexes of the laws without an outcome, by their key. A law may be in a batch twice.
    waiting: BTreeMap<String, Vec<usize>>,
}

impl BatchRun<'_> {
    /// Returns the next outcome; `None` if each law has its own.
    async fn next(&mut self) -> Result<Option<Evaluated>, EvaluatorError> {
        loop {
            if let Some(evaluated) = self.ready.pop_front() {
                return Ok(Some(evaluated));
            }
            let mut open = match self.open.take() {
                Some(open) => open,
                None => self.submit().await?,
            };
            if open.waiting.is_empty() {
                return Ok(None);
            }
            // Asked first: what ends after it is collected.
            let has_open = self.evaluator.queue.has_open_jobs(&open.group).await;
            let has_open = has_open.map_err(other)?;
            let collected = self.evaluator.queue.collect(&open.group, &mut open.taken);
            let collected = collected.await.map_err(other)?;
            for job in &collected {
                self.take(&mut open, job).await?;
            }
            match (collected.is_empty(), has_open) {
                (false, _) => {}
                (true, true) => open.notices.wait().await,
                (true, false) => {
                    let problem = format!(
                        "{:?}: jobs were deleted by another program; begin again, and they are made again",
                        self.name
                    );
                    return Err(EvaluatorError::Other(problem.into()));
                }
            }
            self.open = Some(open);
        }
    }

    /// Submits the laws that no job of the group covers yet: a run that continues finds the jobs of its last start.
    async fn submit(&mut self) -> Result<OpenJobs, EvaluatorError> {
        let evaluator = &self.evaluator;
        let group = Group::of(&*evaluator.work, &self.name).map_err(other)?;
        if let Some(run_id) = self.former {
            let deleted = evaluator.delete_jobs(run_id, Some(&group)).await;
            deleted.map_err(other)?;
        }
        let queue = &evaluator.queue;
        let notices = queue.listen(&group).await.map_err(other)?;
        let mut waiting: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let keys = self.input.laws.iter().map(JobLaw::key);
        for (index, key) in keys.enumerate() {
            waiting.entry(key).or_default().push(index);
        }
        let mut covered = HashSet::new();
        for job in queue.jobs(&group).await.map_err(other)? {
            if let Ok(input) = JobInput::read(&job.input) {
                covered.extend(input.laws.iter().map(JobLaw::key));
            }
        }
        let first = |(key, indexes): (&String, &Vec<usize>)| {
            let index = indexes.first().copied()?;
            (!covered.contains(key)).then_some(index)
        };
        let mut missing: Vec<usize> = waiting.iter().filter_map(first).collect();
        missing.sort_unstable();
        let laws = &self.input.laws;
        let missing: Vec<&JobLaw> = missing.into_iter().map(|index| &laws[index]).collect();
        let size = evaluator.laws_in_a_job(missing.len()).await;
        let inputs = missing.chunks(size.map_err(other)?);
        let inputs = inputs.map(|laws| self.input.with_laws(laws).bytes());
        let inputs: Vec<Vec<u8>> = inputs.collect();
        queue.submit(&group, &inputs).await.map_err(other)?;
        Ok(OpenJobs {
            group,
            notices,
            taken: HashSet::new(),
            waiting,
        })
    }

    /// Takes the outcomes of a job.
    async fn take(&mut self, open: &mut OpenJobs, job: &Collected) -> Result<(), EvaluatorError> {
        let input = JobInput::read(&job.input).map_err(|problem| {
            EvaluatorError::Other(format!("a job cannot be read: {problem}").into())
        })?;
        let outcomes = match &job.outcome {
            work_queue::Outcome::Done(answer) => {
                let outcomes = if answer.intact {
                    read_outcomes(&input, &answer.bytes, &answer.meta)
                } else {
                    Err("its bytes were changed after they were stored".to_owned())
                };
                match outcomes {
                    Ok(outcomes) => {
                        self.audit(&input, job).await?;
                        outcomes
                    }
                    Err(problem) => {
                        let disputed = self.evaluator.queue.dispute(&job.key, &problem);
                        let id = disputed.await.map_err(other)?.unwrap_or_default();
                        let problem = wrong_answer(&answer.worker, &problem);
                        return Err(EvaluatorError::Conflict { problem, id });
                    }
                }
            }
            work_queue::Outcome::Aside { problem } => {
                let aside = || Outcome::SetAside {
                    problem: problem.clone(),
                };
                input.laws.iter().map(|_| aside()).collect()
            }
            work_queue::Outcome::Conflict(id) => {
                return Err(self.conflict(&input, *id).await?);
            }
        };
        for (law, outcome) in input.laws.iter().zip(outcomes) {
            for index in open.waiting.remove(&law.key()).unwrap_or_default() {
                self.ready.push_back(Evaluated::new(index, outcome.clone()));
            }
        }
        Ok(())
    }

    /// Decides a job a second time, if it is one of those that are.
    async fn audit(&self, input: &JobInput, job: &Collected) -> Result<(), EvaluatorError> {
        let evaluator = &self.evaluator;
        if !is_audited(&job.input, evaluator.options.audit_percent) {
            return Ok(());
        }
        let audit = evaluator.queue.audit(&evaluator.work, job);
        match audit.await.map_err(other)? {
            Audit::Equal | Audit::Skipped => Ok(()),
            Audit::Conflict(id) => Err(self.conflict(input, id).await?),
        }
    }

    /// The error of a conflict, which has one answer if that is wrong by itself.
    async fn conflict(&self, input: &JobInput, id: i64) -> Result<EvaluatorError, EvaluatorError> {
        let conflicts = self.evaluator.queue.conflicts().await.map_err(other)?;
        let found = conflicts.into_iter().find(|conflict| conflict.id == id);
        let wrong = found.filter(|conflict| conflict.second_worker.is_none());
        let problem = if let Some(conflict) = wrong {
            wrong_answer(&conflict.first_worker, &conflict.problem)
        } else {
            let law = input.laws.first();
            format!(
                "law {}, seed {}, in a job of {} laws: two workers answered differently",
                law.map_or("", |law| &law.law_fingerprint),
                law.map_or(0, |law| law.seed),
                input.laws.len(),
            )
        };
        Ok(EvaluatorError::Conflict { problem, id })
    }
}

fn wrong_answer(worker: &str, problem: &str) -> String {
    format!("worker {worker} gave a wrong answer: {problem}")
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> EvaluatorError {
    EvaluatorError::Other(Box::new(error))
}
