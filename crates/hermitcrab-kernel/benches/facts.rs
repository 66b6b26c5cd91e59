//! Row C5: the facts of texts, and an audit of all summaries of a large memory.
//!
//! `cargo bench -p orrery-hermitcrab-kernel --bench facts`; the goals are 1 ms for 1,000 words, and 150 ms for the comparison in
//! `memory audit` of 7,000 entries.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use atoms::cover;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hermitcrab_kernel::prompt::Receipt;
use pscale_blocks::{Appended, Block, Summary, SummaryKind};

/// Entries of the large memory.
const MEMORIES: usize = 7_000;

/// An entry of 20 words with a fact of each kind.
fn entry(n: usize) -> String {
    format!(
        "On {} March 2026 the keeper Ada Morrow paid {} euros for rope R-{n}, but the ferry to Ostrand did not sail",
        n % 28 + 1,
        n * 7 + 3,
    )
}

/// A summary of every nine entries: it keeps some facts, loses most, and adds a number.
fn summary(n: usize) -> Summary {
    Summary {
        kind: SummaryKind::Summary,
        text: format!(
            "Ada Morrow bought rope R-{n} for the ferry to Ostrand on {} days.",
            n + 90_000
        ),
    }
}

/// Extraction and comparison: nine parts, and a text made of them, with this number of words in all.
fn compare(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("facts");
    for words in [250, 1_000, 4_000] {
        let entries: Vec<String> = (0..words / 40).map(entry).collect();
        let whole = entries.join(". ");
        let size = entries.len().div_ceil(9);
        let parts: Vec<String> = entries.chunks(size).map(|part| part.join(". ")).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let covered = cover(&parts, &whole, &|_: &str| true);
        assert!(!covered.kept.is_empty() && covered.added.is_empty());
        group.bench_function(BenchmarkId::new("compare", words), |bencher| {
            bencher.iter(|| black_box(cover(&parts, &whole, &|_: &str| true)));
        });
    }
    group.finish();
}

fn audit(bench: &mut Criterion) {
    let mut block = Block::new("Memory.");
    for n in 0..MEMORIES {
        let mut given = None;
        while let Appended::NeedsSummary { .. } = block.append(&entry(n), given.take()).unwrap() {
            given = Some(summary(n));
        }
    }
    let receipts = Receipt::all(&block);
    assert!(receipts.iter().all(|(_, it)| !it.lost.is_empty()));
    let mut group = bench.benchmark_group("facts");
    group.sample_size(10);
    group.bench_function(BenchmarkId::new("audit", MEMORIES), |bencher| {
        bencher.iter(|| black_box(Receipt::all(&block)));
    });
    group.finish();
}

criterion_group!(benches, compare, audit);
criterion_main!(benches);
