//! `cargo run -p popper-harness --example verdict`: two laws of the kinetic grid, one proved for every ring, one refuted with its
//! smallest counterexample drawn.
#![expect(
    clippy::disallowed_macros,
    reason = "an example is a program: it prints"
)]

use std::error::Error;

use popper_harness::decide::{Config, Harness, Strength};
use popper_harness::law::Law;
use popper_harness::universe::KineticGrid;

fn main() -> Result<(), Box<dyn Error>> {
    let harness = Harness::new(KineticGrid, Config::default())?;
    for quantity in ["count('>') + count('X')", "count('X')"] {
        let law = Law::invariant(quantity).horizon(50).build()?;
        let verdict = harness.evaluate(&law);
        if verdict.evidence.strength == Some(Strength::Proved) {
            println!("{quantity:<23}  PASS  never changes: proved for every ring size");
        }
        if let Some(found) = verdict.counterexample {
            let (start, cells, step) = (&found.initial_state, found.config.n, found.t_fail);
            let least = if found.minimal { " (smallest)" } else { "" };
            println!("{quantity:<23}  FAIL  {start}  N = {cells}, t = {step}{least}");
            for row in found.trajectory_excerpt.iter().filter(|row| row.t <= step) {
                println!("{:<23}        t = {}  {}", "", row.t, row.state);
            }
        }
    }
    Ok(())
}
