//! The time of the page and the analysis of a run, each part alone: reading, measuring, drawing, and runs of the null models.
//!
//! `cargo bench -p orrery-logosphere-core --bench report` prints one JSON object a line: for runs of 1,000 and 100,000 messages of about 20
//! words the seconds of each part, best and median of three rounds and the least of the processor; of the report with 999 null runs one
//! round, and the largest memory of the process. A number as an argument takes runs of that many messages instead.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking, has arguments, looks at the clock and prints"
)]

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::{Instant, SystemTime};

use llm_types::FixedClock;
use logosphere_core::import::{Import, ImportPlan, ImportedRun};
use logosphere_core::journal::MemJournal;
use logosphere_core::measures::nulls::{DescentModel, ShuffleModel};
use logosphere_core::measures::{Analysis, AnalysisPlan};
use logosphere_core::report::{ReportData, ReportSource, RunFacts, page};
use logosphere_core::verify::Exposure;
use logosphere_core::{
    Effective, ExperimentStart, Orchestrator, RequestTemplate, RunControl, Settings, Transcript,
    local_mind,
};
use serde_json::json;

const ROUNDS: usize = 3;
const MINDS: u32 = 100;

fn main() {
    let chosen: Vec<u32> = (std::env::args().skip(1))
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if chosen.is_empty() {
        vec![1_000, 100_000]
    } else {
        chosen
    };
    for messages in sizes {
        measured(messages);
        imported(messages);
    }
}

/// Posts of about 200 bytes as JSONL. Every second one is one of the ten before it with one word changed.
fn posts(messages: u32) -> Vec<u8> {
    let hash = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let word = |at: u64| format!("word{}", hash(at) >> 19);
    let mut texts: Vec<Vec<String>> = Vec::new();
    let mut lines = Vec::new();
    for number in 0..u64::from(messages) {
        let text = if number % 2 == 1 && number > 10 {
            let back = 1 + hash(number) as usize % 10;
            let mut text = texts[texts.len() - back].clone();
            text[(number % 22) as usize] = word(number);
            text
        } else {
            (0..22).map(|place| word(number * 22 + place)).collect()
        };
        let post =
            json!({"id": number, "author": format!("a{}", number % 1_000), "text": text.join(" ")});
        serde_json::to_writer(&mut lines, &post).unwrap();
        lines.push(b'\n');
        texts.push(text);
    }
    lines
}

/// Prints the parts of an import with assumed reads, and its analysis with null runs.
fn imported(messages: u32) {
    let posts = posts(messages);
    let import = || {
        let mut plan = ImportPlan::default();
        plan.exposure = Some(Exposure::Window(NonZeroUsize::new(15).unwrap()));
        let mut on_line = || ControlFlow::Continue(());
        let mut import = Import::new(plan, &mut on_line);
        import.add_jsonl("posts.jsonl", &posts[..]).unwrap();
        let mut file = Vec::new();
        import.finish().unwrap().write(&mut file).unwrap();
        file
    };
    row(messages, "import", None, import);
    let (begun, before) = (Instant::now(), processor());
    let file = import();
    let mut plan = ReportData::plan(199, 2);
    plan.top = 10;
    let run = ImportedRun::read(&file[..]).unwrap().transcript;
    let analysis = Analysis::of(&run, &plan);
    let null = &analysis.comparison.as_ref().unwrap().null;
    assert_eq!((null.runs, null.asked_runs), (199, None), "{null:?}");
    let (seconds, processors) = (begun.elapsed().as_secs_f64(), processor() - before);
    let goal = Some(30.0).filter(|_| messages == 100_000);
    println!(
        "{}",
        json!({"messages": messages, "part": "import and analysis with 199 null runs, threads: 2", "seconds": seconds, "processor_s": processors, "peak_mb": peak_mb(), "goal": goal})
    );
}

/// A seed message of 20 words.
fn seed(number: usize) -> String {
    let words = (0..20).map(|word| format!("word{}", (number * 7 + word * word) % 200));
    words.collect::<Vec<_>>().join(" ")
}

/// The journal of a run of `messages` calls with one message each.
fn journal(messages: u32) -> Vec<u8> {
    let mind = "mutator:p=0.05";
    let settings = Settings::default().with(|settings| {
        settings.provider = "offline".into();
        settings.model = "local".into();
        settings.mind = Some(mind.to_owned());
        settings.seed = 42;
        settings.n_minds = MINDS;
        settings.m_active_pool = 200;
        settings.max_rounds = messages / MINDS;
    });
    let mind = local_mind(mind, &settings.prompt()).unwrap();
    let template = RequestTemplate::of(&mind, &settings, "local").unwrap();
    let effective = Effective::new(settings, "bench");
    let start = ExperimentStart::new(effective, "run".to_owned(), (0..50).map(seed), template);
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
    (runtime.block_on(async { run.run(&mut |_| {}).await })).unwrap();
    run.into_journal().bytes
}

/// Prints the seconds of a part of a run's page.
fn row<T>(messages: u32, part: &str, goal: Option<f64>, mut work: impl FnMut() -> T) {
    let (mut seconds, mut processors) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (begun, before) = (Instant::now(), processor());
        black_box(work());
        seconds.push(begun.elapsed().as_secs_f64());
        processors.push(processor() - before);
    }
    for all in [&mut seconds, &mut processors] {
        all.sort_by(f64::total_cmp);
    }
    let goal = goal.filter(|_| messages == 100_000);
    println!(
        "{}",
        json!({"messages": messages, "part": part, "best_s": seconds[0], "median_s": seconds[ROUNDS / 2], "processor_s": processors[0], "goal": goal})
    );
}

fn with_threads(mut plan: AnalysisPlan<'_>, threads: usize) -> AnalysisPlan<'_> {
    plan.threads = threads;
    plan
}

/// The seconds that this process has had a processor, in steps of 10 ms.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

fn measured(messages: u32) {
    let journal = journal(messages);
    let of_run = |part: &str, goal, work: &mut dyn FnMut()| row(messages, part, goal, work);
    let plan = AnalysisPlan::default();
    let run = Transcript::read(journal.as_slice()).unwrap();
    of_run("read the run", None, &mut || {
        black_box(Transcript::read(journal.as_slice()).unwrap());
    });
    for threads in [1, 2] {
        let plan = with_threads(plan, threads);
        let name = format!("analyze without null runs, threads: {threads}");
        of_run(&name, Some(5.0), &mut || {
            let run = Transcript::read(journal.as_slice()).unwrap();
            black_box(Analysis::of(&run, &plan));
        });
        let name = format!("report without null runs, threads: {threads}");
        of_run(&name, Some(5.0), &mut || {
            black_box(report(&journal, 0, threads));
        });
    }
    of_run("model descent", None, &mut || {
        black_box(DescentModel::new(&run, 0));
    });
    let model = DescentModel::new(&run, 0);
    of_run("null run of descent, its scores alone", None, &mut || {
        black_box(model.null_choice(7));
    });
    of_run("model shuffle", None, &mut || {
        black_box(ShuffleModel::new(&run, 0));
    });
    for threads in [1, 2] {
        if threads == 1 && messages > 10_000 {
            continue;
        }
        // Long runs have fewer null runs, and the page says so.
        let (begun, before) = (Instant::now(), processor());
        let html = report(&journal, 999, threads);
        let (seconds, processors) = (begun.elapsed().as_secs_f64(), processor() - before);
        let goal = match messages {
            100_000 => Some(60.0),
            1_000 => Some(3.0),
            _ => None,
        };
        let runs = if html.contains("199 null runs") {
            199
        } else {
            999
        };
        println!(
            "{}",
            json!({"messages": messages, "part": format!("report with 999 null runs, threads: {threads}"), "null_runs_made": runs, "seconds": seconds, "processor_s": processors, "peak_mb": peak_mb(), "goal": goal})
        );
    }
}

/// The page of a run with null runs.
fn report(journal: &[u8], null_runs: u32, threads: usize) -> String {
    let mut on_run = |_| ControlFlow::Continue(());
    let (facts, run) = RunFacts::read(journal).unwrap();
    let source = ReportSource::Journal(Box::new(facts));
    let plan = ReportData::plan(null_runs, threads);
    let data = ReportData::measured(source, run, &plan, &mut on_run);
    page(&data.unwrap()).render().unwrap()
}

/// The largest memory of this process so far in megabytes; 0 where the system does not tell.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1000
}
