//! Asks a model and shows its reply while it is written; usage and cost follow on stderr.
//!
//! ```sh
//! cargo run -p orrery-llm-client --example ask -- "Why is the sky blue?"
//! cargo run -p orrery-llm-client --example ask -- --provider llamacpp --model any "Why is the sky blue?"
//! ```
//!
//! The flags are those of every program of the workspace. Without a key `Echo` answers.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use bin_support::model::{ModelDefaults, ModelFlags, ModelSource, OpenOptions, ProviderName};
use bin_support::{Exit, Failure, Program, SeedFlag, Session};
use futures_util::StreamExt as _;
use llm_client::{Client, Echo, Event, Reply, Request, StopReason, SystemClock};

const DEFAULTS: ModelDefaults = ModelDefaults {
    program: "ask",
    provider: ProviderName::Anthropic,
    model: "claude-haiku-4-5",
};

/// Ask a model one question.
#[derive(clap::Parser)]
#[command(name = "ask", version)]
struct Cli {
    #[command(flatten)]
    model: ModelFlags,
    #[command(flatten)]
    seed: SeedFlag,
    /// The longest reply in tokens.
    #[arg(long, default_value_t = 1024)]
    max_tokens: u32,
    /// The question.
    text: String,
}

impl Program for Cli {}

fn execute(cli: &Cli, session: &mut Session) -> Result<Exit, Failure> {
    let seed = cli.seed.seed;
    let (client, model) = match cli.model.open(
        OpenOptions::new(&DEFAULTS, seed, cli.model.clock()?),
        &session.environment,
        |line| session.warn(line),
    )? {
        ModelSource::Client { client, model, .. } => (client, model),
        ModelSource::Offline => {
            let echo = Arc::new(Echo::new(seed));
            let client = Client::builder(echo, Arc::new(SystemClock::new())).build()?;
            (client, "echo".to_owned())
        }
    };
    let mut request = Request::new(model, &cli.text);
    request.max_tokens = Some(cli.max_tokens);
    let reply = bin_support::block_on(show(&client, &request, session))??;
    session.warn(&summary(&reply));
    Ok(match reply.stop {
        StopReason::EndTurn | StopReason::StopSequence(_) => Exit::Done,
        _ => Exit::SomeFailed,
    })
}

/// Writes the text of the reply piece by piece.
async fn show(client: &Client, request: &Request, session: &mut Session) -> Result<Reply, Failure> {
    let mut events = client.stream(request).await?;
    while let Some(event) = events.next().await {
        match event? {
            Event::TextDelta { text, .. } => {
                write!(session.results, "{text}")?;
                session.results.flush()?;
            }
            Event::Done(reply) => {
                writeln!(session.results)?;
                session.results.flush()?;
                return Ok(*reply);
            }
            _ => {}
        }
    }
    // A stream ends with `Done` or with an error; this is for a provider that keeps to neither.
    Err(Failure::new(Exit::Failed, "the reply has no end"))
}

fn summary(reply: &Reply) -> String {
    let usage = &reply.usage;
    let cost = match reply.cost.usd {
        Some(usd) => usd.to_string(),
        None => "unknown".to_owned(),
    };
    format!(
        "{} ({:?}): {} tokens in, {} out, cost {cost}, {} attempts, ended by {:?}",
        reply.model,
        reply.source,
        usage.prompt(),
        usage.output,
        reply.attempts.len(),
        reply.stop,
    )
}

fn main() -> ExitCode {
    bin_support::run(execute)
}
