//! The kernel's own time: a turn of three tool rounds, and the prompt of a call.
//!
//! `cargo bench -p orrery-hermitcrab-kernel --bench kernel`; the limits of the specification are in docs/benchmarks.md.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use hermitcrab_kernel::prompt::Phase;
use hermitcrab_kernel::{EventSink, Face, Kernel, KernelConfig, ScriptBrain, ScriptStep};
use pscale_blocks::{
    Appended, Applied, Block, BlockName, BlockStore, DirStore, EditAuthor, MemStore, Op, Stamp,
    Summary, SummaryKind,
};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Entries of the large memory.
const MEMORIES: usize = 7_000;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn open(store: Arc<dyn BlockStore>, steps: Vec<ScriptStep>) -> Kernel {
    let mut config = KernelConfig::default();
    config.face = Face::Terminal;
    let opened = Kernel::builder(store, Arc::new(ScriptBrain::new(steps)))
        .config(config)
        .open();
    opened.unwrap()
}

/// Three rounds of one tool each, and an answer.
fn script() -> Vec<ScriptStep> {
    let write = json!({"name": "skills", "path": "0.9", "content": "Tie the boat before lunch."});
    vec![
        ScriptStep::tools(&[("1", "block_read", json!({"name": "skills"}))]),
        ScriptStep::tools(&[("2", "block_write", write)]),
        ScriptStep::tools(&[("3", "block_read", json!({"name": "skills", "path": "0.9"}))]),
        ScriptStep::text("Done."),
    ]
}

fn turn_overhead(bench: &mut Criterion) {
    let runtime = runtime();
    let folder = TempDir::new().unwrap();
    let mut number = 0;
    let mut group = bench.benchmark_group("turn_overhead");
    let mut measure = |name: &str, make: &mut dyn FnMut() -> Arc<dyn BlockStore>| {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || open(make(), script()),
                |kernel| {
                    let turn = kernel.turn(
                        "Learn something".to_owned(),
                        EventSink::none(),
                        CancellationToken::new(),
                    );
                    let report = runtime.block_on(turn).unwrap();
                    assert_eq!(report.rounds, 4);
                },
                BatchSize::PerIteration,
            );
        });
    };
    measure("mem", &mut || Arc::new(MemStore::new()));
    measure("dir_without_fsync", &mut || {
        number += 1;
        let dir = folder.path().join(number.to_string());
        Arc::new(DirStore::open(&dir).unwrap().without_fsync())
    });
    group.finish();
}

fn prompt_build(bench: &mut Criterion) {
    let runtime = runtime();
    let store = MemStore::new();
    let memory = BlockName::new("memory").unwrap();
    let stamp = Stamp::new("2026-11-22T00:00:00Z".parse().unwrap(), EditAuthor::Kernel);
    store
        .create(&memory, &Block::new("Memory."), &stamp)
        .unwrap();
    for n in 0..MEMORIES {
        append(
            &store,
            &memory,
            &format!("Entry {n}: the tide was high and the boat stayed dry."),
            &stamp,
        );
    }
    let kernel = open(Arc::new(store), Vec::new());
    bench.bench_function("prompt_build", |bencher| {
        bencher.iter(|| black_box(runtime.block_on(kernel.prompt(Phase::Call))));
    });
}

fn append(store: &MemStore, name: &BlockName, text: &str, stamp: &Stamp) {
    let mut summary = None;
    loop {
        let op = Op::Append {
            text: text.to_owned(),
            summary: summary.take(),
        };
        match store.edit(name, None, &op, stamp).unwrap().applied {
            Some(Applied::Appended(Appended::NeedsSummary { .. })) => {
                summary = Some(Summary {
                    kind: SummaryKind::Summary,
                    text: "Nine of them.".to_owned(),
                });
            }
            _ => return,
        }
    }
}

criterion_group!(benches, turn_overhead, prompt_build);
criterion_main!(benches);
