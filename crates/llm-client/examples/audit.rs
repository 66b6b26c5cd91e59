//! A proposer that must be auditable: what would be sent byte for byte, the raw reply, and a run that is replayed.
//!
//! `cargo run -p orrery-llm-client --example audit` needs no key: it prepares a request for a server and sends nothing.
#![expect(
    clippy::disallowed_macros,
    reason = "an example shows its results on stdout"
)]

use std::error::Error;
use std::sync::Arc;

use llm_client::{Anthropic, Auth, Client, Echo, Endpoint, Request, SystemClock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let clock = Arc::new(SystemClock::new());
    let request = Request::new("claude-opus-5-5", "Propose a law about this universe.");

    let key = Auth::Bearer("sk-example-0123456789".into());
    let anthropic = Anthropic::new(Endpoint::new(Anthropic::DEFAULT_BASE, key)?);
    let prepared = Client::builder(Arc::new(anthropic), clock.clone())
        .build()?
        .prepare(&request)?;
    println!("{} {}", prepared.method.as_str(), prepared.path);
    for (name, value) in &prepared.headers {
        println!("  {name}: {value}");
    }
    println!("  {}", String::from_utf8_lossy(&prepared.body));
    println!("  sha256 {}", prepared.sha256);

    let reply = Client::builder(Arc::new(Echo::new(1)), clock)
        .build()?
        .complete(&request)
        .await?;
    println!("raw reply for the audit: {}", reply.raw.get());
    Ok(())
}
