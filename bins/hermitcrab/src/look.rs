//! Commands that look at an instance: the next prompt, the faces, what was taken.

use std::io::{Read as _, Write as _};
use std::path::Path;

use bin_support::{Exit, Failure, Session, block_on, escape};
use hermitcrab_face::compile_shell;
use hermitcrab_kernel::Face;
use hermitcrab_kernel::config::UsageTotals;
use hermitcrab_kernel::prompt::{Phase, Running};
use serde_json::json;

use crate::answer::{print_json, printable_json, readable};
use crate::cli::{Compile, Cost, Prompt, PromptPhase, Shells, ShellsCommand};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::opened;

/// The longest text that is compiled in bytes; the compiler takes 256 KiB.
const MAX_JSX: u64 = 1 << 20;

/// Prints what the next request would be, or its tokens.
pub fn prompt(args: &Prompt, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let phase = match args.phase {
        PromptPhase::Boot => Phase::Boot {
            running: Running::Nothing,
            face: Face::Page,
        },
        PromptPhase::Call => Phase::Call,
    };
    let preview = block_on(async {
        let kernel = opened::for_prompt(&args.model, data, session)?;
        Ok::<_, Failure>(kernel.prompt(phase).await)
    })??;
    let over = preview
        .limits()
        .iter()
        .any(|limit| limit.tokens > limit.most);
    let out = &mut session.results;
    if args.json {
        print_json(&preview, session)?;
    } else if args.tokens {
        writeln!(out, "{:<14} {:>6} {:>6}", "part", "tokens", "limit")?;
        for part in &preview.parts {
            writeln!(
                out,
                "{:<14} {:>6} {:>6}",
                part.name, part.tokens, part.limit
            )?;
        }
        for limit in preview.limits() {
            writeln!(
                out,
                "{:<14} {:>6} {:>6}",
                limit.what, limit.tokens, limit.most
            )?;
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

/// Lists the kept faces, prints one, or goes back to one.
pub fn shells(args: &Shells, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    block_on(async {
        match args.command {
            None => list(args, data, session),
            Some(ShellsCommand::Show { rev }) => {
                let kernel = opened::for_looking(data)?;
                let source = kernel
                    .faces()
                    .source(rev)
                    .map_err(|error| Error::from(error).failure())?;
                let source = source.ok_or_else(|| Error::NoShell { rev }.failure())?;
                session.results.write_all(source.as_bytes())?;
                Ok(Exit::Done)
            }
            Some(ShellsCommand::Use { rev }) => {
                let kernel = opened::for_changing(data)?;
                if let Some(fault) = kernel.use_shell(rev).await.fault() {
                    return Err(match fault.kind.as_str() {
                        "not_found" => Error::NoShell { rev },
                        _ => Error::Tool(fault),
                    }
                    .failure());
                }
                writeln!(session.results, "face {rev} is shown when a page opens")?;
                Ok(Exit::Done)
            }
        }
    })?
}

fn list(args: &Shells, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let kernel = opened::for_looking(data)?;
    let shells = kernel.faces().shells();
    if shells.is_empty() && !args.json {
        session.warn("no faces yet");
    }
    if args.json {
        print_json(&json!({"schema_version": 1, "shells": shells}), session)?;
    }
    let out = &mut session.results;
    for shell in shells.iter().filter(|_| !args.json) {
        let state = match shell.mounted {
            Some(true) => "shown",
            Some(false) => "failed",
            None => "not shown yet",
        };
        let line = format!(
            "{} {} {} by {}, {state}",
            shell.rev, shell.at, shell.component, shell.by
        );
        writeln!(out, "{}", escape(&line))?;
    }
    Ok(Exit::Done)
}

/// Prints what calls have taken.
pub fn cost(args: &Cost, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let usage = opened::for_looking(data)?.usage();
    if args.json {
        let document = json!({"schema_version": 1, "day": usage.day, "total": usage.total});
        print_json(&document, session)?;
        return Ok(Exit::Done);
    }
    writeln!(session.results, "day    {}", taken(&usage.day))?;
    writeln!(session.results, "total  {}", taken(&usage.total))?;
    Ok(Exit::Done)
}

/// A number of things, such as `1 call` and `2 calls`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// What calls took, in one line.
pub fn taken(taken: &UsageTotals) -> String {
    let unknown = match taken.unknown {
        0 => String::new(),
        unknown => format!(" and {} of unknown cost", counted(unknown, "call")),
    };
    let UsageTotals {
        calls,
        input,
        cached,
        output,
        usd,
        unsettled,
        ..
    } = taken;
    let calls = counted(*calls, "call");
    if *unsettled > 0 {
        return format!(
            "{calls}, of these {unsettled} of unknown outcome, up to {usd}{unknown}, {input} tokens in ({cached} cached), {output} out"
        );
    }
    format!("{calls}, {input} tokens in ({cached} cached), {output} out, {usd}{unknown}")
}

/// Compiles a shell and says what is wrong with it.
pub fn compile(args: &Compile, session: &mut Session) -> Result<Exit, Failure> {
    let text = text_of(&args.file).map_err(Error::failure)?;
    match compile_shell(&text) {
        Ok(compiled) => {
            for warning in &compiled.warnings {
                session.warn(warning);
            }
            writeln!(session.results, "{}", escape(&compiled.component))?;
            Ok(Exit::Done)
        }
        Err(errors) => {
            for error in errors {
                let place = match (error.line, error.column) {
                    (Some(line), Some(column)) => format!("{line}:{column}: "),
                    (Some(line), None) => format!("{line}: "),
                    _ => String::new(),
                };
                let line = format!("{place}{}: {}", error.kind, error.message);
                writeln!(session.results, "{}", escape(&line))?;
            }
            Ok(Exit::CheckFailed)
        }
    }
}

fn text_of(file: &Path) -> Result<String, Error> {
    let failed = |source| Error::Read {
        path: file.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin()
            .take(MAX_JSX)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    } else {
        let opened = std::fs::File::open(file).map_err(failed)?;
        opened
            .take(MAX_JSX)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
    }
    String::from_utf8(bytes).map_err(|_| Error::NotText {
        path: file.to_owned(),
    })
}
