//! `trace`: shows where a text of a block comes from.

use std::io::{self, Write as _};

use bin_support::{Exit, Failure, Results, Session, escape};
use hermitcrab_kernel::conversation::{Trace, TracedOrigin};
use pscale_blocks::BlockName;
use serde::Serialize;

use crate::address::Address;
use crate::answer::{Answer, print_answer};
use crate::blocks::log::who;
use crate::blocks::output::{line, shown};
use crate::data_dir::DataDir;
use crate::error::Error;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab trace constitution 0.1
  hermitcrab trace constitution 0.1 --json";

/// The longest text that a terminal shows whole, in characters.
const SHOWN: usize = 100;

#[derive(Debug, clap::Args)]
pub struct TraceArgs {
    /// Name of the block.
    #[arg(value_name = "BLOCK")]
    pub name: BlockName,
    /// Path of the node, such as 0.3.1.
    #[arg(value_name = "PATH")]
    pub at: Address,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The answer: the edit that wrote the text, and the places outside.
#[derive(Serialize)]
struct TraceAnswer(Trace);

pub fn execute(args: &TraceArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    print_answer(args.json, trace(args, data), session)
}

fn trace(args: &TraceArgs, data: &DataDir) -> Result<TraceAnswer, Error> {
    let store = data.for_reading()?;
    let path = args.at.as_written()?;
    let trace = Trace::open(data.path(), &*store, &args.name, &path);
    trace.map(TraceAnswer).map_err(Error::Tool)
}

impl Answer for TraceAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        let Self(trace) = self;
        let (place, text) = (shown(&trace.path), line(&trace.text, SHOWN, out));
        writeln!(out, "{} {place}  {text}", trace.block)?;
        let at = trace.at.strftime("%Y-%m-%d %H:%M:%SZ");
        let by = who(&trace.by, out);
        write!(out, "written by {by}, revision {}, {at}", trace.rev)?;
        if let Some(n) = trace.n {
            write!(out, ", message {n}")?;
        }
        match &trace.note {
            Some(note) => writeln!(out, "  ({})", escape(note))?,
            None => writeln!(out)?,
        }
        for TracedOrigin {
            origin,
            message,
            call,
            ..
        } in &trace.from
        {
            let origin = line(&origin.to_string(), SHOWN, out);
            write!(out, "from {origin}")?;
            if let Some(message) = message {
                write!(out, ", message {message}")?;
            }
            match call {
                Some(call) => writeln!(out, ": {}", line(call, SHOWN, out))?,
                None => writeln!(out)?,
            }
        }
        if trace.from.is_empty() {
            writeln!(out, "from no place outside")?;
        }
        if trace.more > 0 {
            writeln!(out, "and from {} other places or more", trace.more)?;
        }
        Ok(())
    }
}
