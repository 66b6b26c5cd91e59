//! A judge: counts tokens with a mark of who counted, and asks for a score that follows a schema.
//!
//! `cargo run -p llm-client --example score` runs without a key or a network: a script plays the model.
#![expect(
    clippy::disallowed_macros,
    reason = "an example shows its results on stdout"
)]

use std::error::Error;
use std::sync::Arc;

use llm_client::{Client, Request, Script, StructuredOpts, SystemClock};

/// What the judge answers.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Score {
    score: u8,
    reasoning: String,
}

/// The first answer is no JSON: the client quotes what is wrong and asks once more.
const MODEL: &str = r#"[
  {"match": {"nth": 0}, "reply": {"text": "I would say 87."}},
  {"reply": {"text": "```json\n{\"score\": 87, \"reasoning\": \"the gist survives\"}\n```"}}
]"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let judge = Arc::new(Script::from_json(MODEL)?);
    let client = Client::builder(judge, Arc::new(SystemClock::new())).build()?;
    let request = Request::new(
        "claude-sonnet-4-5-20250929",
        "Original: a cat sat on the mat. Decoded: a cat on a mat. How close is it, from 0 to 100?",
    );
    let count = client.count_tokens(&request).await?;
    println!(
        "prompt: {} tokens, counted as {:?}",
        count.tokens, count.source
    );
    let judged = client
        .structured::<Score>(&request, StructuredOpts::default())
        .await?;
    println!(
        "score {} because {:?}, after {} repair(s)",
        judged.value.score, judged.value.reasoning, judged.repairs
    );
    Ok(())
}
