//! Whole runs in memory: settings, seeds, a mind and a clock in, a journal out.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use llm_types::Clock;
use logosphere_core::config::Scheduling;
use logosphere_core::journal::{MemJournal, PendingReply, RunResumed};
use logosphere_core::pool::SampleRng;
use logosphere_core::verify::ResumedRun;
use logosphere_core::{
    CallContext, Effective, ExperimentStart, LocalMind, Mind, MindError, MindId, MindInput,
    MindReply, Orchestrator, RequestTemplate, Round, RunControl, RunError, RunSummary, Settings,
    WireRequest, local_mind,
};

/// A clock that advances by a millisecond at each reading.
#[derive(Default)]
pub struct Ticking(pub AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> SystemTime {
        let ms = self.0.fetch_add(1, Ordering::SeqCst);
        SystemTime::UNIX_EPOCH + Duration::from_millis(1_767_312_000_000 + ms)
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(1, Ordering::SeqCst))
    }
}

/// A small offline run.
pub fn settings(scheduling: Scheduling) -> Settings {
    Settings::default().with(|settings| {
        settings.provider = "offline".into();
        settings.model = "local".into();
        settings.mind = Some("mutator:p=0.1".to_owned());
        settings.seed = 42;
        settings.n_minds = 4;
        settings.m_active_pool = 6;
        settings.max_rounds = 5;
        settings.scheduling = scheduling;
    })
}

pub fn mind(settings: &Settings) -> LocalMind {
    local_mind(settings.mind.as_deref().unwrap(), &settings.prompt()).unwrap()
}

/// Five seeds with a stamp.
pub fn seeds() -> impl Iterator<Item = String> {
    let seeds = [
        "the river keeps what the bridge forgets",
        "count the doors before you open one",
        "who tends the lamp when nobody reads",
        "salt remembers the shape of the sea",
        "a question is a door that walks",
    ];
    seeds.into_iter().map(|seed| format!("{seed}\n\n~init"))
}

/// The side of a call.
pub fn side(seed: u64, round: u32, mind: u32) -> CallContext {
    CallContext::new(seed, Round(round), MindId(mind))
}

/// The random numbers of a call.
pub fn sample_rng(seed: u64, round: u32, mind: u32) -> SampleRng {
    logosphere_core::pool::sample_rng(seed, Round(round), MindId(mind))
}

/// The first event of a run of `mind`.
pub fn start(settings: &Settings, mind: &dyn Mind) -> ExperimentStart {
    let template = RequestTemplate::of(mind, settings, "local").unwrap();
    let effective = Effective::new(settings.clone(), "test");
    ExperimentStart::new(effective, "run".to_owned(), seeds(), template)
}

/// Runs to the end, in a runtime whose timers do not wait.
pub fn run(settings: &Settings, mind: impl Mind) -> (RunSummary, Vec<u8>) {
    let (summary, journal) = try_run(settings, mind, RunControl::default());
    (summary.unwrap(), journal)
}

pub fn try_run(
    settings: &Settings,
    mind: impl Mind,
    control: RunControl,
) -> (Result<RunSummary, RunError>, Vec<u8>) {
    let start = start(settings, &mind);
    let journal = MemJournal::default();
    let mut run = Orchestrator::start(start, mind, journal, Ticking::default(), control).unwrap();
    let summary = wait(async { run.run(&mut |_| {}).await });
    (summary, run.into_journal().bytes)
}

/// Resumes a journal that ends with a complete line. The answers of `spooled` are not requested again.
pub fn resume(
    journal: &[u8],
    spooled: Vec<PendingReply>,
    mind: impl Mind,
) -> (RunSummary, Vec<u8>) {
    let mut resumption = ResumedRun::read(journal).unwrap();
    resumption.spooled = spooled;
    let continued = MemJournal::resumed(journal, resumption.lines, &resumption.chain);
    let resumed = RunResumed::new("test", std::collections::BTreeMap::new());
    let (clock, control) = (Ticking::default(), RunControl::default());
    let mut run =
        Orchestrator::resume(resumption, resumed, mind, continued, clock, control).unwrap();
    let summary = wait(async { run.run(&mut |_| {}).await }).unwrap();
    (summary, run.into_journal().bytes)
}

pub fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(work)
}

/// A mind that takes as long as the numbers of its call and of the test say, and counts.
pub struct Slow<M> {
    pub mind: M,
    pub salt: u64,
    pub calls: Mutex<Vec<String>>,
}

impl<M> Slow<M> {
    pub fn new(mind: M, salt: u64) -> Self {
        Self {
            mind,
            salt,
            calls: Mutex::default(),
        }
    }
}

#[async_trait]
impl<M: Mind> Mind for &Slow<M> {
    fn label(&self) -> &str {
        self.mind.label()
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        self.mind.request(input)
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        self.calls.lock().unwrap().push(side.call_key().to_owned());
        let nonce = u64::from_le_bytes(side.nonce()[..8].try_into().unwrap());
        let ms = nonce.wrapping_mul(self.salt.wrapping_mul(2) + 1) >> 56;
        tokio::time::sleep(Duration::from_millis(ms)).await;
        self.mind.respond(input, side).await
    }
}

/// The journal's lines as JSON.
pub fn lines(journal: &[u8]) -> Vec<serde_json::Value> {
    let lines = journal
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// A mind that always says the same.
pub struct Saying(pub &'static str);

#[async_trait]
impl Mind for Saying {
    fn label(&self) -> &'static str {
        "saying"
    }

    async fn respond(&self, _: &MindInput, _: &CallContext) -> Result<MindReply, MindError> {
        Ok(MindReply::new(self.0, ""))
    }
}
