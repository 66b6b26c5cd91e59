//! The time of single parts: drawing, parsing answers and `init.md`, verifying and opening a journal, and memory.
//!
//! `cargo bench -p orrery-logosphere-core --bench core` prints one JSON object: for each row the median of its repeats, all of
//! them, and the goal of the specification where there is one. Words as arguments choose rows by a part of their names.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking, has arguments, looks at the clock and prints"
)]

use std::hint::black_box;
use std::time::{Instant, SystemTime};

use llm_types::FixedClock;
use logosphere_core::config::parse_init;
use logosphere_core::format::{ParseMode, parse};
use logosphere_core::journal::MemJournal;
use logosphere_core::pool::{Origin, Pool, Retention, sample_rng};
use logosphere_core::verify::{ResumedRun, verify};
use logosphere_core::{
    Effective, ExperimentStart, MindId, Orchestrator, RequestTemplate, Round, RunControl, Settings,
    local_mind,
};
use serde_json::{Value, json};

/// Repeats of each figure.
const REPEATS: usize = 5;

/// The rows of a table.
type Part = fn() -> Vec<Value>;

fn main() {
    let chosen: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let wanted =
        |name: &str| chosen.is_empty() || chosen.iter().any(|word| name.contains(word.as_str()));
    let parts: [(&str, Part); 5] = [
        // First: what is freed stays with the process.
        ("memory", memory),
        ("sample", samples),
        ("parse", answers),
        ("init.md", seeds),
        ("journal", journals),
    ];
    let rows = parts
        .into_iter()
        .filter(|(name, _)| wanted(name))
        .flat_map(|(_, part)| part());
    let report = json!({"repeats": REPEATS, "rows": rows.collect::<Vec<_>>()});
    println!("{}", serde_json::to_string_pretty(&report).unwrap());
}

/// A row: `goal` is the most that may be, or with `at_least` the least.
fn row(name: &str, unit: &str, values: &[f64], goal: Option<f64>, at_least: bool) -> Value {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let met = goal.map(|goal| {
        if at_least {
            median >= goal
        } else {
            median <= goal
        }
    });
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    let all: Vec<_> = values.iter().copied().map(rounded).collect();
    json!({"row": name, "unit": unit, "median": rounded(median), "all": all, "goal": goal, "met": met})
}

/// Seconds of each repeat.
fn seconds<T>(mut work: impl FnMut() -> T) -> Vec<f64> {
    let once = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(once).collect()
}

fn scaled(seconds: &[f64], factor: f64) -> Vec<f64> {
    seconds.iter().map(|seconds| seconds * factor).collect()
}

/// A message of 200 bytes.
fn message(n: usize) -> String {
    let mut text = format!("Message {n} says what messages say: ");
    while text.len() < 200 {
        text.push_str("word after word ");
    }
    text.truncate(199);
    text + "."
}

fn pool(messages: usize, active: usize, keep: Retention) -> Pool {
    let mut pool = Pool::new(active, keep);
    for n in 0..messages {
        pool.add(&message(n), Origin::Mind).unwrap();
    }
    pool
}

fn samples() -> Vec<Value> {
    const DRAWS: u32 = 100_000;
    [(1_000_000, Some(2.0)), (100, None)]
        .map(|(active, goal)| {
            let pool = pool(active, active, Retention::All);
            let taken = seconds(|| {
                for mind in 0..DRAWS {
                    black_box(pool.sample(10, &mut sample_rng(42, Round(1), MindId(mind))));
                }
            });
            let name = format!("sample 10 of {active}");
            row(
                &name,
                "us",
                &scaled(&taken, 1e6 / f64::from(DRAWS)),
                goal,
                false,
            )
        })
        .into()
}

fn answers() -> Vec<Value> {
    let paragraph = format!("{}\n", message(1));
    let thinking = paragraph.repeat(5);
    let usual = format!(
        "{thinking}\n---\n{}\n---\n{}\n---\n\n---\n~bard\n",
        message(2),
        message(3)
    );
    let long = format!(
        "{thinking}\n---\n{}\n---\n\n---\n",
        paragraph.repeat(50_000)
    );
    let wide = format!(
        "{thinking}\n---\n{}\n---\n\n---\n",
        "Größe und Maß — 平和 \u{1f30d} ".repeat(250_000)
    );
    let many = format!("thought\n{}\n---\n", "---\nm\n".repeat(100_000));
    [
        ("parse answers of 1.4 kB", usual, 5000, Some(300.0)),
        ("parse 10 MB in one message", long, 1, Some(300.0)),
        ("parse 10 MB that is not ASCII", wide, 1, Some(300.0)),
        ("parse 100 000 delimiters", many, 5, None),
    ]
    .map(|(name, text, times, goal)| {
        let taken = seconds(|| {
            for _ in 0..times {
                black_box(parse(black_box(&text), ParseMode::Lenient));
            }
        });
        let megabytes = (text.len() * times) as f64 / 1e6;
        let speed: Vec<_> = taken.iter().map(|seconds| megabytes / seconds).collect();
        row(name, "MB/s", &speed, goal, true)
    })
    .into()
}

fn seeds() -> Vec<Value> {
    // The reference takes 62 ms and 3.5 s; the goal is half of that.
    [(100_000, 31.0), (1_000_000, 1750.0)]
        .map(|(seeds, goal)| {
            let blocks: Vec<_> = (0..seeds)
                .map(|n| format!("---\n{}\n", message(n)))
                .collect();
            let file = format!("Notes.\n{}---\n\n---\n~init\n", blocks.concat());
            let taken =
                seconds(|| parse_init(file.as_bytes(), ParseMode::Lenient, "~init").unwrap());
            let name = format!("load init.md with {seeds} seeds of 200 B");
            row(&name, "ms", &scaled(&taken, 1e3), Some(goal), false)
        })
        .into()
}

/// Returns the journal of a run of copiers with `calls` calls of one message each.
fn journal(calls: u32) -> Vec<u8> {
    let settings = Settings::default().with(|settings| {
        settings.provider = "offline".into();
        settings.model = "local".into();
        settings.mind = Some("copier:mu=0.05".to_owned());
        settings.seed = 42;
        settings.n_minds = 100;
        settings.max_rounds = calls / 100;
        settings.stamp_seeds = false;
    });
    let mind = local_mind("copier:mu=0.05", &settings.prompt()).unwrap();
    let template = RequestTemplate::of(&mind, &settings, "local").unwrap();
    let effective = Effective::new(settings, "bench");
    let start = ExperimentStart::new(effective, "run".to_owned(), (0..15).map(message), template);
    let mut run = Orchestrator::start(
        start,
        mind,
        MemJournal::default(),
        FixedClock(SystemTime::UNIX_EPOCH),
        RunControl::default(),
    )
    .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime
        .block_on(async { run.run(&mut |_| {}).await })
        .unwrap();
    run.into_journal().bytes
}

fn journals() -> Vec<Value> {
    let mut rows = Vec::new();
    let journal = journal(100_000);
    let verified = seconds(|| verify(journal.as_slice()).unwrap());
    rows.push(row(
        "verify 100 000 messages",
        "s",
        &verified,
        Some(3.0),
        false,
    ));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("experiment.jsonl");
    std::fs::write(&file, &journal).unwrap();
    let opened = seconds(|| ResumedRun::open(&file, &file.with_extension("spool")).unwrap());
    rows.push(row(
        "open a journal of 100 000 messages",
        "s",
        &opened,
        Some(0.5),
        false,
    ));
    let size = journal.len() as f64 / 1e6;
    rows.push(row("its size", "MB", &[size], None, false));
    rows
}

/// The memory of a million messages of 200 bytes.
fn memory() -> Vec<Value> {
    let taken = |keep| {
        let before = resident();
        let pool = pool(1_000_000, 15, keep);
        let after = resident();
        black_box(&pool);
        (after - before).max(0.0)
    };
    // The one that takes little goes first.
    let active = taken(Retention::Active);
    let all = taken(Retention::All);
    vec![
        row(
            "memory of 1 000 000 messages, keep active",
            "MB",
            &[active],
            Some(20.0),
            false,
        ),
        row("memory of 1 000 000 messages", "MB", &[all], None, false),
    ]
}

/// Megabytes of this process that are in the memory now.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kibibytes.unwrap_or(f64::NAN) * 1024.0 / 1e6
}
