//! The command `popper simulate`.

use std::io::{self, BufRead, Read as _, Write as _};

use bin_support::{Exit, Failure, Results, Session};
use popper_harness::universe::{State, Tabulated, Universe};

use crate::error::Error;
use crate::flags::UniverseFlag;
use crate::universe;

/// The longest line of stdin, in bytes: an endless device must not fill the memory.
const LONGEST: u64 = 64 << 20;

#[derive(Debug, clap::Args)]
pub struct SimulateArgs {
    /// State at t = 0, such as `..><`, every symbol of the universe allowed; - reads states from stdin, one a line.
    #[arg(value_name = "STATE|-")]
    pub state: String,
    /// Number of steps.
    #[arg(short = 'n', long, value_name = "T", default_value_t = 10)]
    pub steps: u64,
    #[command(flatten)]
    pub universe: UniverseFlag,
    /// Print an array of T + 1 states for each start, one a line.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &SimulateArgs, session: &mut Session) -> Result<Exit, Failure> {
    let universe = universe::load(&args.universe.universe).map_err(Failure::usage)?;
    let mut printer = Printer {
        universe: &universe,
        steps: args.steps,
        json: args.json,
        first: true,
        out: &mut session.results,
    };
    if args.state == "-" {
        let mut lines = io::stdin().lock();
        let mut number = 0;
        while let Some(line) = next_line(&mut lines, &mut number).map_err(Failure::usage)? {
            let start = read(&universe, &line, &format!("stdin line {number}"))?;
            printer.print(start)?;
        }
    } else {
        let start = read(&universe, &args.state, "STATE")?;
        printer.print(start)?;
    }
    Ok(Exit::Done)
}

/// Reads a state of any symbols: the restriction of starts matters for laws only.
fn read(universe: &Tabulated, text: &str, name: &str) -> Result<State, Failure> {
    let state = universe.alphabet().parse(text);
    state.map_err(|error| Failure::usage(Error::unfit(name, error)))
}

/// The next line without its end, or nothing at the end of the input.
fn next_line(lines: &mut impl BufRead, number: &mut u64) -> Result<Option<String>, Error> {
    *number += 1;
    let name = || format!("stdin line {number}");
    let mut line = Vec::new();
    let read = lines.take(LONGEST + 1).read_until(b'\n', &mut line);
    let length = read.map_err(|source| Error::Read {
        name: name(),
        source,
    })?;
    if length == 0 {
        return Ok(None);
    }
    if length as u64 > LONGEST {
        return Err(Error::TooLarge {
            name: name(),
            limit: LONGEST >> 20,
        });
    }
    if line.ends_with(b"\n") {
        line.pop();
        if line.ends_with(b"\r") {
            line.pop();
        }
    }
    if *number == 1 && line.starts_with("\u{feff}".as_bytes()) {
        line.drain(.."\u{feff}".len());
    }
    String::from_utf8(line)
        .map(Some)
        .map_err(|error| Error::Encoding {
            name: name(),
            position: error.utf8_error().valid_up_to(),
        })
}

struct Printer<'a> {
    universe: &'a Tabulated,
    steps: u64,
    json: bool,
    first: bool,
    out: &'a mut Results,
}

impl Printer<'_> {
    /// Prints a run state by state, so that a long one needs no memory.
    fn print(&mut self, start: State) -> Result<(), Failure> {
        if !self.json && !std::mem::take(&mut self.first) {
            writeln!(self.out)?;
        }
        let mut now = start;
        for t in 0..=self.steps {
            let text = self.universe.alphabet().text(&now);
            if self.json {
                self.out.write_all(if t == 0 { b"[" } else { b"," })?;
                serde_json::to_writer(self.out.untrusted(), &text)?;
            } else {
                writeln!(self.out.untrusted(), "{text}")?;
            }
            if t < self.steps {
                now = self.universe.step(&now);
            }
        }
        if self.json {
            writeln!(self.out, "]")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_either_way_and_the_last_needs_no_end() {
        let mut input: &[u8] = b"\xef\xbb\xbf>.\r\n\n<";
        let mut number = 0;
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input, &mut number).unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, [">.", "", "<"]);
    }
}
