//! A population: many plain calls at once under a budget, and what they took.
//!
//! `cargo run -p orrery-llm-client --example pool` runs without a key or a network: an echo answers.
#![expect(
    clippy::disallowed_macros,
    reason = "an example shows its results on stdout"
)]

use std::error::Error;
use std::sync::Arc;

use futures_util::future::try_join_all;
use llm_client::{Budget, Client, Echo, Limits, Request, SystemClock, Usd};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::builder(Arc::new(Echo::new(7)), Arc::new(SystemClock::new()))
        .limits(Limits::default().concurrency(8))
        .budget(Budget::default().usd(Some(Usd(1_000_000_000))))
        .build()?;
    let requests: Vec<_> = (0..20)
        .map(|mind| {
            let text = format!("You are mind {}. Say something.", mind % 4);
            Request::new("anthropic/claude-3.5-sonnet", text)
                .max_tokens(Some(64))
                // Equal texts stay apart in a cassette, in whatever order the calls are made.
                .replay_key(Some(format!("mind {mind}")))
        })
        .collect();
    let replies = try_join_all(requests.iter().map(|request| client.complete(request))).await?;
    for reply in &replies[..3] {
        println!(
            "{:?} ({:?}, {} tokens)",
            reply.text(),
            reply.source,
            reply.usage.total()
        );
    }
    let tokens: u64 = replies.iter().map(|reply| reply.usage.total()).sum();
    println!(
        "{} replies, {tokens} tokens, {} spent",
        replies.len(),
        client.spent().usd
    );
    Ok(())
}
