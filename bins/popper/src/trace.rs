//! The states of a counterexample, one row a step.

use bin_support::{Cell, Tone};
use popper_harness::counterexample::Counterexample;
use popper_harness::law::Template;
use popper_harness::universe::{Tabulated, Universe as _};

/// The most steps from the start that are shown; of a longer run the steps around the violation follow.
const SHOWN: u64 = 40;

/// Returns the rows `t = 0  .<>` up to the violation, which is red, and up to the next step where the claim compares the two.
pub fn rows(found: &Counterexample, template: Template, universe: &Tabulated) -> Vec<Cell> {
    let compares_next = matches!(
        template,
        Template::Monotone | Template::ImplicationStep | Template::LocalTransition
    );
    let last = found.t_fail + u64::from(compares_next);
    let Ok(mut state) = universe.alphabet().parse(&found.initial_state) else {
        return Vec::new();
    };
    let width = last.to_string().len();
    let row = |t: u64, state: &str| {
        let text = format!("t = {t:<width$}  {state}");
        match (t == found.t_fail, last == t) {
            (false, _) => Cell::from(text),
            (true, true) => Cell::toned(Tone::Bad, text),
            (true, false) => Cell::toned(Tone::Bad, text + "  <- violated"),
        }
    };
    let mut rows = Vec::new();
    let until = if last <= SHOWN { last } else { 1 };
    for t in 0..=until {
        rows.push(row(t, &universe.alphabet().text(&state)));
        state = universe.step(&state);
    }
    if until < last {
        rows.push(Cell::from("..."));
        let around = found.trajectory_excerpt.iter();
        let around = around.filter(|step| (until + 1..=last).contains(&step.t));
        rows.extend(around.map(|step| row(step.t, &step.state)));
    }
    rows
}
