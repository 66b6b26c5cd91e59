//! The event stream decoder by itself.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use llm_client::provider::SseDecoder;

use crate::wire::{self, Form};

/// Decodes 1 MiB that comes an event at a time, and in pieces of 16 KiB.
pub fn run() {
    let mut criterion = Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    let events = wire::events(Form::Anthropic, 1 << 20);
    let joined = wire::joined(&events);
    let mut group = criterion.benchmark_group("sse");
    let size: usize = events.iter().map(bytes::Bytes::len).sum();
    group.throughput(Throughput::Bytes(size as u64));
    for (name, pieces) in [("by_event", &events), ("in_16k_pieces", &joined)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut decoder = SseDecoder::new(16 << 20);
                for piece in pieces.iter() {
                    decoder.push(piece);
                    while let Some(event) = decoder.next_event().unwrap() {
                        black_box(event.data);
                    }
                }
            });
        });
    }
    group.finish();
}
