//! A turn whose arguments or answer have megabytes, on a disk.
//!
//! `cargo bench -p orrery-hermitcrab-kernel --bench big_input`; the goal is 20 ms a MB.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hermitcrab_kernel::{EventSink, Face, Kernel, KernelConfig, ScriptBrain, ScriptStep};
use pscale_blocks::DirStore;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const MB: usize = 1_000_000;

/// The model's answer, made of a text.
type Step = fn(&str) -> ScriptStep;

/// An instance in this folder, of which the next turn is what `step` answers.
fn open(folder: &TempDir, step: ScriptStep) -> Kernel {
    let mut config = KernelConfig::default();
    config.face = Face::Terminal;
    config.data = Some(folder.path().to_owned());
    let opened = Kernel::builder(
        Arc::new(DirStore::open(folder.path()).unwrap().without_fsync()),
        Arc::new(ScriptBrain::new([step])),
    )
    .config(config)
    .open();
    opened.unwrap()
}

fn arguments(text: &str) -> ScriptStep {
    let input = json!({"name": "skills", "path": "0.9", "content": text});
    ScriptStep::tools(&[("1", "block_write", input)])
}

fn big_input(bench: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut group = bench.benchmark_group("big_input");
    group.sample_size(10);
    let kinds: [(&str, Step); 2] = [
        ("arguments", arguments),
        ("answer", |text| ScriptStep::text(text)),
    ];
    for megabytes in [1, 4, 10] {
        let text = "the quick brown fox ".repeat(megabytes * MB / 20);
        group.throughput(Throughput::Bytes(text.len() as u64));
        for (name, step) in kinds {
            let id = BenchmarkId::new(name, format!("{megabytes} MB"));
            group.bench_function(id, |bencher| {
                bencher.iter_batched(
                    || {
                        let folder = TempDir::new().unwrap();
                        (open(&folder, step(&text)), folder)
                    },
                    |(kernel, folder)| {
                        let cancel = CancellationToken::new();
                        let turn = kernel.turn("Go".to_owned(), EventSink::none(), cancel);
                        runtime.block_on(turn).unwrap();
                        folder
                    },
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, big_input);
criterion_main!(benches);
