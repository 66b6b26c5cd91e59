//! The growth of a run in time, memory and bytes, and its questions to a database with a million laws.
//!
//! `cargo bench -p popper --bench long_run -- [ITERATIONS] [LAWS]` makes a run of the kinetic grid by the enumerative proposer (default
//! 1000 iterations) and compares the last tenth of the iterations with the second one. Then it adds copies of the tested laws up to LAWS
//! (default 1000000: 8 GB of disk; 0 leaves this part out), continues the run, and prints one JSON object.
//! A late law is harder to test than an early one, so planning and testing have their own figures.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../tests/it/grown.rs"]
mod grown;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llm_client::SystemClock;
use popper_discovery::evaluator::LocalEvaluator;
use popper_discovery::store::{
    Attempt, AttemptFilter, CallRow, CapabilityRow, DecisionRow, Iteration, IterationPlan,
    IterationState, LawFilter, LawRow, Pick, ProvedClaim, Query, RunRow, Store, StoreError,
    TestedLaw, VerdictCounts, VerdictKey,
};
use popper_discovery::{Discovery, EnumerativeProposer, Event, LoopConfig, Observer, RunSelector};
use popper_harness::decide::{Config, Harness};
use popper_harness::universe::KineticGrid;
use popper_store::{Access, Database};
use serde_json::{Value, json};

/// Iterations and laws, unless the command line says otherwise.
const DEFAULTS: [u32; 2] = [1000, 1_000_000];
/// Laws of an iteration of copies, and decisions of a commit.
const GROUP: usize = 1000;
/// Iterations after the copies.
const AFTER: u32 = 20;

/// The time that a store has taken.
#[derive(Debug, Clone, Default)]
struct Spent {
    reading: Duration,
    writing: Duration,
    /// The reading time by method.
    questions: BTreeMap<&'static str, Duration>,
}

/// A store that measures its methods.
struct Timed {
    store: Database,
    spent: Arc<Mutex<Spent>>,
}

macro_rules! timed {
    (write { $(fn $write:ident($($name:ident: $kind:ty),*) -> $out:ty;)* }
     read { $(fn $read:ident($($arg:ident: $argkind:ty),*) -> $result:ty;)* }) => {
        impl Store for Timed {
            $(async fn $write(&mut self, $($name: $kind),*) -> Result<$out, StoreError> {
                let begin = Instant::now();
                let answer = self.store.$write($($name),*).await;
                self.spent.lock().unwrap().writing += begin.elapsed();
                answer
            })*
            $(async fn $read(&mut self, $($arg: $argkind),*) -> Result<$result, StoreError> {
                let begin = Instant::now();
                let answer = self.store.$read($($arg),*).await;
                let mut spent = self.spent.lock().unwrap();
                spent.reading += begin.elapsed();
                *spent.questions.entry(stringify!($read)).or_default() += begin.elapsed();
                answer
            })*
        }
    };
}

timed! {
    write {
        fn create_run(run: &RunRow) -> i64;
        fn set_run_config(run_id: i64, config_json: &str) -> ();
        fn begin_iteration(iteration: &Iteration, capabilities: &CapabilityRow) -> i64;
        fn set_iteration(iteration_id: i64, state: &IterationState) -> ();
        fn plan_iteration(plan: &IterationPlan) -> ();
        fn add_call(call: &CallRow) -> ();
        fn commit(decisions: &[DecisionRow]) -> ();
    }
    read {
        fn runs() -> Vec<RunRow>;
        fn iterations(run_id: i64, pick: Pick) -> Vec<Iteration>;
        fn calls(run_id: i64, iteration_id: Option<i64>) -> Vec<CallRow>;
        fn known_fingerprints(run_id: i64, fingerprints: &[String]) -> BTreeSet<String>;
        fn laws(run_id: i64, filter: LawFilter<'_>) -> Vec<LawRow>;
        fn known(fingerprints: &[String], harness_config_hash: &str, sim_hash: &str) -> BTreeMap<String, VerdictKey>;
        fn proved_claims(claims: &[String], harness_config_hash: &str, sim_hash: &str) -> BTreeMap<String, ProvedClaim>;
        fn attempts(filter: AttemptFilter<'_>) -> Vec<Attempt>;
        fn findings(query: Query<'_>) -> Vec<TestedLaw>;
        fn tally(run: &RunRow) -> VerdictCounts;
    }
}

/// The totals of the process and its database after an iteration.
struct Sample {
    begun: Instant,
    /// The time from the plans of iterations to their ends.
    testing: Duration,
    processor: f64,
    resident_mb: f64,
    bytes: u64,
    spent: Spent,
}

/// Takes a sample after each iteration.
struct Watch {
    path: PathBuf,
    spent: Arc<Mutex<Spent>>,
    planned: Instant,
    testing: Duration,
    samples: Vec<Sample>,
}

impl Watch {
    fn sample(&mut self) {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        self.samples.push(Sample {
            begun: Instant::now(),
            testing: self.testing,
            processor: processor(),
            resident_mb: resident_mb(),
            bytes: size(&self.path) + size(&self.path.with_extension("db-wal")),
            spent: self.spent.lock().unwrap().clone(),
        });
    }

    /// Means of the iterations after one sample, up to another.
    fn window(&self, from: usize, to: usize) -> Value {
        let (first, last) = (&self.samples[from], &self.samples[to]);
        let each = |total: f64| rounded(total / (to - from) as f64);
        let millis = |time: Duration| each(time.as_secs_f64() * 1e3);
        let testing = last.testing.saturating_sub(first.testing);
        let questions = last.spent.questions.iter().map(|(question, time)| {
            let before = first.spent.questions.get(question);
            let time = time.saturating_sub(before.copied().unwrap_or_default());
            ((*question).to_owned(), json!(millis(time)))
        });
        json!({
            "iterations": [from + 1, to],
            "ms": millis(last.begun - first.begun),
            "testing_ms": millis(testing),
            "planning_ms": millis((last.begun - first.begun).saturating_sub(testing)),
            "processor_ms": each((last.processor - first.processor) * 1e3),
            "reading_ms": millis(last.spent.reading.saturating_sub(first.spent.reading)),
            "reading_ms_by_question": questions.collect::<serde_json::Map<_, _>>(),
            "writing_ms": millis(last.spent.writing.saturating_sub(first.spent.writing)),
            "database_mb": each((last.bytes as f64 - first.bytes as f64) / 1e6),
        })
    }
}

impl Observer for Watch {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Planned(_) => self.planned = Instant::now(),
            Event::Completed(_) => {
                self.testing += self.planned.elapsed();
                self.sample();
            }
            _ => {}
        }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn ratio(window: &Value, base: &Value, key: &str) -> Value {
    let of = |window: &Value| window[key].as_f64().unwrap();
    json!(rounded(of(window) / of(base)))
}

/// The seconds of processor time of this process (Linux only).
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// The resident memory of this process (Linux only).
fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.unwrap().trim().trim_end_matches(" kB");
    rounded(kb.parse::<f64>().unwrap() / 1e3)
}

/// Runs to `total` iterations in a process that has `watch`.
async fn run(path: &Path, total: u32) -> Watch {
    let spent = Arc::default();
    let mut watch = Watch {
        path: path.to_owned(),
        spent: Arc::clone(&spent),
        planned: Instant::now(),
        testing: Duration::ZERO,
        samples: Vec::new(),
    };
    let store = Database::open(path, Access::Write).await.unwrap();
    let harness = Harness::new(KineticGrid, Config::default()).unwrap();
    let proposer = EnumerativeProposer::new(harness.config().seed);
    let (id, clock) = (EnumerativeProposer::ID, Arc::new(SystemClock::new()));
    let store = Timed { store, spent };
    let opened = Discovery::open(
        store,
        harness,
        LoopConfig::default(),
        id,
        clock,
        RunSelector::Latest,
    );
    let threads = std::thread::available_parallelism().unwrap().get();
    let evaluator = LocalEvaluator::with_threads(threads);
    let mut discovery = opened.await.unwrap().with_evaluator(evaluator);
    watch.sample();
    discovery
        .run_to(total, &proposer, &mut watch)
        .await
        .unwrap();
    discovery.into_store().store.close().await.unwrap();
    watch
}

async fn measure(iterations: u32, laws: u32) -> Value {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("popper.db");
    let watch = run(&path, iterations).await;
    let all = iterations as usize;
    let tenth = (all / 10).max(1);
    let (first, last) = (
        watch.window(tenth, 2 * tenth),
        watch.window(all - tenth, all),
    );
    let by_tenth = |key| -> Value {
        let ends = (0..all)
            .step_by(tenth)
            .map(|from| (from, (from + tenth).min(all)));
        ends.map(|(from, to)| watch.window(from, to)[key].clone())
            .collect()
    };
    let resident = |at: usize| watch.samples[at].resident_mb;
    let mut answer = json!({
        "time_ratio": ratio(&last, &first, "ms"),
        "planning_ratio": ratio(&last, &first, "planning_ms"),
        "processor_ratio": ratio(&last, &first, "processor_ms"),
        "resident_mb": [resident(tenth), resident(all)],
        "resident_ratio": rounded(resident(all) / resident(tenth)),
        "whole": watch.window(0, all),
        "second_tenth": first,
        "last_tenth": last,
        "planning_ms_by_tenth": by_tenth("planning_ms"),
        "testing_ms_by_tenth": by_tenth("testing_ms"),
    });
    if laws > 0 {
        grown::grow(&path, 0..laws as usize, GROUP, false).await;
        let total = iterations + laws.div_ceil(GROUP as u32) + AFTER;
        let after = run(&path, total).await;
        answer["stored_laws"] = json!(laws);
        answer["with_stored_laws"] = after.window(0, AFTER as usize);
    }
    answer
}

fn main() {
    let asked = std::env::args().skip(1);
    let mut asked = asked.filter_map(|word| word.parse().ok());
    let [iterations, laws] = DEFAULTS.map(|default| asked.next().unwrap_or(default));
    let answer = bin_support::block_on(measure(iterations, laws)).unwrap();
    println!("{}", serde_json::to_string_pretty(&answer).unwrap());
}
