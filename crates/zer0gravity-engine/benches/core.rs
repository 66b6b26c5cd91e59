//! Times of the steps between calls: the score, reading judges, a call's key, and opening a store of 10,000 calls.
#![expect(clippy::expect_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use zer0gravity_engine::DEFAULT_RULES;
use zer0gravity_engine::judge::parse_judge_reply;
use zer0gravity_engine::judge::score::{TokenPair, score_all};
use zer0gravity_engine::model::{
    CountRequest, Endpoint, ModelLabel, ModelRequest, Repeat, TokenCount,
};
use zer0gravity_engine::prompts::{Nonce, PromptProfile, Role, RoleInput, render};
use zer0gravity_engine::store::{CallKey, CallRecord, CallStore, JsonlStore, StoredAnswer};

const CALLS: u64 = 10_000;

fn label() -> ModelLabel {
    ModelLabel::new("anthropic", "api.anthropic.com")
}

fn request() -> ModelRequest {
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(20);
    let input = RoleInput::Encode {
        rules: DEFAULT_RULES,
        text: &text,
    };
    ModelRequest::new(
        Role::Encoder,
        "claude-sonnet-4-5-20250929",
        render(PromptProfile::Plain, input, Nonce::default()),
    )
    .repeat(Repeat::default().trial(Some(1)))
}

fn steps(criterion: &mut Criterion) {
    let reply = "On a scale of 0-40:\n```json\n{\"score\": 38, \"reasoning\": \"almost the same, a nuance is lost\"}\n```";
    let tokens = TokenPair {
        original: 91,
        encoded: 70,
    };
    criterion.bench_function("score_all", |bencher| {
        bencher.iter(|| score_all(black_box(tokens), black_box(38), black_box(5)));
    });
    criterion.bench_function("parse_judge_reply", |bencher| {
        bencher.iter(|| parse_judge_reply(black_box(reply), 40, &[]));
    });
    let (request, label) = (request(), label());
    criterion.bench_function("call_key", |bencher| {
        bencher.iter(|| CallKey::of_message(black_box(&request), &label));
    });
}

fn store(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("calls.jsonl");
    let mut lines = Vec::new();
    for number in 0..CALLS {
        let request = CountRequest::new("m", number.to_string());
        let record = CallRecord::new(
            CallKey::of_count(&request, &label()),
            Endpoint::CountTokens,
            request.model,
            StoredAnswer::Count(TokenCount::new(number)),
        );
        serde_json::to_writer(&mut lines, &record).expect("JSON");
        lines.push(b'\n');
    }
    std::fs::write(&path, lines).expect("the file");
    let first = CallKey::of_count(&CountRequest::new("m", "0"), &label());
    criterion.bench_function("resume_10000_calls", |bencher| {
        bencher.iter(|| {
            let (store, torn) = JsonlStore::open(black_box(&path)).expect("a store");
            assert!(torn.is_none() && matches!(store.get(&first), Ok(Some(_))));
        });
    });
}

criterion_group!(benches, steps, store);
criterion_main!(benches);
