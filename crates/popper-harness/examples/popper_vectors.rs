//! `cargo run -p orrery-popper-harness --example popper_vectors -- FILE`: checks a file of state vectors of the kinetic grid and prints
//! passed/total for each group. Exit code 1 if anything is not as the file says, 2 if the file cannot be read.
//!
//! The format: `random` holds objects with a `state` and what is expected of it (`next`, `tK` for the state K steps on, `state_tK`,
//! `trajK_sha256` over the states 0..=K joined by a line feed, images under transforms by name, `obs_at_tK` with the value of each
//! expression); `small_all_4sym` pairs of a state and the next; `exhaustive_3sym_sha256` for each N the hash over `state>next` and a
//! line feed for every state that may start, in symbol order; `hand` states with their `trajK`.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example is a program: it has arguments and prints"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use popper_harness::law::measure;
use popper_harness::universe::{KineticGrid, Shift, State, Symbol, Universe};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

type Failed = Box<dyn Error>;

/// The number of failures that are shown one by one.
const SHOWN: usize = 10;

/// Passed and total by group, in the order of the file's first mention.
#[derive(Default)]
struct VectorCounts {
    order: Vec<String>,
    groups: BTreeMap<String, (usize, usize)>,
    failures: Vec<String>,
}

impl VectorCounts {
    /// Counts one comparison.
    fn compare(
        &mut self,
        group: &str,
        subject: &str,
        expected: &Value,
        found: Result<Value, String>,
    ) {
        let entry = self.groups.entry(group.to_owned()).or_insert_with(|| {
            self.order.push(group.to_owned());
            (0, 0)
        });
        entry.1 += 1;
        match found {
            Ok(found) if found == *expected => entry.0 += 1,
            Ok(found) => self.failures.push(format!(
                "{group}: {subject}: expected {expected}, found {found}"
            )),
            Err(error) => self.failures.push(format!("{group}: {subject}: {error}")),
        }
    }
}

fn text(state: &[Symbol]) -> String {
    KineticGrid.alphabet().text(state)
}

fn parse(state: &Value) -> Result<State, String> {
    let text = state
        .as_str()
        .ok_or_else(|| format!("{state} is no state"))?;
    KineticGrid
        .alphabet()
        .parse(text)
        .map_err(|error| error.to_string())
}

/// The states 0..=steps, made one step at a time.
fn trajectory(start: &State, steps: u64) -> Vec<String> {
    let mut states = vec![text(start)];
    let mut now = start.clone();
    for _ in 0..steps {
        now = KineticGrid.step(&now);
        states.push(text(&now));
    }
    states
}

fn sha256(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// The number between a prefix and a suffix, as in `obs_at_t3` and `traj20_sha256`.
fn number(key: &str, prefix: &str, suffix: &str) -> Option<u64> {
    key.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
}

/// Returns the value of the state for a key of a `random` or `hand` entry; `None` for an unknown key.
fn derive(key: &str, start: &State) -> Option<Value> {
    let after = |steps| Value::from(text(&KineticGrid.evolve(start, steps)));
    let named = KineticGrid
        .transforms()
        .iter()
        .find(|transform| transform.name() == key);
    if key == "n" {
        Some(start.len().into())
    } else if key == "next" {
        Some(text(&KineticGrid.step(start)).into())
    } else if let Some(transform) = named {
        Some(text(&transform.apply(start)).into())
    } else if let Some(Shift::By(k)) = Shift::parse(key) {
        Some(text(&Shift::apply(k, start)).into())
    } else if let Some(steps) = number(key, "traj", "_sha256") {
        Some(sha256(&trajectory(start, steps).join("\n")).into())
    } else if let Some(steps) = number(key, "traj", "") {
        Some(trajectory(start, steps).into())
    } else {
        number(key, "t", "")
            .or_else(|| number(key, "state_t", ""))
            .map(after)
    }
}

fn check_entry(
    group: &str,
    entry: &Map<String, Value>,
    tally: &mut VectorCounts,
) -> Result<(), Failed> {
    let state = entry
        .get("state")
        .ok_or_else(|| format!("{group}: an entry has no `state`"))?;
    let subject = state.to_string();
    let start = match parse(state) {
        Ok(start) => start,
        Err(error) => {
            tally.compare(&format!("{group}: state"), &subject, state, Err(error));
            return Ok(());
        }
    };
    for (key, expected) in entry
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "id" | "state"))
    {
        if let (Some(steps), Some(values)) = (number(key, "obs_at_t", ""), expected.as_object()) {
            let now = KineticGrid.evolve(&start, steps);
            for (expr, expected) in values {
                let found = measure(expr, &now, &KineticGrid).map(Value::from);
                let found = found.map_err(|error| error.to_string());
                tally.compare(
                    &format!("{group}: t = {steps}: {expr}"),
                    &subject,
                    expected,
                    found,
                );
            }
        } else {
            let found = derive(key, &start).ok_or_else(|| "a key that is not known".to_owned());
            tally.compare(&format!("{group}: {key}"), &subject, expected, found);
        }
    }
    Ok(())
}

/// The hash over every state of `n` cells that may start, with its successor.
fn exhaustive(n: usize) -> String {
    let symbols: Vec<Symbol> = (0..KineticGrid.alphabet().len() as Symbol)
        .filter(|&symbol| KineticGrid.may_start(symbol))
        .collect();
    let mut hasher = Sha256::new();
    for code in 0..symbols.len().pow(n as u32) {
        let digit = |place| symbols[code / symbols.len().pow(place as u32) % symbols.len()];
        let state: State = (0..n).rev().map(digit).collect();
        let next = KineticGrid.step(&state);
        hasher.update(format!("{}>{}\n", text(&state), text(&next)));
    }
    hasher
        .finalize()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

fn check_file(path: &str) -> Result<VectorCounts, Failed> {
    let file: Map<String, Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let mut tally = VectorCounts::default();
    for (section, content) in &file {
        match (section.as_str(), content) {
            ("meta", meta) => {
                let universe = &meta["universe"];
                if !universe.is_null() && universe != KineticGrid::ID {
                    return Err(format!(
                        "the vectors are of {universe}, not of {}",
                        KineticGrid::ID
                    )
                    .into());
                }
            }
            ("random" | "hand", Value::Array(entries)) => {
                for entry in entries {
                    let entry = entry.as_object().ok_or("an entry is no object")?;
                    check_entry(section, entry, &mut tally)?;
                }
            }
            ("small_all_4sym", Value::Array(pairs)) => {
                for pair in pairs {
                    let found = parse(&pair[0]).map(|state| text(&KineticGrid.step(&state)).into());
                    tally.compare(section, &pair[0].to_string(), &pair[1], found);
                }
            }
            ("exhaustive_3sym_sha256", Value::Object(sizes)) => {
                for (n, expected) in sizes {
                    let size: usize = n.parse()?;
                    if !(1..=13).contains(&size) {
                        return Err(format!(
                            "exhaustive_3sym_sha256: N = {n} is not within 1 to 13"
                        )
                        .into());
                    }
                    tally.compare(
                        section,
                        &format!("N = {n}"),
                        expected,
                        Ok(exhaustive(size).into()),
                    );
                }
            }
            _ => return Err(format!("`{section}` is no section of the format").into()),
        }
    }
    Ok(tally)
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: popper_vectors FILE");
        return ExitCode::from(2);
    };
    let tally = match check_file(&path) {
        Ok(tally) => tally,
        Err(error) => {
            eprintln!("popper_vectors: {path}: {error}");
            return ExitCode::from(2);
        }
    };
    for failure in tally.failures.iter().take(SHOWN) {
        eprintln!("{failure}");
    }
    let (mut passed, mut total) = (0, 0);
    for group in &tally.order {
        let (good, all) = tally.groups[group];
        println!("{good}/{all} {group}");
        passed += good;
        total += all;
    }
    println!("{passed}/{total} in all");
    if passed == total && total > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    }
}
