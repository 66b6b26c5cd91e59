//! The table of speed of the specification, row by row.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::{MindMode, MindScript};

use crate::program::{Programs, Scenario, Side, Took, seen};

/// A measure that is compared with the reference, or with another scenario.
pub struct Row {
    pub name: &'static str,
    unit: &'static str,
    scenario: Scenario,
    figure: Figure,
    /// The value that it is divided by.
    against: Against,
    /// The ratio, at most; an absolute figure, where nothing is divided.
    goal: Option<f64>,
    /// More than five runs say nothing more, or take too long.
    repeats: usize,
}

/// The quantity that is measured on a run.
#[derive(Clone, Copy)]
enum Figure {
    /// Milliseconds of processor time for each call.
    CpuPerCall,
    /// Milliseconds for each round that neither the server nor its latency took.
    OverheadPerRound,
    /// Milliseconds for each round.
    WallPerRound,
    /// The peak memory in megabytes.
    Memory,
    /// Kilobytes of the journal for each call.
    JournalPerCall,
}

enum Against {
    /// The reference, and its figure as the specification states it.
    Reference(f64),
    /// The same of another scenario of ours.
    Ours(Box<Scenario>),
    /// An absolute goal without a divisor.
    Nothing,
}

fn base() -> Scenario {
    Scenario {
        minds: 3,
        rounds: 400,
        samples: 3,
        active: 15,
        seeds: 15,
        script: literal(2),
        snapshot: false,
        fsync: false,
        forgets: false,
    }
}

/// The number of texts of 200 bytes in every answer.
fn literal(texts: usize) -> MindScript {
    MindScript {
        mode: MindMode::Literal { texts, bytes: 200 },
        ..MindScript::default()
    }
}

fn late() -> Scenario {
    Scenario {
        minds: 8,
        rounds: 5,
        script: MindScript {
            latency: Duration::from_millis(200),
            ..literal(2)
        },
        ..base()
    }
}

/// Ends with this number of messages; nearly all were sent in the run.
fn history(minds: usize, rounds: usize, texts: usize) -> Scenario {
    Scenario {
        minds,
        rounds,
        script: literal(texts),
        ..base()
    }
}

fn row(name: &'static str, unit: &'static str, figure: Figure, scenario: Scenario) -> Row {
    Row {
        name,
        unit,
        scenario,
        figure,
        against: Against::Nothing,
        goal: None,
        repeats: 5,
    }
}

impl Row {
    fn stated(mut self, reference: f64, goal: f64) -> Self {
        self.against = Against::Reference(reference);
        self.goal = Some(goal);
        self
    }

    fn reported(mut self, reference: f64) -> Self {
        self.against = Against::Reference(reference);
        self
    }

    fn at_most(mut self, goal: f64) -> Self {
        self.goal = Some(goal);
        self
    }

    fn repeated(mut self, repeats: usize) -> Self {
        self.repeats = repeats;
        self
    }
}

/// All rows, in the order of the table. Of a range that is stated for the reference the better end is taken.
pub fn all() -> Vec<Row> {
    use Figure::{CpuPerCall, JournalPerCall, Memory, OverheadPerRound, WallPerRound};
    let sixteen = Scenario {
        minds: 16,
        rounds: 80,
        ..base()
    };
    let fsync = |scenario: &Scenario| Scenario {
        fsync: true,
        ..scenario.clone()
    };
    let long = history(10, 1000, 100);
    let crowd = |seeds| Scenario {
        rounds: 2000,
        seeds,
        ..base()
    };
    vec![
        row("cpu per call, N=3, flush", "ms", CpuPerCall, base()).stated(0.7, 1.0 / 7.0),
        row("round overhead, N=3, flush", "ms", OverheadPerRound, base()).stated(1.9, 1.0 / 3.0),
        row(
            "round overhead, N=3, fsync",
            "ms",
            OverheadPerRound,
            fsync(&base()),
        )
        .reported(1.9),
        row(
            "round overhead, N=16, flush",
            "ms",
            OverheadPerRound,
            sixteen.clone(),
        )
        .stated(10.0, 1.0 / 3.0),
        row(
            "round overhead, N=16, fsync",
            "ms",
            OverheadPerRound,
            fsync(&sixteen),
        )
        .reported(10.0),
        row("memory, 100 messages", "MB", Memory, history(1, 10, 10))
            .stated(29.0, 0.5)
            .repeated(3),
        row(
            "memory, 100 000 messages",
            "MB",
            Memory,
            history(10, 100, 100),
        )
        .stated(138.0, 0.44)
        .repeated(3),
        row("memory, 1 000 000 messages", "MB", Memory, long.clone())
            .stated(947.0, 0.35)
            .repeated(3),
        row(
            "memory, 1 000 000 messages, keep active",
            "MB",
            Memory,
            Scenario {
                forgets: true,
                ..long
            },
        )
        .at_most(20.0)
        .repeated(3),
        Row {
            against: Against::Ours(Box::new(crowd(100))),
            ..row(
                "round overhead, history of 1 000 000 against 100",
                "ms",
                OverheadPerRound,
                crowd(1_000_000),
            )
        }
        .at_most(1.2),
        row(
            "N=8, 200 ms, snapshot, per round",
            "ms",
            WallPerRound,
            Scenario {
                snapshot: true,
                ..late()
            },
        )
        .stated(1621.0, 1.0 / 7.0),
        row(
            "N=8, 200 ms, sequential, per round",
            "ms",
            WallPerRound,
            late(),
        )
        .stated(1621.0, 1.0),
        row("journal per call", "kB", JournalPerCall, base())
            .stated(2.59, 1.6)
            .repeated(1),
    ]
}

impl Row {
    pub fn measure(&self, programs: &Programs, repeats: usize) -> Value {
        let repeats = repeats.min(self.repeats);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..repeats {
            ours.push(self.once(programs, Side::Ours, &self.scenario));
            match &self.against {
                Against::Reference(_) if programs.has(Side::Reference) => {
                    theirs.push(self.once(programs, Side::Reference, &self.scenario));
                }
                Against::Ours(other) => theirs.push(self.once(programs, Side::Ours, other)),
                _ => {}
            }
        }
        let compared = !theirs.is_empty();
        let reference = match self.against {
            Against::Reference(stated) if !compared => Some(stated),
            _ => median(&theirs),
        };
        let median = median(&ours);
        let ratio = median.zip(reference).map(|(ours, theirs)| ours / theirs);
        // Without anything to divide by the goal is one for the figure itself.
        let met = ratio
            .or(median)
            .zip(self.goal)
            .map(|(reached, goal)| reached <= goal);
        json!({
            "row": self.name,
            "unit": self.unit,
            "ours": median.map(rounded),
            "all": ours.iter().copied().map(rounded).collect::<Vec<_>>(),
            "reference": reference.map(rounded),
            "compared": compared,
            "ratio": ratio.map(rounded),
            "goal": self.goal.map(rounded),
            "met": met,
        })
    }

    fn once(&self, programs: &Programs, side: Side, scenario: &Scenario) -> f64 {
        match self.figure {
            Figure::Memory => programs.weigh(side, scenario).memory.unwrap_or(f64::NAN),
            figure => figure.of(scenario, &programs.time(side, scenario)),
        }
    }
}

impl Figure {
    fn of(self, scenario: &Scenario, took: &Took) -> f64 {
        let calls = scenario.calls() as f64;
        let rounds = scenario.rounds as f64;
        match self {
            Self::CpuPerCall => took.cpu * 1e3 / calls,
            Self::OverheadPerRound => {
                // From the first request to the last there is a pause less than there are calls.
                let between = (calls - 1.0) / calls;
                let server = took.stats.thought.as_secs_f64() * between;
                let ours = took.stats.span.as_secs_f64() - server;
                ours * 1e3 / (calls - 1.0) * scenario.minds as f64
            }
            Self::WallPerRound => seen(scenario, &took.stats).as_secs_f64() * 1e3 / rounds,
            Self::JournalPerCall => took.journal as f64 / 1e3 / calls,
            Self::Memory => f64::NAN,
        }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        return sorted.get(middle).copied();
    }
    let pair = sorted.get(middle.checked_sub(1)?..=middle)?;
    Some(f64::midpoint(pair[0], pair[1]))
}
