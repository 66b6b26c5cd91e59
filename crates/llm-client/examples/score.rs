//! A judge: counts tokens with a mark of who counted, asks for a score in a form, and reads it.
//!
//! `cargo run -p orrery-llm-client --example score` runs without a key: its own local server plays the model.
#![expect(
    clippy::disallowed_macros,
    reason = "an example shows its results on stdout"
)]

use std::error::Error;
use std::sync::Arc;

use llm_client::{Anthropic, Auth, Client, Endpoint, Request, SystemClock, json};
use serde_json::json;
use test_support::{Rule, ScriptedModel};

/// A judge as they are: the answer is in a fence, with prose before it.
const ANSWER: &str =
    "I would say:\n```json\n{\"score\": 87, \"reasoning\": \"the gist survives\"}\n```";

/// The answer of the judge.
#[derive(Debug, serde::Deserialize)]
struct Score {
    score: u8,
    reasoning: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let judge = ScriptedModel::start([Rule::always().says(ANSWER)]);
    let anthropic = Anthropic::new(Endpoint::new(&judge.anthropic_url(), Auth::None)?);
    let client = Client::builder(Arc::new(anthropic), Arc::new(SystemClock::new())).build()?;
    // The schema reaches the model by the field that its server has for it, else in the system text.
    let request = Request::new(
        "claude-sonnet-4-5-20250929",
        "Original: a cat sat on the mat. Decoded: a cat on a mat. How close is it, from 0 to 100?",
    )
    .with_schema(json!({
        "type": "object",
        "properties": {"score": {"type": "integer"}, "reasoning": {"type": "string"}},
        "required": ["score", "reasoning"],
        "additionalProperties": false,
    }));
    let count = client.count_tokens(&request).await?;
    println!(
        "prompt: {} tokens, counted as {:?}",
        count.tokens, count.source
    );
    // No server is trusted to keep to the form: what is read is what is checked.
    let text = client.complete(&request).await?.text();
    let judged: Score = serde_json::from_value(json::parse(json::find(&text)?)?)?;
    println!("score {} because {:?}", judged.score, judged.reasoning);
    Ok(())
}
