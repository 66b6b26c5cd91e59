//! `parse`: prints how one answer is parsed.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Session, escape, shortened};
use logosphere_core::format::{Note, ParseMode, Parsed, is_signature, parse_signed};

use crate::error::Error;
use crate::numbers::word;
use crate::reading::Reading;

/// The number of characters of a part that are shown.
const SHOWN: usize = 100;

#[derive(Debug, clap::Args)]
pub struct ParseArgs {
    /// File with the answer [default: stdin].
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Rules that it is parsed by.
    #[arg(long, value_enum, value_name = "MODE", default_value = "lenient")]
    pub mode: ParseMode,
    /// Signature of the run's seed messages.
    #[arg(long, value_name = "SIGNATURE", default_value = "~init", value_parser = signature)]
    pub init_signature: String,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

fn signature(text: &str) -> Result<String, String> {
    is_signature(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "it is `~` and 1 to 31 characters on one line".to_owned())
}

pub fn execute(args: &ParseArgs, session: &mut Session) -> Result<Exit, Failure> {
    let bytes = read(args.file.as_deref())?;
    let text = String::from_utf8_lossy(&bytes);
    if text.as_bytes() != bytes {
        session.warn("the text is not UTF-8; invalid bytes were replaced by U+FFFD");
    }
    let mode = args.mode;
    let parsed = parse_signed(&text, mode, &args.init_signature);
    if args.json {
        session.results.json(&Reading::of(mode, &parsed))?;
    } else {
        let is_terminal = session.results.width().is_some();
        session
            .results
            .write_all(told(&text, &parsed, is_terminal).as_bytes())?;
    }
    Ok(Exit::Done)
}

/// Reads a file, or stdin.
fn read(file: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let read = match file {
        Some(path) if path != Path::new("-") => fs::read(path),
        _ => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
    };
    read.map_err(|source| {
        let path = file.map_or_else(|| PathBuf::from("stdin"), PathBuf::from);
        Failure::usage(Error::Read { path, source })
    })
}

/// Returns the result as text.
fn told(text: &str, parsed: &Parsed, is_terminal: bool) -> String {
    let mut lines = vec![
        format!("reason     {}", word(parsed.reason)),
        format!("end        {}", word(parsed.end)),
    ];
    if !parsed.notes.is_empty() {
        let notes: Vec<_> = parsed.notes.iter().map(word).collect();
        lines.push(format!("notes      {}", notes.join(", ")));
    }
    if parsed.lost_blocks > 0 {
        let (blocks, chars) = (parsed.lost_blocks, parsed.lost_chars);
        lines.push(format!("lost       {blocks} blocks, {chars} characters"));
    }
    let mut part = |name: &str, range: &Range<usize>, text: &str| {
        let bytes = format!("{}..{}", range.start, range.end);
        let text = if is_terminal {
            shortened(text, SHOWN)
        } else {
            escape(text)
        };
        let line = format!("{name:<9}  {bytes:<12}  {text}");
        lines.push(line.trim_end().to_owned());
    };
    let spans = &parsed.spans;
    part("thinking", &spans.thinking, &text[spans.thinking.clone()]);
    for (number, block) in spans.blocks.iter().enumerate() {
        let inside = &text[block.clone()];
        let name = match parsed.messages.len() {
            sent if number < sent => "message",
            _ if inside.trim().is_empty() => "blank",
            _ => "not sent",
        };
        part(name, block, inside);
    }
    if let Some(signature) = &spans.signature {
        part("signature", signature, &text[signature.clone()]);
    }
    if let Some(rest) = &spans.rest {
        let told = parsed.notes.contains(&Note::TextAfterEnd);
        part("behind", rest, if told { &text[rest.clone()] } else { "" });
    }
    lines.push(String::new());
    lines.join("\n")
}
