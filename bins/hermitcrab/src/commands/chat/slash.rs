//! The commands of the person in a conversation, such as `/blocks`. They call no model.

use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::Path;

use bin_support::output::write_file;
use bin_support::{Failure, Session, escape};
use hermitcrab_kernel::Kernel;
use hermitcrab_kernel::prompt::Phase;
use pscale_blocks::{BlockError, BlockName, BlockStore, StoreError};

use super::screen::Screen;
use crate::address::Address;
use crate::answer::{Answer, print_answer, readable};
use crate::blocks::list::list;
use crate::blocks::log::{latest, log};
use crate::blocks::{read, review, step};
use crate::conversation;
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::usage::usage_line;

const HELP: &str = "\
/blocks            all blocks
/read NAME [PATH]  a block, or one of its nodes; --full at the end shows long texts whole
/log [NAME]        the last edits of a block, or of all
/undo NAME [N]     undo the last N edits
/redo NAME [N]     redo the last N of them
/review            edits that wait for you; approve ID or drop ID after it decides
/new               begin a new window: what was said moves to history
/tools             the tools of the next call
/cost              calls, tokens and dollars
/prompt            the next request, and its tokens
/save FILE         write the conversation to a file
/quit              leave
";

/// The number of edits that `/log` shows.
const MAX_LOGGED: usize = 20;

/// The end of a command.
pub enum SlashOutcome {
    Done,
    /// The command failed. The exit code of a pipe says so.
    Failed,
    Leave,
}

/// Runs the command after the slash.
pub async fn run(
    command: &str,
    kernel: &Kernel,
    data: &DataDir,
    screen: &Screen,
    session: &mut Session,
) -> Result<SlashOutcome, Failure> {
    let words: Vec<_> = command.split_whitespace().collect();
    let store = kernel.store();
    match words.as_slice() {
        ["quit" | "exit" | "q"] => return Ok(SlashOutcome::Leave),
        ["help"] => write!(session.results, "{HELP}")?,
        ["blocks"] => print(list(&*store), session)?,
        ["read", name, "--full"] => print(read(name, None, true, &*store), session)?,
        ["read", name, at, "--full"] => print(read(name, Some(at), true, &*store), session)?,
        ["read", name] => print(read(name, None, false, &*store), session)?,
        ["read", name, at] => print(read(name, Some(at), false, &*store), session)?,
        ["log"] => print(latest(MAX_LOGGED, &*store), session)?,
        ["log", name] => print(
            block_name(name).and_then(|name| log(Some(&name), Some(MAX_LOGGED), &*store)),
            session,
        )?,
        [way @ ("undo" | "redo"), name, edits @ ..] if edits.len() < 2 => {
            let step = if *way == "undo" {
                step::undo
            } else {
                step::redo
            };
            let stepped = count(edits.first()).and_then(|count| {
                step(&block_name(name)?, count, &*store, &data.stamp_by_person())
            });
            print(stepped, session)?;
        }
        ["review"] => print(review::list(kernel.review(), &*store), session)?,
        ["review", "approve", id] => print(
            review::approve(id, kernel.review(), &*store, data.now()),
            session,
        )?,
        ["review", "drop", id] => print(review::drop(id, kernel.review()), session)?,
        ["new"] => {
            if kernel.begin_window(screen.sink()).await {
                session.status("a new window begins: the model sees none of the earlier messages");
            } else {
                session.warn("the messages stay in the window");
                return Ok(SlashOutcome::Failed);
            }
        }
        ["tools"] => writeln!(session.results, "{}", kernel.tools().join(" "))?,
        ["cost"] => cost(kernel, session)?,
        ["prompt"] => prompt(kernel, session).await?,
        ["save", file] => {
            if let Err(error) = save(kernel, Path::new(file), data, session) {
                session.report(&error);
                return Ok(SlashOutcome::Failed);
            }
        }
        _ => session.warn("unknown command; /help lists them"),
    }
    session.results.flush()?;
    Ok(SlashOutcome::Done)
}

/// Prints the answer of a block command, or its error. After an error the conversation continues.
fn print<A: Answer>(outcome: Result<A, Error>, session: &mut Session) -> Result<(), Failure> {
    match outcome {
        Err(error) => session.report(&error),
        answer => {
            print_answer(false, answer, session)?;
        }
    }
    Ok(())
}

fn block_name(name: &str) -> Result<BlockName, Error> {
    Ok(BlockName::new(name).map_err(StoreError::from)?)
}

fn read(
    name: &str,
    at: Option<&str>,
    full: bool,
    store: &dyn BlockStore,
) -> Result<impl Answer, Error> {
    let at = at.map(str::parse::<Address>).transpose();
    let at = at.map_err(BlockError::from)?;
    read::read(&block_name(name)?, at.as_ref(), None, full, store)
}

/// Reads a number of edits. Without a word it is 1.
fn count(word: Option<&&str>) -> Result<u32, Error> {
    let count = match word {
        Some(typed) => typed.parse().map_err(|_| Error::NoCount {
            typed: (*typed).to_owned(),
        })?,
        None => NonZeroU32::MIN,
    };
    Ok(count.get())
}

fn cost(kernel: &Kernel, session: &mut Session) -> Result<(), Failure> {
    let usage = kernel.usage();
    for (what, of_it) in [
        ("turn", usage.turn),
        ("day", usage.day),
        ("total", usage.total),
    ] {
        writeln!(session.results, "{what:<5} {}", usage_line(&of_it))?;
    }
    Ok(())
}

async fn prompt(kernel: &Kernel, session: &mut Session) -> Result<(), Failure> {
    let preview = kernel.prompt(Phase::Call).await;
    writeln!(
        session.results,
        "{}\n{}",
        readable(&preview.cached),
        readable(&preview.memory)
    )?;
    let tokens = preview.tokens;
    writeln!(
        session.results,
        "{} tokens ({}): system {}, tools {}, messages {}",
        tokens.total, tokens.tokenizer, tokens.system, tokens.tools, tokens.messages
    )?;
    Ok(())
}

/// Writes the conversation to a new file outside of the data directory.
fn save(kernel: &Kernel, file: &Path, data: &DataDir, session: &Session) -> Result<(), Error> {
    let path = file.to_owned();
    if data.holds(file) {
        return Err(Error::IntoData { path });
    }
    if file.exists() {
        return Err(Error::FileExists { path });
    }
    let said = kernel.said()?;
    write_file(file, |out| conversation::write(&said, out))?;
    session.status(&escape(&format!("saved to {}", file.display())));
    Ok(())
}
