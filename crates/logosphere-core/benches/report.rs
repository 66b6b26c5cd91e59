//! The time of the page and the analysis of a run, each part alone: reading, measuring, drawing, and runs of the null models.
//!
//! `cargo bench -p orrery-logosphere-core --bench report` prints one JSON object a line: for runs of 1,000 and 100,000 messages of about 20
//! words the seconds of each part, best and median of three rounds and the least of the processor, and the seconds of one run of each null model. A number as an
//! argument takes runs of that many messages instead.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking, has arguments, looks at the clock and prints"
)]

use std::hint::black_box;
use std::time::{Instant, SystemTime};

use llm_types::FixedClock;
use logosphere_core::journal::MemJournal;
use logosphere_core::measures::nulls::{Null, NullModel};
use logosphere_core::measures::{Analysis, AnalysisPlan};
use logosphere_core::report::{ReportData, page};
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
    sizes.into_iter().for_each(measured);
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

fn with_threads(mut plan: AnalysisPlan, threads: usize) -> AnalysisPlan {
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
            let data = ReportData::watched(journal.as_slice(), 0, threads, &mut |_| {}).unwrap();
            black_box(page(&data).render().unwrap());
        });
    }
    if messages <= 1_000 {
        for threads in [1, 2] {
            let mut plan = with_threads(plan, threads);
            plan.own_nulls = true;
            let name = format!("analyze with 600 null runs, threads: {threads}");
            of_run(&name, None, &mut || {
                black_box(Analysis::of(&run, &plan));
            });
        }
    }
    for null in [
        Null::RandomCopy { mu: None },
        Null::Shuffle,
        Null::Permutation,
    ] {
        let name = format!("model {null}");
        of_run(&name, None, &mut || {
            black_box(NullModel::new(&run, null, 0));
        });
        let model = NullModel::new(&run, null, 0);
        of_run(&format!("run of {null}"), None, &mut || {
            black_box(model.run(7));
        });
    }
}
