//! A run as a table: one line a step, with the state and the observables of a claim.

use bin_support::escape;
use popper_harness::law::{Observable, observe};
use popper_harness::universe::{State, Symbol, Tabulated, Universe as _};

use super::lines::wrapped;

/// The mark of the failing step.
const MARK: &str = "  <-";
/// The title of the states.
const TITLE: &str = "state";
/// The fewest cells of a state that a table shows before it leaves out observables.
const FEWEST_CELLS: usize = 8;

/// A run from a start to a last step.
pub struct RunTable<'a> {
    pub universe: &'a Tabulated,
    pub start: &'a [Symbol],
    pub last: u64,
    pub failing: Option<u64>,
    /// The observables that the claim names.
    pub columns: Vec<(&'a str, &'a Observable)>,
}

/// One step of a run. `None` in the place of one says that steps are left out.
struct StepRow {
    t: u64,
    state: State,
    values: Vec<String>,
}

impl RunTable<'_> {
    /// The last step of the longest run that is shown as a whole; a longer one is cut in the middle.
    pub const WHOLE: u64 = 24;

    /// The lines, none of which is wider than `width` columns.
    pub fn text(&self, width: usize) -> String {
        let rows = self.rows();
        let steps = rows.iter().flatten().map(|row| row.t.to_string().len());
        let time = steps.max().unwrap_or(1);
        let mut columns: Vec<_> = (0..self.columns.len())
            .map(|index| self.column(index, &rows))
            .collect();
        let alphabet = self.universe.alphabet();
        let symbols = alphabet.chars().iter();
        let symbol = symbols.map(|symbol| escape(&symbol.to_string()).chars().count());
        let symbol = symbol.max().unwrap_or(1);
        let n = self.start.len();
        // Columns that leave too few cells of the state are left out, from the right.
        let room = |columns: &[Vec<String>]| {
            let texts = columns.iter();
            let taken: usize = texts.map(|column| column[0].chars().count() + 2).sum();
            width.saturating_sub(time + 2 + taken + MARK.len())
        };
        while room(&columns) < n.min(FEWEST_CELLS) * symbol && columns.pop().is_some() {}
        let room = room(&columns);
        let cells = (room / symbol).clamp(1, n.max(1));
        let first = self.first_cell(&rows, cells);
        let title = if room < TITLE.len() { "" } else { TITLE };
        let state_width = (cells * symbol).max(title.len());
        let mut lines = Vec::new();
        let texts = |line: usize| {
            let texts: Vec<_> = columns.iter().map(|column| column[line].as_str()).collect();
            texts.join("  ")
        };
        let titles = texts(0);
        let gap = if columns.is_empty() { "" } else { "  " };
        lines.push(format!("{:<time$}  {title:<state_width$}  {titles}", "t"));
        for (index, row) in rows.iter().enumerate() {
            let Some(row) = row else {
                lines.push("...".to_owned());
                continue;
            };
            let state = escape(&alphabet.text(&row.state[first..first + cells]));
            let values = texts(index + 1);
            let mark = if self.failing == Some(row.t) {
                MARK
            } else {
                ""
            };
            lines.push(format!(
                "{:<time$}  {state:<state_width$}{gap}{values}{mark}",
                row.t
            ));
        }
        let mut text: String = lines
            .iter()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect();
        let mut notes = Vec::new();
        if cells < n {
            notes.push(format!("cells {first} to {} of {n}", first + cells - 1));
        }
        let left_out = self.columns.len() - columns.len();
        if left_out > 0 {
            notes.push(format!("no room for {left_out} of the observables"));
        }
        if !notes.is_empty() {
            text += &wrapped(&[notes.join("; ")], width);
        }
        text
    }

    /// The steps that are shown, with `None` where some are left out.
    fn rows(&self) -> Vec<Option<StepRow>> {
        let half = Self::WHOLE / 2;
        if self.last <= Self::WHOLE {
            return self.steps(self.start, 0, self.last);
        }
        let mut rows = self.steps(self.start, 0, half - 1);
        rows.push(None);
        let from = self.last - half;
        rows.extend(self.steps(&self.universe.evolve(self.start, from), from, self.last));
        rows
    }

    /// The steps `from..=to` of the run, which has this state at the first of them.
    fn steps(&self, state: &[Symbol], from: u64, to: u64) -> Vec<Option<StepRow>> {
        let mut state: State = state.iter().copied().collect();
        let mut rows = Vec::new();
        for t in from..=to {
            let value = |(_, observable): &(&str, &Observable)| {
                let value = observe(observable, &state, self.universe);
                value.map_or_else(|_| "none".to_owned(), |value| value.to_string())
            };
            let values = self.columns.iter().map(value).collect();
            let next = self.universe.step(&state);
            rows.push(Some(StepRow { t, state, values }));
            state = next;
        }
        rows
    }

    /// The texts of an observable, all of one length: its name, then its value in each row.
    fn column(&self, index: usize, rows: &[Option<StepRow>]) -> Vec<String> {
        let value = |row: &Option<StepRow>| {
            row.as_ref()
                .map_or_else(String::new, |row| row.values[index].clone())
        };
        let mut texts = vec![escape(self.columns[index].0)];
        texts.extend(rows.iter().map(value));
        let longest = texts
            .iter()
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0);
        texts
            .iter()
            .map(|text| format!("{text:<longest$}"))
            .collect()
    }

    /// The first cell that is shown where not all are: those that change about the failing step are in the middle.
    fn first_cell(&self, rows: &[Option<StepRow>], cells: usize) -> usize {
        let n = self.start.len();
        let steps: Vec<&StepRow> = rows.iter().flatten().collect();
        let place = steps
            .iter()
            .position(|row| Some(row.t) == self.failing)
            .unwrap_or(0);
        let pairs = steps.windows(2).skip(place.saturating_sub(1)).take(2);
        let changed = |pair: &[&StepRow]| {
            let (one, other) = (&pair[0].state, &pair[1].state);
            (0..n)
                .filter(|&cell| one[cell] != other[cell])
                .collect::<Vec<_>>()
        };
        let changed: Vec<usize> = pairs.flat_map(changed).collect();
        let (least, most) = (changed.iter().min(), changed.iter().max());
        let middle = least.zip(most).map_or(0, |(least, most)| {
            // A wide change is shown from its first cell on.
            if most - least < cells {
                usize::midpoint(*least, *most)
            } else {
                least + cells / 2
            }
        });
        middle.saturating_sub(cells / 2).min(n - cells)
    }
}
