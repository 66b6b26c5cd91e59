//! A shell: a model that calls tools until it is done, then a reply that is shown while it is written.
//!
//! `cargo run -p llm-client --example tools` runs without a key or a network: a script plays the model.
#![expect(
    clippy::disallowed_macros,
    reason = "an example shows its results on stdout"
)]

use std::error::Error;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use llm_client::{
    Client, Event, LoopBounds, Message, Raw, Request, Script, SystemClock, ToolResult, ToolSpec,
    Toolbox,
};
use serde_json::json;

const MODEL: &str = r#"[
  {"match": {"has_tool_result": true, "user_contains": "Oslo"}, "reply": {"text": "9 degrees in Oslo."}},
  {"match": {"user_contains": "Oslo"}, "reply": {"tool_calls": [{"name": "weather", "input": {"city": "Oslo"}}]}},
  {"reply": {"text": "You are welcome, and do take a coat."}}
]"#;

struct Weather;

impl Toolbox for Weather {
    fn specs(&self) -> Vec<ToolSpec> {
        vec![ToolSpec::Function {
            name: "weather".to_owned(),
            description: "The weather in a city".to_owned(),
            schema: json!({
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            }),
            strict: None,
        }]
    }

    fn call<'a>(&'a self, name: &'a str, input: &'a Raw) -> BoxFuture<'a, ToolResult> {
        println!("tool {name} {}", input.get());
        async { ToolResult::text("9C") }.boxed()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = Arc::new(Script::from_json(MODEL)?);
    let client = Client::builder(model, Arc::new(SystemClock::new())).build()?;
    let request = Request::new("claude-opus-5-5", "How is the weather in Oslo?");
    let outcome = client
        .run_tools(request.clone(), &Weather, LoopBounds::default())
        .await?;
    println!("{} turns: {}", outcome.turns, outcome.reply.text());

    // The history goes on unchanged, blocks of the model byte for byte.
    let mut messages = outcome.history;
    messages.push(Message::user("Thank you."));
    let mut events = client
        .stream(&Request {
            messages,
            ..request
        })
        .await?;
    while let Some(event) = events.next().await {
        match event? {
            Event::TextDelta { text, .. } => print!("{text}"),
            Event::Done(reply) => println!("\n{:?}, {} tokens", reply.stop, reply.usage.total()),
            _ => {}
        }
    }
    Ok(())
}
