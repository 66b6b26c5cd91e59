//! Speed of the operations that a turn waits for: `cargo bench -p orrery-pscale-blocks --bench blocks`. The limits are those of the
//! specification: parse 15 ms, view 3 µs and 1 µs, write 10 µs, aperture 3 ms, append 1 s, an edit on the disk 15 ms.
#![expect(clippy::unwrap_used, reason = "a bench that fails must stop")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use pscale_blocks::layer::aperture;
use pscale_blocks::{
    Appended, Applied, Block, BlockName, BlockStore as _, DirStore, EditAuthor, MemStore, O200k,
    Op, Path, Stamp, Summary, SummaryKind,
};

fn entry(number: usize) -> String {
    format!(
        "Entry {number}: we spoke about the boat, the keel and the weather, and will look at the timber tomorrow."
    )
}

/// The summary that an append needs when `at` is full.
fn summary(at: Path) -> Summary {
    Summary {
        kind: SummaryKind::Summary,
        text: format!(
            "What stands below {at}: nine quiet days of planking; Ilse keeps the ledger, launch is wanted before August."
        ),
    }
}

fn memory(entries: usize) -> Block {
    let mut block = Block::new("The memory of Kelp: what happened, oldest first.");
    for number in 1..=entries {
        let mut given = None;
        while let Appended::NeedsSummary { at, .. } =
            block.append(&entry(number), given.take()).unwrap()
        {
            given = Some(summary(at));
        }
    }
    block
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

fn reading(criterion: &mut Criterion) {
    // With its summaries a memory of 8,888 entries has 10,000 nodes.
    let large = memory(8888);
    assert!(
        (9_900..10_100).contains(&large.nodes()),
        "{}",
        large.nodes()
    );
    let json = large.to_file();
    criterion.bench_function("parse_10k", |bencher| {
        bencher.iter(|| Block::parse(black_box(&json)).unwrap());
    });
    let small = memory(88);
    for (name, block) in [("view/10k", &large), ("view/100", &small)] {
        let group = path(if block.decimal() > 3 {
            "0.1.5.5.5"
        } else {
            "0.1.5"
        });
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| block.view(black_box(&group)).unwrap());
        });
    }
    let (name, thousands): (BlockName, _) = ("memory".parse().unwrap(), memory(7000));
    // The tokenizer's tables are made at the first call.
    aperture(&thousands, &name, 250, &O200k, &|_| String::new());
    criterion.bench_function("aperture", |bencher| {
        bencher.iter(|| {
            aperture(black_box(&thousands), &name, 250, &O200k, &|_| {
                String::new()
            })
        });
    });
}

fn writing(criterion: &mut Criterion) {
    let mut block = memory(8888);
    let entry_path = path("0.1.5.5.5.5");
    criterion.bench_function("write_10k", |bencher| {
        bencher.iter(|| {
            block
                .write(black_box(&entry_path), "Another text of the same entry.")
                .unwrap()
        });
    });
}

fn appending(criterion: &mut Criterion) {
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Kernel);
    let name: BlockName = "memory".parse().unwrap();
    let append_all = |store: MemStore| {
        for number in 1..=10_000 {
            let mut given = None;
            loop {
                let op = Op::Append {
                    text: entry(number),
                    summary: given.take(),
                };
                match store.edit(&name, None, &op, &stamp).unwrap().applied {
                    Some(Applied::Appended(Appended::NeedsSummary { at, .. })) => {
                        given = Some(summary(at));
                    }
                    _ => break,
                }
            }
        }
        store
    };
    let mut group = criterion.benchmark_group("store");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("append_10k", |bencher| {
        let empty = || {
            let store = MemStore::new();
            store
                .create(&name, &Block::new("The memory of Kelp."), &stamp)
                .unwrap();
            store
        };
        bencher.iter_batched(empty, append_all, BatchSize::PerIteration);
    });
    group.finish();
}

/// An edit of a block of 10,000 nodes that is on the disk: the log, the file, and what the disk needs to keep them.
fn dir_edit(criterion: &mut Criterion) {
    let block = memory(8888);
    let name = BlockName::new("memory").unwrap();
    let stamp = Stamp::new("2026-11-22T00:00:00Z".parse().unwrap(), EditAuthor::Kernel);
    for (row, fsync) in [("dir_edit/without_fsync", false), ("dir_edit/fsync", true)] {
        let folder = tempfile::tempdir().unwrap();
        let store = DirStore::open(folder.path()).unwrap();
        let store = if fsync { store } else { store.without_fsync() };
        store.create(&name, &block, &stamp).unwrap();
        let mut number = 0_u64;
        criterion.bench_function(row, |bencher| {
            bencher.iter(|| {
                number += 1;
                let op = Op::Write {
                    path: path("0.1"),
                    text: format!("Summary number {number}."),
                };
                store.edit(&name, None, &op, &stamp).unwrap()
            });
        });
    }
}

criterion_group!(benches, reading, writing, appending, dir_edit);
criterion_main!(benches);
