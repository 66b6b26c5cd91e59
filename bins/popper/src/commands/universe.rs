//! The command `popper universe`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, OutputTarget, SeedFlag, Session, escape};
use popper_harness::universe::{Definition, random_universe};
use serde_json::json;

use crate::input::shell_word;
use crate::universe::{BUILT_IN, load};
use crate::{examples, json};

/// The most entries of a rule in the output for people.
const SHOWN: usize = 1024;

#[derive(Debug, clap::Subcommand)]
pub enum UniverseArgs {
    /// Print symbols, radius, rule, transforms and hash
    #[command(after_help = examples::UNIVERSE_SHOW)]
    Show(ShownUniverse),
    /// Check whether a file defines a universe
    ///
    /// If not, the exit code is 2 and stderr says what is wrong.
    #[command(after_help = examples::UNIVERSE_CHECK)]
    Check(ShownUniverse),
    /// Print a random universe
    ///
    /// It has four symbols and radius 1, and the form that --universe reads.
    #[command(after_help = examples::UNIVERSE_RANDOM)]
    Random(RandomArgs),
}

#[derive(Debug, clap::Args)]
pub struct ShownUniverse {
    /// JSON file, or the name of the built-in universe.
    #[arg(value_name = "FILE|kinetic_grid", default_value = BUILT_IN)]
    pub universe: PathBuf,
    /// Print JSON: `show` the canonical definition, in the form that --universe reads.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct RandomArgs {
    #[command(flatten)]
    pub seed: SeedFlag,
    /// File to write, as a whole or not at all; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

pub fn execute(command: &UniverseArgs, session: &mut Session) -> Result<Exit, Failure> {
    match command {
        UniverseArgs::Show(args) => {
            let definition = load(&args.universe).map_err(Failure::usage)?.definition();
            if args.json {
                session.results.json(&definition)?;
            } else {
                show(&definition, session)?;
            }
        }
        UniverseArgs::Check(args) => {
            let definition = load(&args.universe).map_err(Failure::usage)?.definition();
            let (id, hash) = (&definition.id, definition.hash());
            if args.json {
                json::print(
                    &json!({"universe": id, "sim_hash": hash}),
                    &mut session.results,
                )?;
            } else {
                writeln!(session.results, "ok {} {hash}", escape(id))?;
            }
        }
        UniverseArgs::Random(args) => random(args, session)?,
    }
    Ok(Exit::Done)
}

fn random(args: &RandomArgs, session: &mut Session) -> Result<(), Failure> {
    let definition = random_universe(args.seed.seed).definition();
    let target = args.output.as_ref().unwrap_or(&OutputTarget::Stdout);
    let no_inputs: [&Path; 0] = [];
    let output = target.begin(no_inputs)?;
    output.finish(session, |out| print_definition(&definition, out))?;
    if let Some(path) = target.file() {
        session.status(&format!("next: popper conserved -u {}", shell_word(path)));
    }
    Ok(())
}

fn print_definition(definition: &Definition, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, definition)?;
    writeln!(out)
}

fn show(definition: &Definition, session: &mut Session) -> Result<(), Failure> {
    let mut out = session.results.untrusted();
    writeln!(out, "id          {}", escape(&definition.id))?;
    writeln!(out, "hash        {}", definition.hash())?;
    writeln!(out, "symbols     {}", definition.symbols)?;
    if !definition.initial_forbidden.is_empty() {
        writeln!(out, "not at t=0  {}", definition.initial_forbidden)?;
    }
    if let Some(symbol) = definition.incoming {
        writeln!(out, "incoming    {symbol}")?;
    }
    writeln!(out, "radius      {}", definition.radius)?;
    writeln!(out, "transforms  shift_k for every integer k")?;
    for transform in &definition.transforms {
        let mut does: Vec<String> = Vec::new();
        if transform.reverse {
            does.push("reverse".to_owned());
        }
        does.extend(
            transform
                .map
                .iter()
                .map(|(from, to)| format!("{from} to {to}")),
        );
        if does.is_empty() {
            does.push("change nothing".to_owned());
        }
        let name = escape(&transform.name);
        writeln!(out, "            {name}: {}", does.join(", "))?;
    }
    let entries = in_symbol_order(definition);
    writeln!(out, "rule        {} neighbourhoods", entries.len())?;
    for line in entries[..entries.len().min(SHOWN)].chunks(8) {
        let line: Vec<String> = line
            .iter()
            .map(|(window, next)| format!("{window} {next}"))
            .collect();
        writeln!(out, "            {}", line.join("   "))?;
    }
    if entries.len() > SHOWN {
        let rest = entries.len() - SHOWN;
        writeln!(out, "            and {rest} more: --json prints them all")?;
    }
    Ok(())
}

/// The rule in the order of the symbols, not of their code points.
fn in_symbol_order(definition: &Definition) -> Vec<(&str, char)> {
    let place = |char: char| definition.symbols.chars().position(|symbol| symbol == char);
    let mut entries: Vec<_> = definition
        .rule
        .table
        .iter()
        .map(|(window, next)| (window.as_str(), *next))
        .collect();
    entries.sort_by_cached_key(|(window, _)| window.chars().map(place).collect::<Vec<_>>());
    entries
}
