//! The command `popper universe`.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, SeedFlag, Session, escape};
use popper_harness::universe::{Definition, random_universe};

use crate::universe::load;

/// The most entries of a rule in the output for people.
const SHOWN: usize = 1024;

#[derive(Debug, clap::Subcommand)]
pub enum UniverseArgs {
    /// Print symbols, radius, rule, transforms and hash
    Show {
        /// JSON file, or the name of the built-in universe.
        #[arg(value_name = "FILE|kinetic_grid")]
        universe: PathBuf,
        /// Print the canonical definition.
        #[arg(long)]
        json: bool,
    },
    /// Check whether a file defines a universe
    ///
    /// If not, the exit code is 2 and stderr says what is wrong.
    Check {
        /// JSON file, or the name of the built-in universe.
        #[arg(value_name = "FILE|kinetic_grid")]
        universe: PathBuf,
    },
    /// Print a random universe
    ///
    /// It has four symbols and radius 1, and the form that --universe reads.
    Random(SeedFlag),
}

pub fn execute(command: &UniverseArgs, session: &mut Session) -> Result<Exit, Failure> {
    match command {
        UniverseArgs::Show { universe, json } => {
            let definition = load(universe).map_err(Failure::usage)?.definition();
            if *json {
                print_definition(&definition, session)?;
            } else {
                show(&definition, session)?;
            }
        }
        UniverseArgs::Check { universe } => {
            let definition = load(universe).map_err(Failure::usage)?.definition();
            let (id, hash) = (escape(&definition.id), definition.hash());
            writeln!(session.results, "ok {id} {hash}")?;
        }
        UniverseArgs::Random(flag) => {
            print_definition(&random_universe(flag.seed).definition(), session)?;
        }
    }
    Ok(Exit::Done)
}

fn print_definition(definition: &Definition, session: &mut Session) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut session.results, definition)?;
    writeln!(session.results)?;
    Ok(())
}

fn show(definition: &Definition, session: &mut Session) -> Result<(), Failure> {
    let out = &mut session.results;
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
