//! Laws that workers decide through a database give the rows of laws that this process decides.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use llm_types::FixedClock;
use popper_discovery::queue::{EvaluationWork, QueueEvaluator, QueueEvaluatorOptions};
use popper_discovery::{
    Discovery, Error, LoopConfig, MemoryStore, RunEnd, RunSelector, Unobserved,
};
use popper_harness::decide::Status;
use serde_json::Value;
use test_support::postgres::{self, Database};
use tokio::task::JoinHandle;
use work_queue::{
    Address, Output, Queue, QueueError, QueueOptions, Served, Stopper, Timing, Work, WorkError,
    Worker, WorkerOptions,
};

use crate::scripted::{Scripted, moment, open, quick};

fn config() -> LoopConfig {
    let mut config = LoopConfig::default();
    config.test = 12;
    config
}

fn work() -> EvaluationWork {
    EvaluationWork::new(clock(SignedDuration::ZERO))
}

/// A clock that is wrong by `error`.
fn clock(error: SignedDuration) -> Arc<FixedClock> {
    let right = Timestamp::try_from(moment()).unwrap();
    Arc::new(FixedClock((right + error).into()))
}

fn timing() -> Timing {
    let mut timing = Timing::default();
    timing.lease = Duration::from_secs(1);
    timing.patience = Duration::from_secs(25);
    timing
}

/// A database with the tables of a queue.
struct Scene {
    address: Address,
    _database: Database,
}

impl Scene {
    /// `None` where no server can run.
    async fn new() -> Option<Self> {
        let database = postgres::database()?;
        let address = Address::parse(database.url()).unwrap();
        let mut options = QueueOptions::new("test");
        options.timing = timing();
        Queue::migrate(&address, &options).await.unwrap();
        Some(Self {
            address,
            _database: database,
        })
    }

    async fn queue(&self) -> Queue {
        let mut options = QueueOptions::new("test");
        options.timing = timing();
        Queue::open(&self.address, &options).await.unwrap()
    }

    async fn evaluator(&self, audit_percent: u8) -> QueueEvaluator {
        let mut options = QueueEvaluatorOptions::default();
        options.audit_percent = audit_percent;
        QueueEvaluator::new(self.queue().await, Arc::new(work()), options)
    }

    async fn worker(&self, name: &str, work: impl Work + 'static) -> RunningWorker {
        let mut options = WorkerOptions::new(name);
        options.timing = timing();
        options.poll = Duration::from_millis(10);
        let worker = Worker::open(&self.address, Arc::new(work), options);
        let worker = worker.await.unwrap();
        RunningWorker {
            stopper: worker.stopper(),
            task: tokio::spawn(worker.serve()),
        }
    }
}

struct RunningWorker {
    stopper: Stopper,
    task: JoinHandle<Result<Served, QueueError>>,
}

impl RunningWorker {
    async fn stop(self) -> Served {
        self.stopper.stop();
        self.task.await.unwrap().unwrap()
    }
}

/// The rows of three iterations that this process decides.
async fn expected() -> MemoryStore {
    let (config, script) = (config(), Scripted::mixed());
    let discovery = open(
        MemoryStore::default(),
        quick(),
        &config,
        RunSelector::Latest,
    );
    let mut discovery = discovery.await.unwrap();
    let ended = discovery.run_to(3, &script, &mut Unobserved).await;
    assert_eq!(ended.unwrap(), RunEnd::Completed);
    let store = discovery.into_store();
    assert!(store.evaluations.len() >= 20);
    store
}

/// Continues a run with an evaluator, and finishes its last jobs.
async fn continued(
    store: MemoryStore,
    evaluator: QueueEvaluator,
) -> (MemoryStore, QueueEvaluator, Result<RunEnd, Error>) {
    continued_at(SignedDuration::ZERO, store, evaluator).await
}

/// The same with a clock that is wrong by `error`.
async fn continued_at(
    error: SignedDuration,
    store: MemoryStore,
    evaluator: QueueEvaluator,
) -> (MemoryStore, QueueEvaluator, Result<RunEnd, Error>) {
    let (latest, clock) = (RunSelector::Latest, clock(error));
    let discovery = Discovery::open(store, quick(), config(), Scripted::ID, clock, latest).await;
    let mut discovery = discovery.unwrap().with_evaluator(evaluator);
    let ended = discovery
        .run_to(3, &Scripted::mixed(), &mut Unobserved)
        .await;
    let (store, evaluator) = discovery.into_parts();
    if ended.is_ok() {
        evaluator.finish(1).await.unwrap();
    }
    (store, evaluator, ended)
}

#[tokio::test]
async fn workers_change_no_byte() {
    let expected = expected().await;
    for workers in [1, 2] {
        let Some(scene) = Scene::new().await else {
            return;
        };
        let mut running = Vec::new();
        for number in 0..workers {
            let name = format!("worker {number}");
            running.push(scene.worker(&name, work()).await);
        }
        let evaluator = scene.evaluator(100).await;
        let (store, evaluator, ended) = continued(MemoryStore::default(), evaluator).await;
        assert_eq!(ended.unwrap(), RunEnd::Completed);
        assert_eq!(store, expected, "{workers} workers");
        let status = evaluator.queue().status().await.unwrap();
        assert_eq!((status.groups.len(), status.conflicts), (0, 0));
        let mut finished = 0;
        for worker in running {
            finished += worker.stop().await.finished;
        }
        assert!(finished >= 3, "{finished} jobs");
    }
}

/// Corrects all times of a store by `error`.
fn correct(store: &mut MemoryStore, error: SignedDuration) {
    let correct = |time: &mut Timestamp| *time -= error;
    store
        .runs
        .iter_mut()
        .for_each(|row| correct(&mut row.created_at));
    for row in &mut store.iterations {
        correct(&mut row.started_at);
        row.completed_at.as_mut().into_iter().for_each(correct);
    }
    for row in &mut store.evaluations {
        correct(&mut row.started_at);
        correct(&mut row.completed_at);
    }
    let counterexamples = store.counterexamples.iter_mut();
    counterexamples.for_each(|row| correct(&mut row.created_at));
    let capabilities = store.capabilities.iter_mut();
    capabilities.for_each(|row| correct(&mut row.created_at));
    store
        .calls
        .iter_mut()
        .for_each(|row| correct(&mut row.created_at));
}

#[tokio::test]
async fn a_clock_that_is_wrong_by_an_hour_changes_times_alone() {
    let expected = expected().await;
    for hours in [1, -1] {
        let Some(scene) = Scene::new().await else {
            return;
        };
        let error = SignedDuration::from_hours(hours);
        let worker = scene
            .worker("wrong", EvaluationWork::new(clock(error)))
            .await;
        // The clock of a worker enters no row.
        let evaluator = scene.evaluator(0).await;
        let (store, _, ended) = continued(MemoryStore::default(), evaluator).await;
        assert_eq!(ended.unwrap(), RunEnd::Completed);
        assert_eq!(store, expected, "{hours} h");
        // That of the coordinator is the one that times come from.
        let evaluator = scene.evaluator(0).await;
        let (mut store, _, ended) = continued_at(error, MemoryStore::default(), evaluator).await;
        assert_eq!(ended.unwrap(), RunEnd::Completed);
        assert_ne!(store, expected, "{hours} h");
        correct(&mut store, error);
        assert_eq!(store, expected, "{hours} h");
        worker.stop().await;
    }
}

/// Changes the output of the jobs that have a law whose fingerprint begins with some text.
struct Altered<F> {
    work: EvaluationWork,
    change: F,
}

impl<F: Fn(&mut Vec<Value>) -> Option<Vec<u8>> + Send + Sync> Work for Altered<F> {
    fn kind(&self) -> &str {
        self.work.kind()
    }

    fn semantics(&self) -> &str {
        self.work.semantics()
    }

    fn run(&self, input: &[u8], stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        let mut output = self.work.run(input, stop)?;
        let mut verdicts: Vec<Value> = serde_json::from_slice(&output.bytes).unwrap();
        output.bytes = match (self.change)(&mut verdicts) {
            Some(bytes) => bytes,
            None => serde_json::to_vec(&verdicts).unwrap(),
        };
        Ok(output)
    }

    fn split(&self, input: &[u8]) -> Vec<Vec<u8>> {
        self.work.split(input)
    }
}

type Change = fn(&mut Vec<Value>) -> Option<Vec<u8>>;

#[tokio::test]
async fn a_forged_answer_is_never_stored() {
    let forgeries: [(&str, Change); 7] = [
        ("counterexample", |verdicts| {
            match verdicts.iter_mut().find(|it| it["status"] == "FAIL") {
                Some(failed) => failed["status"] = "PASS".into(),
                None => verdicts[0]["status"] = "FAIL".into(),
            }
            None
        }),
        ("is for", |verdicts| {
            verdicts[0]["law_fingerprint"] = "another".into();
            None
        }),
        ("is for", |verdicts| {
            verdicts[0]["seed"] = 77.into();
            None
        }),
        ("verdicts for", |verdicts| {
            verdicts.clear();
            None
        }),
        ("expected", |_| Some(b"not JSON".to_vec())),
        ("t_fail is", |verdicts| {
            let failed = verdicts.iter_mut().find(|it| it["status"] == "FAIL");
            let Some(failed) = failed else {
                verdicts[0]["counterexample"] = "none".into();
                return None;
            };
            let t_fail = &mut failed["counterexample"]["t_fail"];
            *t_fail = (t_fail.as_u64().unwrap() + 1).into();
            None
        }),
        ("", |verdicts| {
            let proved = verdicts
                .iter_mut()
                .find(|it| it["evidence"]["proof"].is_object());
            match proved {
                Some(proved) => proved["evidence"]["proof"]["digest"] = "0".into(),
                None => verdicts[0]["sim_hash"] = "another".into(),
            }
            None
        }),
    ];
    for (problem, change) in forgeries {
        let Some(scene) = Scene::new().await else {
            return;
        };
        let altered = Altered {
            work: work(),
            change,
        };
        let worker = scene.worker("liar", altered).await;
        let evaluator = scene.evaluator(0).await;
        let (store, evaluator, ended) = continued(MemoryStore::default(), evaluator).await;
        let error = ended.unwrap_err().to_string();
        assert!(
            error.contains("worker liar gave a wrong answer") && error.contains(problem),
            "{error}"
        );
        worker.stop().await;
        // Nothing of that job is stored, and the run refuses to continue until somebody has looked.
        let conflicts = evaluator.queue().conflicts().await.unwrap();
        assert_eq!(conflicts.len(), 1, "{error}");
        let (store, evaluator, ended) = continued(store, evaluator).await;
        assert!(ended.unwrap_err().to_string().contains("conflict"));
        evaluator.queue().resolve(conflicts[0].id).await.unwrap();
        // Other jobs of the liar may be wrong as well.
        let expected = expected().await;
        let honest = scene.worker("honest", work()).await;
        let (mut store, mut evaluator) = (store, evaluator);
        loop {
            let (kept, same, ended) = continued(store, evaluator).await;
            (store, evaluator) = (kept, same);
            if ended.is_ok() {
                break;
            }
            for conflict in evaluator.queue().conflicts().await.unwrap() {
                evaluator.queue().resolve(conflict.id).await.unwrap();
            }
        }
        honest.stop().await;
        assert_eq!(store, expected, "{error}");
    }
}

#[tokio::test]
async fn an_audit_finds_a_worker_that_lies_without_leaving_a_trace() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    let altered = Altered {
        work: work(),
        change: |verdicts: &mut Vec<Value>| {
            verdicts[0]["notes"] = serde_json::json!(["a note that is not true"]);
            None
        },
    };
    let worker = scene.worker("liar", altered).await;
    let evaluator = scene.evaluator(100).await;
    let (_, evaluator, ended) = continued(MemoryStore::default(), evaluator).await;
    let error = ended.unwrap_err().to_string();
    assert!(
        error.contains("two workers answered differently"),
        "{error}"
    );
    assert_eq!(evaluator.queue().conflicts().await.unwrap().len(), 1);
    worker.stop().await;
}

/// Panics at a law whose document has some text.
struct Panicking(EvaluationWork, &'static str);

impl Work for Panicking {
    fn kind(&self) -> &str {
        self.0.kind()
    }

    fn semantics(&self) -> &str {
        self.0.semantics()
    }

    fn run(&self, input: &[u8], stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
        assert!(!String::from_utf8_lossy(input).contains(self.1));
        self.0.run(input, stop)
    }

    fn split(&self, input: &[u8]) -> Vec<Vec<u8>> {
        self.0.split(input)
    }
}

#[tokio::test]
async fn a_law_that_panics_is_set_aside_and_the_others_are_decided() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    let expected = expected().await;
    let poisoned = &expected.laws[expected.evaluations[2].law_id as usize - 1];
    let name = Box::leak(format!("\"{}\"", poisoned.law_id).into_boxed_str());
    let worker = scene.worker("worker", Panicking(work(), name)).await;
    let evaluator = scene.evaluator(0).await;
    let (store, _, ended) = continued(MemoryStore::default(), evaluator).await;
    assert_eq!(ended.unwrap(), RunEnd::Completed);
    worker.stop().await;
    let of_law = store.evaluations.iter();
    let aside: Vec<_> = of_law.filter(|row| row.law_id == poisoned.id).collect();
    assert_eq!(aside.len(), 3, "each iteration tries it again");
    for row in aside {
        assert_eq!(row.status, Status::Unknown);
        assert!(row.notes.contains("panicked"), "{}", row.notes);
    }
    let keyed = |store: &MemoryStore| -> Vec<String> {
        store.keys.keys().map(|(law, ..)| law.clone()).collect()
    };
    let mut others = keyed(&expected);
    others.retain(|law| *law != poisoned.law_fingerprint);
    let found = keyed(&store);
    let missing = others.iter().filter(|law| !found.contains(law)).count();
    // The attempts at the poisoned law took the places of at most two others.
    assert!(missing <= 2, "{missing} laws are not decided");
}

#[tokio::test]
async fn a_run_that_continues_finds_the_jobs_of_its_last_start() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    let expected = expected().await;
    // The first start has nobody who works, so it is let go.
    let first = continued(MemoryStore::default(), scene.evaluator(1).await);
    let waited = tokio::time::timeout(Duration::from_millis(1500), first).await;
    assert!(waited.is_err(), "there is no worker");
    let queue = scene.queue().await;
    let submitted = queue.status().await.unwrap().groups;
    assert_eq!(submitted.len(), 1);
    assert!(submitted[0].open > 0);
    let worker = scene.worker("worker", work()).await;
    let (store, _, ended) = continued(MemoryStore::default(), scene.evaluator(1).await).await;
    assert_eq!(ended.unwrap(), RunEnd::Completed);
    assert_eq!(store, expected);
    let finished = worker.stop().await.finished;
    // A law has one job at most: with one thread an iteration has four jobs or fewer, and 12 laws.
    assert!(finished <= 3 * 12, "{finished} jobs");
    assert_eq!(queue.status().await.unwrap().groups.len(), 0);
}
