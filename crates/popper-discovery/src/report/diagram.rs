//! Space-time diagrams of counterexamples.

use popper_harness::counterexample::{Counterexample, read_start};
use popper_harness::law::{Claim, Extensions, Law, Program, Symmetry};
use popper_harness::universe::{Shift, State, Symbol, Tabulated, Universe};
use serde::Serialize;

use crate::error::Error;

/// The most states of a diagram.
const ROWS: u64 = 40;
/// Steps after the failure: one that the claim may refer to, and one more.
const AFTER: u64 = 2;
/// The most cells of a row.
const COLUMNS: usize = 96;
/// The most cell updates of a diagram: a row of a database can ask for any number of steps.
const COST: u64 = 20_000_000;

/// A part of a trajectory around the step at which a claim fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagram {
    /// The title of the diagram.
    pub title: String,
    /// The step of the first row.
    pub time: u64,
    /// The index of the first cell of each row.
    pub cell: u64,
    /// The states, a character a cell.
    pub rows: Vec<String>,
    /// The place where the claim fails.
    pub failure: Option<Failure>,
    /// The part that is not shown, if any.
    pub note: Option<String>,
}

/// A place in a diagram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Failure {
    /// The row, from 0.
    pub row: usize,
    /// The column, from 0, if the claim fails at a single cell.
    pub column: Option<usize>,
    /// The failure in words.
    pub note: String,
}

/// Returns the diagrams of a counterexample: both sides of a symmetry, else the trajectory. `id` is the key of its row, for errors.
pub(super) fn diagrams(package: &Counterexample, id: i64) -> Result<Vec<Diagram>, Error> {
    let broken = |column, error: String| Error::row("counterexamples", id, column, error);
    let universe = Tabulated::from_value(&package.config.universe)
        .map_err(|error| broken("config_json", error.to_string()))?;
    let mut language = Extensions::default();
    language.local_transition = package.config.local_transition;
    let law = Law::from_value(package.config.law.clone(), "$.law", language)
        .map_err(|error| broken("config_json", error.to_string()))?;
    let program = Program::compile(&law, &universe)
        .map_err(|error| broken("config_json", error.to_string()))?;
    let start = read_start(&package.initial_state, &universe)
        .map_err(|error| broken("initial_state", error.to_string()))?;
    let scene = Scene {
        package,
        universe: &universe,
        program: &program,
        start: &start,
    };
    let drawn = match &program.claim {
        Claim::Commutes(symmetry) => scene.both_ways(symmetry),
        _ => scene.run().map(|run| vec![run]),
    };
    Ok(drawn.unwrap_or_else(|| vec![scene.excerpt()]))
}

struct Scene<'a> {
    package: &'a Counterexample,
    universe: &'a Tabulated,
    program: &'a Program,
    start: &'a [Symbol],
}

impl Scene<'_> {
    /// The first and the last step that are drawn.
    fn times(&self) -> (u64, u64) {
        // What an `eventually` waits for in vain is drawn as far as there is room.
        let window = match self.program.claim {
            Claim::Eventually { window, .. } => window.min(ROWS - 1 - AFTER),
            _ => 0,
        };
        let last = self.package.t_fail.saturating_add(window.max(AFTER));
        (last.saturating_sub(ROWS - 1), last)
    }

    /// Whether `times` trajectories to a step stay within the limit of cost.
    fn affordable(&self, step: u64, times: usize) -> bool {
        let n = self.start.len();
        let period = self.universe.period_bound(n).filter(|period| *period > 0);
        let steps = period.map_or(step, |period| step % period);
        let cost = steps
            .saturating_add(ROWS)
            .saturating_mul(n as u64)
            .saturating_mul(times as u64);
        cost <= COST
    }

    /// The states of the steps that are drawn.
    fn states(&self, start: &[Symbol]) -> Vec<State> {
        let (first, last) = self.times();
        let state = self.universe.evolve(start, first);
        let next = |state: &State| Some(self.universe.step(state));
        let states = std::iter::successors(Some(state), next);
        states.take((last - first) as usize + 1).collect()
    }

    fn run(&self) -> Option<Diagram> {
        let (first, _) = self.times();
        if !self.affordable(first, 1) {
            return None;
        }
        let witness = &self.package.witness;
        let cell = match &self.program.claim {
            Claim::Local { .. } => (witness.left.strip_prefix("cell "))
                .and_then(|rest| rest.split_once(':'))
                .and_then(|(cell, _)| cell.parse().ok())
                .filter(|cell| *cell < self.start.len()),
            _ => None,
        };
        // What becomes of a cell is seen one step on.
        let step = self
            .package
            .t_fail
            .saturating_add(u64::from(cell.is_some()));
        let note = match &self.program.claim {
            Claim::Eventually { window, .. } => {
                format!("what is claimed does not come within {window} steps from here")
            }
            _ => format!(
                "{} {} {} does not hold",
                witness.left, witness.op, witness.right
            ),
        };
        Some(self.drawn("The run".into(), &self.states(self.start), step, cell, note))
    }

    fn both_ways(&self, symmetry: &Symmetry) -> Option<Vec<Diagram>> {
        let (first, _) = self.times();
        let t_fail = self.package.t_fail;
        let n = self.start.len();
        let ways = match symmetry {
            Symmetry::Shift(Shift::Every) => n,
            _ => 2,
        };
        if !self.affordable(t_fail.max(first), ways) {
            return None;
        }
        let after = self.universe.evolve(self.start, t_fail);
        let differing = symmetry.each(n).into_iter().find_map(|single| {
            let one = self.universe.evolve(&single.apply(self.start), t_fail);
            let other = single.apply(&after);
            let cell = one
                .iter()
                .zip(other.iter())
                .position(|(one, other)| one != other);
            cell.map(|cell| (single, cell))
        });
        let (single, cell) = differing?;
        let name = match &single {
            Symmetry::Named(transform) => transform.name().to_owned(),
            Symmetry::Shift(Shift::By(k)) => format!("shift_{k}"),
            Symmetry::Shift(Shift::Every) => "shift_k".into(),
            _ => return None,
        };
        let before = self.states(&single.apply(self.start));
        let then: Vec<State> = (self.states(self.start).iter())
            .map(|state| single.apply(state))
            .collect();
        let draw = |title: String, states: &[State]| {
            let note = "here the two ways differ".to_owned();
            self.drawn(title, states, t_fail, Some(cell), note)
        };
        Some(vec![
            draw(format!("First {name}, then the steps"), &before),
            draw(format!("First the steps, then {name}"), &then),
        ])
    }

    /// The stored states of the counterexample.
    fn excerpt(&self) -> Diagram {
        let moments = &self.package.trajectory_excerpt;
        let rows: Vec<&str> = moments.iter().map(|moment| moment.state.as_str()).collect();
        let first = moments.first().map_or(0, |moment| moment.t);
        let row = moments
            .iter()
            .position(|moment| moment.t == self.package.t_fail);
        let mut diagram = cut("The run".into(), first, &rows, row.map(|row| (row, None)));
        if let Some(failure) = &mut diagram.failure {
            failure.note = "here the claim fails".into();
        }
        let note = "The run is too long to be drawn again; these are the states that were stored.";
        diagram.note = Some(
            diagram
                .note
                .map_or_else(|| note.into(), |cut| format!("{note} {cut}")),
        );
        diagram
    }

    fn drawn(
        &self,
        title: String,
        states: &[State],
        step: u64,
        cell: Option<usize>,
        note: String,
    ) -> Diagram {
        let (first, _) = self.times();
        let alphabet = self.universe.alphabet();
        let rows: Vec<String> = states.iter().map(|state| alphabet.text(state)).collect();
        let row = (step - first) as usize;
        let mut diagram = cut(title, first, &rows, Some((row, cell)));
        if let Some(failure) = &mut diagram.failure {
            failure.note = note;
        }
        diagram
    }
}

/// Cuts the rows to the width of a diagram: around the failing cell, else from the first one.
fn cut<R: AsRef<str>>(
    title: String,
    time: u64,
    rows: &[R],
    place: Option<(usize, Option<usize>)>,
) -> Diagram {
    let rows = &rows[..rows.len().min(ROWS as usize)];
    let widths = rows.iter().map(|row| row.as_ref().chars().count());
    let width = widths.max().unwrap_or(0);
    let cell = place.and_then(|(_, cell)| cell).unwrap_or(0);
    let left = if width <= COLUMNS {
        0
    } else {
        cell.saturating_sub(COLUMNS / 2).min(width - COLUMNS)
    };
    let shown = |row: &R| row.as_ref().chars().skip(left).take(COLUMNS).collect();
    let place = place.filter(|(row, _)| *row < rows.len());
    Diagram {
        title,
        time,
        cell: left as u64,
        rows: rows.iter().map(shown).collect(),
        failure: place.map(|(row, cell)| Failure {
            row,
            column: cell.map(|cell| cell - left),
            note: String::new(),
        }),
        note: (width > COLUMNS).then(|| {
            let last = left + COLUMNS - 1;
            format!("Cells {left} to {last} of a ring of {width} are shown.")
        }),
    }
}
