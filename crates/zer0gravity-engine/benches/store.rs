//! Compares runs that keep their calls in `calls.jsonl` with runs that keep them in memory, and measures the memory of a run.
//!
//! `cargo bench -p orrery-zer0gravity-engine --bench store` prints one JSON object a line: 1,002 calls that are answered at once, with texts of 40
//! bytes and of 4 KiB, in turn through both stores (seconds, best and median of seven rounds), what a write to this disk takes, and the
//! largest resident set of 10,000 experiments, of opening their file, and of the same run with a store that keeps nothing.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a benchmark prints what it measured, reads the clock and starts itself"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use llm_types::{FixedClock, Usd};
use serde_json::json;
use zer0gravity_engine::dataset::Case;
use zer0gravity_engine::model::{
    CallFacts, CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, TokenCount,
};
use zer0gravity_engine::plan::{Config, EncodingSystem, Plan, PlannedCase};
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::store::{
    CallKey, CallRecord, CallStore, JsonlStore, MemoryStore, StoreError,
};
use zer0gravity_engine::{Context, DEFAULT_RULES, LocalCounter, ModelClient, Runner, TokenUse};

const MODEL: &str = "claude-sonnet-4-5-20250929";
const ROUNDS: usize = 7;
/// Six calls each.
const EXPERIMENTS: usize = 167;
const MANY: usize = 10_000;
/// The bytes of a text of [`MANY`].
const TEXT: usize = 1000;
/// Tells a child process what to measure.
const CHILD: &str = "ZG_BENCH_STORE";

/// A model that answers at once.
struct Instant;

impl Instant {
    fn facts() -> CallFacts {
        CallFacts::default().attempts(1)
    }
}

impl ModelClient for Instant {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        let text = match request.role {
            Role::Encoder => request.inputs.texts[0].replace(' ', ""),
            Role::SemanticJudge => r#"{"score": 38, "reasoning": "a nuance is lost"}"#.to_owned(),
            Role::ImplementabilityJudge => r#"{"score": 4, "reasoning": "simple"}"#.to_owned(),
            _ => request.inputs.texts[0].clone(),
        };
        let reply = ModelReply::new(text)
            .usage(Some(TokenUse::new(900, 200)))
            .cost(Some(Usd(5_700_000)))
            .call(Self::facts());
        ready(Ok(reply)).boxed()
    }

    fn count_tokens(&self, request: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        let count = TokenCount::new(request.text.len() as u64 / 4).call(Self::facts());
        ready(Ok(count)).boxed()
    }

    fn label(&self) -> ModelLabel {
        ModelLabel::new("anthropic", "api.anthropic.com")
    }
}

const STILL: FixedClock = FixedClock(SystemTime::UNIX_EPOCH);

struct Quarter;

impl LocalCounter for Quarter {
    fn cl100k(&self, text: &str) -> u64 {
        text.len() as u64 / 4
    }

    fn o200k(&self, text: &str) -> u64 {
        self.cl100k(text)
    }
}

/// A store that keeps nothing.
struct Forgetful;

impl CallStore for Forgetful {
    fn get(&self, _: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
        Ok(None)
    }

    fn append(&mut self, _: &[Arc<CallRecord>]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Experiments with different texts of about this length.
fn plan(experiments: usize, bytes: usize) -> Plan {
    let words = ["the", "bird", "sings", "12", "songs", "to", "every", "tree"];
    let text = |number: usize| {
        let mut text = format!("Text {number}:");
        for index in number.. {
            if text.len() >= bytes {
                break;
            }
            text.push(' ');
            text.push_str(words[(index * index + number) % words.len()]);
        }
        text
    };
    let cases = (0..experiments)
        .map(|number| PlannedCase::new(Case::new(number.to_string(), text(number))));
    Plan::new(
        vec![EncodingSystem::new("default", None, DEFAULT_RULES)],
        cases.collect(),
        Config::new(Instant.label(), MODEL),
    )
}

/// Runs a plan, and gives the number of results.
fn run(plan: &Plan, store: impl CallStore + 'static) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runner = Runner::new(Context::new(&Instant, &STILL, &Quarter)).store(store);
    let results = async { runner.results(plan, &mut |_| ()).await };
    let (results, _) = runtime.unwrap().block_on(results).unwrap();
    assert!(results.iter().all(|result| result.outcome.is_ok()));
    results.len()
}

fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let begin = std::time::Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

fn best_and_median(mut seconds: Vec<f64>) -> [f64; 2] {
    seconds.sort_by(f64::total_cmp);
    [seconds[0], seconds[seconds.len() / 2]]
}

fn calls(lines: &[u8]) -> usize {
    lines.split_inclusive(|byte| *byte == b'\n').count()
}

fn speed(size: &str, bytes: usize) {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(EXPERIMENTS, bytes);
    let (mut memory, mut jsonl, mut write) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        memory.push(seconds(|| run(&plan, MemoryStore::default())));
        let path = folder.path().join(format!("{round}.jsonl"));
        let (store, _) = JsonlStore::open(&path).unwrap();
        jsonl.push(seconds(|| run(&plan, store)));
        // What the disk takes for the same bytes in writes of one line each, as of one call at a time.
        let lines = fs::read(&path).unwrap();
        assert_eq!(calls(&lines), 6 * EXPERIMENTS);
        let mut file = File::create(folder.path().join("lines")).unwrap();
        write.push(seconds(|| {
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                file.write_all(line).unwrap();
                file.sync_data().unwrap();
            }
        }));
    }
    let [memory, jsonl, write] = [memory, jsonl, write].map(best_and_median);
    let figures = json!({
        "figure": "1,002 calls at 0 ms, 8 under way", "texts": size,
        "memory_s": memory, "jsonl_s": jsonl, "one_write_each_s": write,
        "ratio": [jsonl[0] / memory[0], jsonl[1] / memory[1]], "goal": 2.0,
    });
    println!("{figures}");
}

/// The largest resident set of this process so far, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() * 1024
}

/// The work of a child process, which prints its peaks of memory before and after.
fn child(what: &str, path: &Path) {
    let plan = plan(if what == "open" { 0 } else { MANY }, TEXT);
    let before = peak();
    match what {
        "open" => assert!(JsonlStore::open(path).unwrap().1.is_none()),
        "forget" => assert_eq!(run(&plan, Forgetful), MANY),
        _ => assert_eq!(run(&plan, JsonlStore::open(path).unwrap().0), MANY),
    }
    println!("{} {}", before, peak());
}

fn memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    for what in ["run", "forget", "open"] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.arg(&path).env(CHILD, what).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (before, after) = text.trim().split_once(' ').unwrap();
        let [before, after] = [before, after].map(|bytes| bytes.parse::<u64>().unwrap());
        let lines = fs::read(&path).unwrap();
        assert_eq!(calls(&lines), 6 * MANY);
        let file = lines.len();
        let figures = json!({
            "figure": "peak memory of 10,000 experiments", "what": what, "before": before, "peak": after,
            "calls_jsonl": file, "ratio": (after - before) as f64 / file as f64, "goal": 1.3,
        });
        println!("{figures}");
    }
}

fn main() {
    if let Ok(what) = std::env::var(CHILD) {
        let path = std::env::args_os().nth(1).unwrap();
        return child(&what, Path::new(&path));
    }
    speed("40 bytes", 40);
    speed("4 KiB", 4096);
    memory();
}
