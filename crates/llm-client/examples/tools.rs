//! A model that calls a tool until it is done: the whole loop, as a program writes it for its own tools.
//!
//! `cargo run -p orrery-llm-client --example tools` runs without a key: its own local server plays the model.
#![expect(
    clippy::disallowed_macros,
    reason = "an example shows its results on stdout"
)]

use std::error::Error;
use std::sync::Arc;

use llm_client::{
    Anthropic, Auth, Block, BlockKind, Client, Endpoint, Message, Request, Role, StopReason,
    SystemClock, ToolInput, ToolSpec,
};
use serde_json::{Value, json};
use test_support::{Rule, ScriptedModel};

const MOST_TURNS: usize = 8;

/// The one tool.
fn weather(input: &Value) -> Result<String, String> {
    match input["city"].as_str() {
        Some(city) => Ok(format!("9 degrees in {city}")),
        None => Err("city: expected a text".to_owned()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedModel::start([
        Rule::when("9 degrees").says("Cold: 9 degrees. Take a coat."),
        Rule::when("Oslo").calls("weather", r#"{"city": "Oslo"}"#),
    ]);
    let anthropic = Anthropic::new(Endpoint::new(&model.anthropic_url(), Auth::None)?);
    let client = Client::builder(Arc::new(anthropic), Arc::new(SystemClock::new())).build()?;
    let mut request = Request::new("claude-opus-5-5", "How is the weather in Oslo?");
    request.tools = vec![ToolSpec::Function {
        name: "weather".to_owned(),
        description: "The weather in a city".to_owned(),
        schema: json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
        strict: None,
    }];
    for _ in 0..MOST_TURNS {
        let reply = client.complete(&request).await?;
        println!("{:?}: {}", reply.stop, reply.text());
        match reply.stop {
            // The provider's own tools are under way: sent back as it is, the model goes on.
            StopReason::PauseTurn => request.messages.push(reply.to_message()),
            StopReason::ToolUse => {
                request.messages.push(reply.to_message());
                // Every call gets its result, in one message and before anything else in it.
                let results = reply.tool_uses().filter_map(|call| match &call.kind {
                    BlockKind::ToolUse { id, input, .. } => {
                        let result = match input {
                            ToolInput::Json(input) => weather(&input.to().unwrap_or_default()),
                            // Never run on arguments that are incomplete or no JSON.
                            ToolInput::Invalid(_) => Err("the arguments are not JSON".to_owned()),
                        };
                        let is_error = result.is_err();
                        let text = result.unwrap_or_else(|why| why);
                        Some(Block::tool_result(id, text, is_error))
                    }
                    _ => None,
                });
                request
                    .messages
                    .push(Message::new(Role::User, results.collect()));
            }
            // Done, or cut: a call in a reply that was cut is not run.
            _ => return Ok(()),
        }
    }
    Err(format!("the model is not done after {MOST_TURNS} turns").into())
}
