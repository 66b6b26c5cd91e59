//! `prompt`: prints the next request, or its tokens, without sending it.

use std::io::Write as _;

use bin_support::model::ModelFlags;
use bin_support::{Exit, Failure, Session, Table, block_on, escape};
use clap::ValueEnum;
use hermitcrab_kernel::prompt::{Phase, Running};
use hermitcrab_kernel::{Face, Kernel};
use secrecy::SecretString;

use crate::answer::{print_document, printable_json, readable};
use crate::data_dir::DataDir;
use crate::flags::MODEL;
use crate::kernel_setup;
use crate::model_setup::ModelSetup;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab prompt --phase boot
  hermitcrab prompt --tokens";

#[derive(Debug, clap::Args)]
#[command(mut_arg("max_usd", |arg| arg.hide(true)))]
pub struct PromptArgs {
    /// Kind of the request.
    #[arg(long, value_enum, default_value_t = PromptPhase::Call)]
    pub phase: PromptPhase,
    /// Print the tokens of each part, its limit and the price. The exit code is 4 if a part is over its limit.
    #[arg(long)]
    pub tokens: bool,
    /// Print the request as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten, next_help_heading = MODEL)]
    pub model: ModelFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PromptPhase {
    /// The request that wakes the model.
    Boot,
    /// The request of a turn.
    Call,
}

/// Prints the next request, or its tokens.
pub fn execute(args: &PromptArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let phase = match args.phase {
        PromptPhase::Boot => Phase::Boot {
            running: Running::Nothing,
            face: Face::Page,
        },
        PromptPhase::Call => Phase::Call,
    };
    let (preview, price) = block_on(async {
        let (kernel, setup) = open(&args.model, data, session)?;
        let preview = kernel.prompt(phase).await;
        let price = setup.price(preview.tokens.total as u64);
        Ok::<_, Failure>((preview, price))
    })??;
    let over = preview
        .limits()
        .iter()
        .any(|limit| limit.tokens > limit.most);
    let out = &mut session.results;
    if args.json {
        print_document(&preview, session)?;
    } else if args.tokens {
        let mut table = Table::new(["part", "tokens", "limit"]);
        for part in &preview.parts {
            table.row([
                part.name.to_string(),
                part.tokens.to_string(),
                part.limit.to_string(),
            ]);
        }
        for limit in preview.limits() {
            table.row([
                limit.what.to_string(),
                limit.tokens.to_string(),
                limit.most.to_string(),
            ]);
        }
        let text = table.text(out);
        out.write_all(text.as_bytes())?;
        if let Some((model, usd)) = price {
            writeln!(out, "price {usd} for these tokens to {}", escape(&model))?;
        }
        writeln!(
            out,
            "counted by {}, tools in the form of {}; the provider counts differently",
            preview.tokens.tokenizer, preview.tokens.form
        )?;
    } else {
        writeln!(
            out,
            "{}\n{}\n{}",
            readable(&preview.cached),
            readable(&preview.memory),
            printable_json(&preview.tools)
        )?;
        for message in &preview.messages {
            writeln!(out, "{}", printable_json(&serde_json::to_string(message)?))?;
        }
    }
    Ok(if args.tokens && over {
        Exit::CheckFailed
    } else {
        Exit::Done
    })
}

/// Opens a kernel to look at. Its requests have the form of the model that the flags name.
fn open(
    model: &ModelFlags,
    data: &DataDir,
    session: &mut Session,
) -> Result<(Kernel, ModelSetup), Failure> {
    // No call is made, so there is none to record or to replay.
    let model = ModelFlags {
        record: None,
        replay: None,
        ..model.clone()
    };
    let setup = ModelSetup::new(&model, 0, data, session)?;
    let (brain, _) = match setup.missing_key()? {
        // No request is sent, so any key will do.
        Some(_) => setup.brain_with(&SecretString::from("none"))?,
        None => setup.brain(session)?,
    };
    let kernel = kernel_setup::open_read_only_with(data, setup.settings.clone(), brain)?;
    Ok((kernel, setup))
}
