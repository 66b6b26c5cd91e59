//! The evaluator that hands laws out to workers.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use futures_util::stream::{self, Stream};
use work_queue::{Audit, Collected, Group, Notices, Queue, QueueError, Work, is_audited};

use super::work::{EvaluationWork, JobInput, read_outcomes};
use crate::error::EvaluatorError;
use crate::evaluator::{Batch, BatchLaw, Evaluated, Evaluator, Outcome};

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
/// The jobs of an iteration are a group. They are deleted when the next batch begins, for then their verdicts are stored.
pub struct QueueEvaluator {
    queue: Queue,
    work: Arc<dyn Work>,
    options: QueueEvaluatorOptions,
    /// The group whose verdicts are stored when the next batch begins.
    last: Option<Group>,
}

impl QueueEvaluator {
    /// An evaluator that hands out the jobs of `work`, whose verdicts it audits.
    pub fn new(queue: Queue, work: Arc<EvaluationWork>, options: QueueEvaluatorOptions) -> Self {
        Self {
            queue,
            work,
            options,
            last: None,
        }
    }

    /// Deletes the jobs whose verdicts are stored.
    ///
    /// # Errors
    /// Those of the queue.
    pub async fn finish(&mut self) -> Result<(), QueueError> {
        match self.last.take() {
            Some(group) => self.queue.complete(&group).await,
            None => Ok(()),
        }
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
        let begin = BatchRun {
            evaluator: self,
            batch,
            open: None,
            ready: VecDeque::new(),
        };
        stream::try_unfold(begin, |mut run| async move {
            let next = run.next().await?;
            Ok(next.map(|evaluated| (evaluated, run)))
        })
    }
}

/// The work on a batch.
struct BatchRun<'a> {
    evaluator: &'a mut QueueEvaluator,
    batch: Batch<'a>,
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
    /// The indexes of the laws without an outcome, by fingerprint and seed.
    waiting: BTreeMap<(String, u64), usize>,
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
            let collected = self.evaluator.queue.collect(&open.group, &mut open.taken);
            let collected = collected.await.map_err(other)?;
            for job in &collected {
                self.take(&mut open, job).await?;
            }
            if collected.is_empty() {
                open.notices.wait().await;
            }
            self.open = Some(open);
        }
    }

    /// Submits the laws that no job of the group covers yet: a run that continues finds the jobs of its last start.
    async fn submit(&mut self) -> Result<OpenJobs, EvaluatorError> {
        let batch = self.batch;
        let name = match batch.iteration_id {
            Some(iteration) => format!("run {} iteration {iteration}", batch.run_id),
            None => format!("run {} retest", batch.run_id),
        };
        let group = Group::of(&*self.evaluator.work, &name).map_err(other)?;
        if self.evaluator.last.as_ref() != Some(&group) {
            self.evaluator.finish().await.map_err(other)?;
        }
        let queue = &self.evaluator.queue;
        let notices = queue.listen(&group).await.map_err(other)?;
        let mut covered = HashSet::new();
        for job in queue.jobs(&group).await.map_err(other)? {
            if let Ok(input) = JobInput::read(&job.input) {
                let laws = input.laws.into_iter();
                covered.extend(laws.map(|law| (law.law_fingerprint, law.seed)));
            }
        }
        let key = |law: &BatchLaw<'_>| (law.row.law_fingerprint.clone(), law.seed);
        let missing = (batch.laws.iter()).filter(|law| !covered.contains(&key(law)));
        let missing: Vec<&BatchLaw<'_>> = missing.collect();
        let size = self.evaluator.laws_in_a_job(missing.len()).await;
        let inputs = missing.chunks(size.map_err(other)?);
        let inputs: Vec<Vec<u8>> = inputs
            .map(|laws| Ok(JobInput::new(&batch, laws).map_err(other)?.bytes()))
            .collect::<Result<_, EvaluatorError>>()?;
        queue.submit(&group, &inputs).await.map_err(other)?;
        self.evaluator.last = Some(group.clone());
        let waiting = batch.laws.iter().enumerate();
        Ok(OpenJobs {
            group,
            notices,
            taken: HashSet::new(),
            waiting: waiting.map(|(index, law)| (key(law), index)).collect(),
        })
    }

    /// Takes the outcomes of a job.
    async fn take(&mut self, open: &mut OpenJobs, job: &Collected) -> Result<(), EvaluatorError> {
        let input =
            JobInput::read(&job.input).map_err(|problem| other(AnswerError::Input(problem)))?;
        let outcomes = match &job.outcome {
            work_queue::Outcome::Done(answer) => {
                let outcomes = read_outcomes(&input, &answer.bytes, &answer.meta);
                match outcomes {
                    Ok(outcomes) => {
                        self.audit(&input, job).await?;
                        outcomes
                    }
                    Err(problem) => {
                        let disputed = self.evaluator.queue.dispute(&job.key, &problem);
                        let id = disputed.await.map_err(other)?.unwrap_or_default();
                        let worker = answer.worker.clone();
                        return Err(other(AnswerError::Wrong {
                            worker,
                            problem,
                            id,
                        }));
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
                return Err(conflict(&input, *id));
            }
        };
        for (law, outcome) in input.laws.into_iter().zip(outcomes) {
            if let Some(index) = open.waiting.remove(&(law.law_fingerprint, law.seed)) {
                self.ready.push_back(Evaluated::new(index, outcome));
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
            Audit::Conflict(id) => Err(conflict(input, id)),
        }
    }
}

fn conflict(input: &JobInput, id: i64) -> EvaluatorError {
    let law = input.laws.first();
    other(AnswerError::Conflict {
        law_fingerprint: law.map_or_else(String::new, |law| law.law_fingerprint.clone()),
        seed: law.map_or(0, |law| law.seed),
        laws: input.laws.len(),
        id,
    })
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> EvaluatorError {
    EvaluatorError::Other(Box::new(error))
}

/// An answer that cannot be taken.
#[derive(Debug, thiserror::Error)]
enum AnswerError {
    #[error("a job cannot be read: {0}")]
    Input(String),
    #[error(
        "worker {worker} gave a wrong answer: {problem} (conflict {id}); its machine or program is faulty"
    )]
    Wrong {
        worker: String,
        problem: String,
        id: i64,
    },
    #[error(
        "law {law_fingerprint}, seed {seed}, in a job of {laws} laws: two workers answered differently (conflict {id}): one machine or \
         program is faulty"
    )]
    Conflict {
        law_fingerprint: String,
        seed: u64,
        laws: usize,
        id: i64,
    },
}
