//! The evaluators of a batch of laws: threads of this process, or other processes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_channel::mpsc::{UnboundedSender, unbounded};
use futures_util::stream::{self, Stream, StreamExt as _};
use llm_types::Clock;
use popper_harness::decide::{Harness, Status, UnknownReason, Verdict};
use popper_harness::law::Law;

use crate::error::EvaluatorError;
use crate::store::LawRow;

/// A law of a batch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BatchLaw<'a> {
    /// The row of the law.
    pub row: &'a LawRow,
    /// The law.
    pub law: Cow<'a, Law>,
    /// The seed of the attempt.
    pub seed: u64,
}

/// The laws of an iteration that are to be decided.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Batch<'a> {
    /// The key of the run.
    pub run_id: i64,
    /// The key of the iteration. `None` for a law that is tested once more.
    pub iteration_id: Option<i64>,
    /// The harness, with the seed of the configuration.
    pub harness: &'a Harness,
    /// The clock that measures the evaluations.
    pub clock: &'a Arc<dyn Clock>,
    /// The laws in the order of choice.
    pub laws: &'a [BatchLaw<'a>],
    /// The time in milliseconds after which an evaluation is cut.
    pub wall_limit_ms: Option<u64>,
}

/// The outcome of an evaluation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// The harness gave a verdict.
    Decided {
        /// The verdict.
        verdict: Box<Verdict>,
        /// The time that it took, in milliseconds.
        runtime_ms: u64,
        /// Whether the limit on time cut it.
        cut: bool,
    },
    /// The evaluation failed each time that it was tried, so that it was given up.
    SetAside {
        /// The problem with it.
        problem: String,
    },
}

impl Outcome {
    /// The verdict under the name that the law has here, and whether the evaluation was cut. `harness` has the seed of the attempt.
    pub fn verdict(
        self,
        law_id: &str,
        law_fingerprint: &str,
        harness: &Harness,
    ) -> (Verdict, bool) {
        match self {
            Self::Decided {
                verdict,
                runtime_ms,
                cut,
            } => {
                let mut verdict = *verdict;
                law_id.clone_into(&mut verdict.law_id);
                verdict.runtime_ms = runtime_ms;
                (verdict, cut)
            }
            Self::SetAside { problem } => {
                let mut verdict = Verdict::new(
                    law_id.to_owned(),
                    law_fingerprint.to_owned(),
                    harness.sim_hash().to_owned(),
                    harness.config_hash().to_owned(),
                    harness.config().seed,
                );
                verdict.status = Status::Unknown;
                verdict.reason_code = Some(UnknownReason::ResourceLimit);
                verdict.notes.push(problem);
                (verdict, true)
            }
        }
    }
}

/// An evaluated law of a batch.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Evaluated {
    /// The index of the law in the batch.
    pub index: usize,
    /// The outcome.
    pub outcome: Outcome,
}

impl Evaluated {
    /// The outcome for the law with this index.
    pub fn new(index: usize, outcome: Outcome) -> Self {
        Self { index, outcome }
    }
}

/// An evaluator of laws. A verdict depends on the universe, the configuration, the law and the seed alone.
pub trait Evaluator: Send {
    /// Evaluates the laws of a batch. Each index comes once, in any order. Dropping the stream gives up what is not started.
    fn evaluate<'a>(
        &'a mut self,
        batch: Batch<'a>,
    ) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + 'a;
}

/// Evaluates laws in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LocalEvaluator {
    threads: Option<usize>,
}

impl LocalEvaluator {
    /// Evaluates as many laws at once as there are threads, each on one thread.
    ///
    /// The default evaluates one law at a time, on all processors, and blocks the thread that polls the stream.
    pub fn with_threads(threads: usize) -> Self {
        Self {
            threads: Some(threads.max(1)),
        }
    }
}

impl Evaluator for LocalEvaluator {
    fn evaluate<'a>(
        &'a mut self,
        batch: Batch<'a>,
    ) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + 'a {
        let Some(threads) = self.threads else {
            let laws = batch.laws.iter().enumerate();
            let evaluate = move |(index, law): (usize, &BatchLaw<'_>)| {
                let task = Task::new(&batch, law);
                Ok(Evaluated::new(index, task.decide(&|| false)))
            };
            return stream::iter(laws.map(evaluate)).left_stream();
        };
        on_threads(&batch, threads).right_stream()
    }
}

/// An evaluation.
pub(crate) struct Task {
    /// The harness with the seed of the attempt.
    pub harness: Harness,
    pub law: Law,
    pub clock: Arc<dyn Clock>,
    pub limit: Option<Duration>,
}

impl Task {
    fn new(batch: &Batch<'_>, law: &BatchLaw<'_>) -> Self {
        Self {
            harness: batch.harness.with_seed(law.seed),
            law: law.law.clone().into_owned(),
            clock: Arc::clone(batch.clock),
            limit: batch.wall_limit_ms.map(Duration::from_millis),
        }
    }

    /// Evaluates the law. `is_dropped` says that no one waits for the outcome any more.
    pub fn decide(&self, is_dropped: &(dyn Fn() -> bool + Sync)) -> Outcome {
        let begun = self.clock.elapsed();
        let elapsed = || self.clock.elapsed().saturating_sub(begun);
        let is_over = || self.limit.is_some_and(|limit| elapsed() > limit);
        let stop = || is_dropped() || is_over();
        let verdict = self.harness.evaluate_with_stop(&self.law, &stop);
        let cut = verdict.reason_code == Some(UnknownReason::ResourceLimit) && is_over();
        Outcome::Decided {
            verdict: Box::new(verdict),
            runtime_ms: elapsed().as_millis() as u64,
            cut,
        }
    }
}

/// Sets its flag when it is dropped.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Evaluates the laws on threads that end with the batch, or soon after the stream is dropped.
fn on_threads(
    batch: &Batch<'_>,
    threads: usize,
) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + use<> {
    let tasks: Arc<[Task]> = (batch.laws.iter())
        .map(|law| Task::new(batch, law))
        .collect();
    let (next, is_dropped) = (Arc::new(AtomicUsize::new(0)), Arc::default());
    let guard = SetOnDrop(Arc::clone(&is_dropped));
    let (sender, receiver) = unbounded();
    for _ in 0..threads.min(tasks.len()) {
        let (tasks, next) = (Arc::clone(&tasks), Arc::clone(&next));
        let (is_dropped, sender) = (Arc::clone(&is_dropped), sender.clone());
        std::thread::spawn(move || work(&tasks, &next, &is_dropped, &sender));
    }
    receiver.inspect(move |_| {
        let _ = &guard;
    })
}

/// Evaluates one task after the other until none is left.
fn work(
    tasks: &[Task],
    next: &AtomicUsize,
    is_dropped: &AtomicBool,
    sender: &UnboundedSender<Result<Evaluated, EvaluatorError>>,
) {
    let is_dropped = || is_dropped.load(Ordering::Relaxed);
    // The threads within an evaluation are off: each processor has a law of its own.
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else {
        return;
    };
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = tasks.get(index).filter(|_| !is_dropped()) else {
            return;
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| task.decide(&is_dropped))
        }));
        let evaluated = match outcome {
            Ok(outcome) => Ok(Evaluated::new(index, outcome)),
            Err(_) => Err(EvaluatorError::Panicked {
                law_fingerprint: task.law.fingerprint(),
            }),
        };
        if sender.unbounded_send(evaluated).is_err() {
            return;
        }
    }
}

/// Outcomes in the order of choice: those that are early wait.
#[derive(Debug, Default)]
pub struct InOrder {
    next: usize,
    early: BTreeMap<usize, Outcome>,
}

impl InOrder {
    /// Adds an outcome.
    pub fn add(&mut self, evaluated: Evaluated) {
        self.early.insert(evaluated.index, evaluated.outcome);
    }

    /// The index and outcome of the next law, if it came.
    pub fn pop(&mut self) -> Option<(usize, Outcome)> {
        let outcome = self.early.remove(&self.next)?;
        self.next += 1;
        Some((self.next - 1, outcome))
    }

    /// The number of laws whose outcome was taken.
    pub fn taken(&self) -> usize {
        self.next
    }
}
