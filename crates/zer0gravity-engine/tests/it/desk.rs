//! The parts of a run in a test: a plan, a store that shows its records, a clock that does not move.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use llm_types::Clock;
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::dataset::Case;
use zer0gravity_engine::plan::{Config, EncodingSystem, Plan, PlannedCase};
use zer0gravity_engine::report::RunReport;
use zer0gravity_engine::store::{CallKey, CallRecord, CallStore, MemoryStore, StoreError};
use zer0gravity_engine::{
    Context, ExperimentResult, LocalCounter, ModelClient, RunError, RunEvent, Runner,
};

use crate::player::{MODEL, Player, drive, finish, label};

/// A store whose records a test reads while the run has it; clones share them.
#[derive(Clone, Default)]
pub struct Ledger(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    store: MemoryStore,
    records: Vec<CallRecord>,
}

impl Ledger {
    /// Everything that was appended, in that order.
    pub fn records(&self) -> Vec<CallRecord> {
        self.0.lock().unwrap().records.clone()
    }

    /// The keys of all records, in their order.
    pub fn keys(&self) -> Vec<CallKey> {
        self.records().into_iter().map(|one| one.key).collect()
    }
}

impl CallStore for Ledger {
    fn get(&self, key: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
        self.0.lock().unwrap().store.get(key)
    }

    fn append(&mut self, records: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        let mut kept = self.0.lock().unwrap();
        kept.records
            .extend(records.iter().map(|record| (**record).clone()));
        kept.store.append(records)
    }
}

/// Time that moves when a test says so; clones share it.
#[derive(Clone, Default)]
pub struct Still(Arc<AtomicU64>);

impl Still {
    pub fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for Still {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(498_696) + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// Counts characters: every number of a test can be computed by hand.
pub struct Characters;

impl LocalCounter for Characters {
    fn cl100k(&self, text: &str) -> u64 {
        text.chars().count() as u64
    }

    fn o200k(&self, text: &str) -> u64 {
        self.cl100k(text)
    }
}

/// The parts that a [`Runner`] needs in addition to a plan.
pub struct Desk {
    pub ledger: Ledger,
    pub clock: Still,
    pub concurrency: usize,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            ledger: Ledger::default(),
            clock: Still::default(),
            concurrency: 8,
        }
    }
}

impl Desk {
    /// One call at a time.
    pub fn one_by_one() -> Self {
        Self {
            concurrency: 1,
            ..Self::default()
        }
    }

    /// A runner of experiments on this store.
    pub fn runner<'a>(&'a self, client: &'a dyn ModelClient) -> Runner<'a> {
        Runner::new(Context::new(client, &self.clock, &Characters))
            .store(self.ledger.clone())
            .concurrency(self.concurrency)
    }

    /// A whole run that keeps its calls elsewhere.
    pub async fn stored(
        &self,
        client: &dyn ModelClient,
        plan: &Plan,
        store: impl CallStore + 'static,
    ) -> Result<RunReport, RunError> {
        let runner = self.runner(client).store(store);
        runner.run(plan, &mut |_| ()).await
    }

    /// The same with a player that holds nothing.
    pub fn run_stored(
        &self,
        player: &Player,
        plan: &Plan,
        store: impl CallStore + 'static,
    ) -> Result<RunReport, RunError> {
        finish(self.stored(player, plan, store), player)
    }

    /// A run with its events to `on_event`.
    pub async fn matrix(
        &self,
        client: &dyn ModelClient,
        plan: &Plan,
        cancel: CancellationToken,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<RunReport, RunError> {
        let runner = self.runner(client).cancel(cancel);
        runner.run(plan, on_event).await
    }

    /// A run without a listener to its events.
    pub async fn quietly(
        &self,
        client: &dyn ModelClient,
        plan: &Plan,
        cancel: CancellationToken,
    ) -> Result<RunReport, RunError> {
        self.matrix(client, plan, cancel, &mut |_| ()).await
    }

    /// A whole run with a player that holds nothing.
    pub fn run(&self, player: &Player, plan: &Plan) -> Vec<ExperimentResult> {
        self.report(player, plan).results
    }

    /// The same, all of it.
    pub fn report(&self, player: &Player, plan: &Plan) -> RunReport {
        let run = self.quietly(player, plan, CancellationToken::new());
        finish(run, player).unwrap()
    }

    /// A whole run whose held calls are let go one by one, as `choose` picks from their number.
    pub fn run_held(
        &self,
        player: &Player,
        plan: &Plan,
        mut choose: impl FnMut(usize) -> usize,
    ) -> RunReport {
        let run = self.quietly(player, plan, CancellationToken::new());
        let step = |player: &Player| {
            let held = player.held().len();
            assert_ne!(held, 0, "it waits for nothing");
            player.release(choose(held));
            true
        };
        drive(run, player, step).unwrap().unwrap()
    }
}

/// A plan for these texts, with the ids `1`, `2` and so on, by one set of rules.
pub fn plan(texts: &[&str]) -> Plan {
    let cases = texts.iter().zip(1..).map(|(text, id)| case(id, text));
    Plan::new(
        vec![EncodingSystem::new(
            "rules",
            None,
            "drop every second letter",
        )],
        cases.collect(),
        Config::new(label(), MODEL),
    )
}

pub fn case(id: u32, text: &str) -> PlannedCase {
    PlannedCase::new(Case::new(id.to_string(), text))
}

/// The one result of a plan for one text.
pub fn only(mut results: Vec<ExperimentResult>) -> ExperimentResult {
    assert_eq!(results.len(), 1);
    results.remove(0)
}
