//! The speed of the bit-parallel engine, as a ratio to a naive byte simulator in the same run.
//!
//! `cargo bench -p orrery-popper-harness --bench bitslice` prints one JSON object. A cell update is one cell of one universe taken one step
//! on, with the law checked on every state; one thread. Where there is a `python3`, the string-based script `reference.py` checks
//! the same law in the same run, which gives the headline ratio.

#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark prints what it measured"
)]
#![expect(
    clippy::naive_bytecount,
    reason = "the naive simulator is naive on purpose"
)]
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use popper_harness::bitslice::{
    Batch, BitProgram, Circuit, Horizon, InitialStates, LANES, Scratch, StartClasses,
};
use popper_harness::law::{Extensions, Law, Program};
use popper_harness::universe::{KineticGrid, Symbol, Tabulated, Universe, random_universe};
use serde_json::{Value, json};

/// Seconds that the work takes: the best of several hundred short samples, so that other load on the machine does not count.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn seconds(mut work: impl FnMut()) -> f64 {
    use std::time::Instant;
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    let mut times = 1;
    while begin.elapsed().as_secs_f64() < 0.8 {
        let sample = Instant::now();
        for _ in 0..times {
            work();
        }
        let spent = sample.elapsed().as_secs_f64();
        best = best.min(spent / f64::from(times));
        if spent < 2e-4 {
            times *= 2;
        }
    }
    best
}

fn program(universe: &Tabulated, expr: &str, claim: &str, t: u64) -> Program {
    let law = json!({
        "schema_version": "1.0.0", "law_id": "bench", "template": "bound", "quantifiers": {"T": t},
        "preconditions": [], "observables": [{"name": "f", "expr": expr}], "claim": claim,
        "forbidden": "any other value", "proposed_tests": [],
    });
    let law = Law::from_json(&law.to_string(), Extensions::default()).unwrap();
    Program::compile(&law, universe).unwrap()
}

/// A small deterministic generator; quality does not matter here.
fn draw(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// The simulator as one writes it first: a byte a cell, the neighbours by index, the rule by its window, two counts a state.
fn naive(next: &[Symbol; 64], counted: [Symbol; 2], start: &[Symbol], steps: u64) -> bool {
    let n = start.len();
    let count = |state: &[Symbol]| {
        counted
            .iter()
            .map(|symbol| state.iter().filter(|&cell| cell == symbol).count())
            .sum::<usize>()
    };
    let first = count(start);
    let mut state = start.to_vec();
    let mut after = vec![0; n];
    let mut holds = true;
    for _ in 0..steps {
        for cell in 0..n {
            let left = state[(cell + n - 1) % n];
            let right = state[(cell + 1) % n];
            after[cell] = next[usize::from(left << 4 | state[cell] << 2 | right)];
        }
        std::mem::swap(&mut state, &mut after);
        holds &= count(&state) == first;
    }
    holds
}

/// Checked cell updates per second of `reference.py` on the same law, the best of nine short runs; or why there is no such figure.
fn python(universe: &Tabulated, counted: [char; 2], n: usize, t: u64) -> Result<f64, String> {
    let mut command = std::process::Command::new("python3");
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/reference.py"))
        .args([
            "--n",
            &n.to_string(),
            "--t",
            &t.to_string(),
            "--cases",
            "60",
        ])
        .arg(format!("--weights={}=1,{}=1", counted[0], counted[1]));
    if universe.id() != KineticGrid::ID {
        let file = format!("{}/{}.json", env!("CARGO_TARGET_TMPDIR"), universe.id());
        std::fs::write(&file, json!(universe.definition()).to_string()).unwrap();
        command.args(["--universe", &file]);
    }
    let mut best: f64 = 0.0;
    for _ in 0..9 {
        let output = command
            .output()
            .map_err(|error| format!("python3 does not run: {error}"))?;
        let said: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| format!("reference.py: {}", String::from_utf8_lossy(&output.stderr)))?;
        best = best.max(said["cell_updates_per_second"].as_f64().unwrap());
    }
    Ok(best)
}

fn measure(universe: &Tabulated, counted: [Symbol; 2], n: usize) -> Value {
    let rule = universe.rule();
    let mut next = [0; 64];
    for (code, (_, symbol)) in rule.windows().enumerate() {
        next[code] = symbol;
    }
    let t = 64;
    let chars = counted.map(|symbol| universe.alphabet().char(symbol));
    let expr = format!("count('{}') + count('{}')", chars[0], chars[1]);
    let program = program(universe, &expr, "f(t) == f(0)", t);
    let circuit = Circuit::new(rule);
    let horizon = Horizon { t, window: 0 };
    let plan = BitProgram::new(&program, &circuit, universe, n, horizon).unwrap();
    let mut batch = Batch::new(n, rule.symbols());
    let mut seed = 88_172_645_463_325_252;
    let states: Vec<Vec<Symbol>> = (0..LANES)
        .map(|_| (0..n).map(|_| (draw(&mut seed) % 3) as Symbol).collect())
        .collect();
    for (lane, state) in states.iter().enumerate() {
        batch.set(lane, state);
    }
    let updates = (n as u64 * t) as f64;
    let mut scratch = Scratch::default();
    let mut rate = |plan: &BitProgram| {
        let time = seconds(|| {
            black_box(plan.run(black_box(&batch), &mut scratch));
        });
        updates * LANES as f64 / time
    };
    let with_coverage = rate(&plan);
    let lanes = rate(&plan.clone().without_coverage());
    let time = seconds(|| {
        for state in &states[..16] {
            black_box(naive(&next, counted, black_box(state), t));
        }
    });
    let naive = updates * 16.0 / time;
    let (python_per_s, ratio_to_python) = match python(universe, chars, n, t) {
        Ok(python) => (
            json!(format!("{python:.3e}")),
            json!((lanes / python).round()),
        ),
        Err(why) => (json!(why), Value::Null),
    };
    json!({
        "universe": universe.id(), "n": n, "T": t, "gates": circuit.gates(),
        "updates_per_s": format!("{lanes:.3e}"), "with_coverage_per_s": format!("{with_coverage:.3e}"),
        "naive_per_s": format!("{naive:.3e}"), "ratio_to_naive": (lanes / naive).round(),
        "ratio_with_coverage": (with_coverage / naive).round(),
        "python_per_s": python_per_s, "ratio_to_python": ratio_to_python,
    })
}

/// Microseconds to compile a plan, and seconds to exhaust a ring of `n` cells (one start a rotation class, one period).
fn exhaust(n: usize) -> Value {
    let universe = KineticGrid;
    let program = program(
        &universe,
        "count('>') + count('X')",
        "f(t) == f(0)",
        n as u64,
    );
    let circuit = Circuit::new(universe.rule());
    let horizon = Horizon {
        t: n as u64,
        window: 0,
    };
    let make = || BitProgram::new(&program, &circuit, &universe, n, horizon).unwrap();
    let compile = seconds(|| {
        black_box(make());
    });
    let plan = make().without_coverage();
    let mut scratch = Scratch::default();
    let mut states = 0;
    let time = seconds(|| {
        let starts = InitialStates::new(n, &[0, 1, 2], 4, StartClasses::Rotations).unwrap();
        states = 0;
        for chunk in 0..starts.chunks() {
            starts.visit(chunk, |batch, _| {
                states += batch.live.count();
                black_box(plan.run(batch, &mut scratch));
                true
            });
        }
    });
    json!({"n": n, "states": states, "ms": (time * 1e6).round() / 1e3, "plan_us": (compile * 1e8).round() / 100.0})
}

fn main() {
    // The first seed whose rule is a uniform random table.
    let interacting = random_universe(3);
    let figures = json!({
        "lanes": [
            measure(&KineticGrid, [1, 3], 32),
            measure(&KineticGrid, [1, 3], 64),
            measure(&interacting, [1, 3], 32),
            measure(&interacting, [1, 3], 64),
        ],
        "exhaust": [exhaust(12), exhaust(16)],
    });
    println!("{figures}");
}
