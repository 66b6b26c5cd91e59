//! The person's own commands: no model is asked.

use std::io::Write as _;
use std::path::Path;

use bin_support::{Failure, Session, printable, write_file};
use hermitcrab_kernel::{BOOT_MESSAGE, Kernel, Phase};
use pscale_blocks::Provenance;
use serde_json::{Value, json};

use super::screen::readable;
use crate::error::Error;
use crate::look::taken;

const HELP: &str = "\
/blocks            all blocks
/read NAME [PATH]  a block, or one of its nodes
/log NAME          the last edits of a block
/undo NAME [N]     take the last N edits back
/redo NAME         make the last one of them again
/tools             the tools of the next call
/cost              what was taken
/prompt            what the next request would be, and its tokens
/save FILE         write the conversation to a file
/quit              leave
";

/// What follows a command.
pub enum After {
    Stay,
    Leave,
}

/// Runs what follows the slash.
pub async fn run(command: &str, kernel: &Kernel, session: &mut Session) -> Result<After, Failure> {
    let words: Vec<_> = command.split_whitespace().collect();
    match words.as_slice() {
        ["quit" | "exit" | "q"] => return Ok(After::Leave),
        ["help"] => write!(session.results, "{HELP}")?,
        ["blocks"] => tool(kernel, session, "block_list", json!({})).await?,
        ["read", name] => tool(kernel, session, "block_read", json!({"name": name})).await?,
        ["read", name, path] => {
            tool(
                kernel,
                session,
                "block_read",
                json!({"name": name, "path": path}),
            )
            .await?;
        }
        ["log", name] => tool(kernel, session, "block_log", json!({"name": name})).await?,
        ["redo", name] => tool(kernel, session, "block_redo", json!({"name": name})).await?,
        ["undo", name] => tool(kernel, session, "block_undo", json!({"name": name})).await?,
        ["undo", name, count] => {
            tool(
                kernel,
                session,
                "block_undo",
                json!({"name": name, "count": count}),
            )
            .await?;
        }
        ["tools"] => writeln!(session.results, "{}", kernel.tools().join(" "))?,
        ["cost"] => cost(kernel, session)?,
        ["prompt"] => prompt(kernel, session).await?,
        ["save", file] => save(kernel, Path::new(file), session)?,
        _ => session.notice("this is no command; /help lists them"),
    }
    session.results.flush()?;
    Ok(After::Stay)
}

async fn tool(
    kernel: &Kernel,
    session: &mut Session,
    name: &str,
    input: Value,
) -> Result<(), Failure> {
    let outcome = kernel.call_tool(name, input, Provenance::Person).await;
    if outcome.is_error {
        let text = |field: &str| {
            outcome.content[field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let hint = text("hint");
        let hint = if hint.is_empty() {
            hint
        } else {
            format!(" ({hint})")
        };
        session.notice(&printable(&format!("{}{hint}", text("detail"))));
    } else {
        writeln!(session.results, "{:#}", outcome.content)?;
    }
    Ok(())
}

fn cost(kernel: &Kernel, session: &mut Session) -> Result<(), Failure> {
    let usage = kernel.usage();
    for (what, of_it) in [
        ("turn", usage.turn),
        ("day", usage.day),
        ("total", usage.total),
    ] {
        writeln!(session.results, "{what:<5} {}", taken(&of_it))?;
    }
    Ok(())
}

async fn prompt(kernel: &Kernel, session: &mut Session) -> Result<(), Failure> {
    let preview = kernel.prompt(Phase::Call).await;
    writeln!(session.results, "{}\n{}", preview.cached, preview.memory)?;
    let tokens = preview.tokens;
    writeln!(
        session.results,
        "{} tokens ({}): system {}, tools {}, messages {}",
        tokens.total, tokens.tokenizer, tokens.system, tokens.tools, tokens.messages
    )?;
    Ok(())
}

/// What the program says to the model in the person's place.
fn is_of_the_kernel(said: &str) -> bool {
    said == BOOT_MESSAGE || (said.starts_with('[') && said.ends_with(']'))
}

fn save(kernel: &Kernel, file: &Path, session: &mut Session) -> Result<(), Failure> {
    if file.exists() {
        session.notice(&printable(&format!(
            "{} is there already: name another file",
            file.display()
        )));
        return Ok(());
    }
    let messages = kernel
        .record()
        .map_err(|error| Error::from(error).failure())?;
    let written = write_file(file, |out| {
        for message in &messages {
            let who = match message.role {
                llm_client::Role::User => "you",
                _ => "hermitcrab",
            };
            let said = message.text();
            if !said.trim().is_empty() && !is_of_the_kernel(said.trim()) {
                writeln!(out, "{who}: {}\n", readable(said.trim()))?;
            }
        }
        Ok(())
    });
    match written {
        Ok(()) => session.say(&printable(&format!("saved to {}", file.display()))),
        Err(error) => session.report(&error),
    }
    Ok(())
}
