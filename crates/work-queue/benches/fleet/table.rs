//! The plan to 1,000 workers: the rows of the specification, each with the figures of the prototype that it must reproduce.
//!
//! The specification leaves three points open. These readings reproduce all rows: a coordinator commits as soon as a result is there
//! and no commit is under way, a MB has 1,024 kB, and each of a job's four statements takes a quarter of its costs.

use serde_json::Value;

use crate::simulation::{Costs, Figures, Fleet, simulate};

/// The seed of all rows.
const SEED: u64 = 21;

/// The part by which a figure may differ from its reference.
const MARGIN: f64 = 0.1;

/// The part of a core or a device by which a reference is rounded.
const ROUNDED: f64 = 0.005;

/// The workers from which each asks less often.
const MANY: usize = 200;

/// The constants of the specification.
pub const SPECIFIED: Costs = Costs {
    job: 1.4e-3,
    job_kb: 4e-6,
    poll: 0.04e-3,
    commit: 1e-3,
    commit_law: 120e-6,
    submit_shard: 0.05e-3,
    round_trip: 0.5e-3,
    output_kb: 3.4,
    commit_kb: 7.0,
    submit_kb: 1.0,
};

/// A fleet, and the figures that the prototype gave.
pub struct Row {
    pub fleet: Fleet,
    change: &'static str,
    is_compressed: bool,
    laws_per_s: f64,
    /// The busy parts of the server and of the log, where the specification states them.
    busy: Option<(f64, f64)>,
}

/// The fleet of a row, in which only the workers and the runs differ from the defaults.
fn fleet(workers: usize, coordinators: usize) -> Fleet {
    Fleet {
        workers,
        coordinators,
        laws: 400,
        law: 0.02,
        plan: 2.0,
        shard: 1.0,
        poll: if workers < MANY { 0.1 } else { 0.25 },
        cores: 8,
        log: 200.0,
        seconds: 120.0,
    }
}

/// All rows of the table.
pub fn rows() -> Vec<Row> {
    let row = |fleet, laws_per_s, busy| Row {
        fleet,
        change: "",
        is_compressed: false,
        laws_per_s,
        busy,
    };
    let one_law = Fleet {
        shard: 0.02,
        ..fleet(1000, 250)
    };
    let fast_log = Fleet {
        log: 400.0,
        ..fleet(1000, 500)
    };
    let slow = Fleet {
        law: 0.2,
        ..fleet(1000, 25)
    };
    let slowest = Fleet {
        law: 2.0,
        laws: 4000,
        seconds: 600.0,
        ..fleet(1000, 4)
    };
    vec![
        row(fleet(1, 1), 40.0, None),
        row(fleet(2, 1), 64.0, None),
        row(fleet(4, 1), 94.0, None),
        row(fleet(16, 1), 153.0, None),
        row(fleet(100, 1), 183.0, None),
        row(fleet(100, 25), 3692.0, Some((0.11, 0.21))),
        row(fleet(250, 100), 12_358.0, Some((0.30, 0.69))),
        row(fleet(500, 150), 17_877.0, Some((0.44, 1.0))),
        row(fleet(1000, 250), 17_824.0, Some((0.44, 1.0))),
        Row {
            change: "compressed texts",
            is_compressed: true,
            ..row(fleet(1000, 250), 34_365.0, Some((0.88, 0.79)))
        },
        Row {
            change: "compressed texts, log of 400 MB/s",
            is_compressed: true,
            ..row(fast_log, 46_933.0, Some((0.99, 0.54)))
        },
        Row {
            change: "one law a shard",
            ..row(one_law, 4997.0, Some((1.0, 0.28)))
        },
        Row {
            change: "laws of 200 ms",
            ..row(slow, 2568.0, Some((0.30, 0.14)))
        },
        Row {
            change: "laws of 2 s, 4,000 a plan",
            ..row(slowest, 498.0, Some((0.16, 0.03)))
        },
    ]
}

impl Row {
    /// The name in messages.
    pub fn name(&self) -> String {
        let Fleet {
            workers,
            coordinators,
            ..
        } = self.fleet;
        format!("{workers} workers, {coordinators} runs {}", self.change)
            .trim()
            .to_owned()
    }

    pub fn simulate(&self, costs: &Costs) -> Figures {
        let mut costs = *costs;
        if self.is_compressed {
            (costs.output_kb, costs.commit_kb) = (1.2, 2.5);
        }
        simulate(&costs, &self.fleet, SEED)
    }

    /// The figures that are further from their reference than allowed.
    pub fn misses(&self, figures: &Figures) -> Vec<String> {
        let mut pairs = vec![("laws a second", figures.laws_per_s, self.laws_per_s, 0.0)];
        if let Some((server, log)) = self.busy {
            pairs.push(("server", figures.server, server, ROUNDED));
            pairs.push(("log", figures.log, log, ROUNDED));
        }
        let far = pairs.into_iter().filter(|(_, found, reference, rounded)| {
            (found - reference).abs() > reference * MARGIN + rounded
        });
        far.map(|(what, found, reference, _)| format!("{what} {found:.3}, reference {reference}"))
            .collect()
    }

    /// The line of the table.
    pub fn line(&self, figures: &Figures) -> String {
        let Fleet {
            workers,
            coordinators,
            ..
        } = self.fleet;
        let Figures {
            laws_per_s,
            of_ideal,
            server,
            log,
        } = figures;
        let reference = match self.busy {
            Some((server, log)) => format!("{:.0}, {server:.2} / {log:.2}", self.laws_per_s),
            None => format!("{:.0}", self.laws_per_s),
        };
        let off = (laws_per_s / self.laws_per_s - 1.0) * 100.0;
        format!(
            "| {workers} | {coordinators} | {} | {laws_per_s:.0} | {of_ideal:.2} | {server:.2} / {log:.2} | {reference} | {off:+.1} % |",
            self.change
        )
    }
}

/// The costs that the bench `queue` has printed, with one of its costs of a job; those of commits are the specification's.
pub fn measured(bench: &Value, job: &str) -> Option<Costs> {
    let costs = &bench["costs"];
    let seconds = |name: &str, unit: f64| costs[name].as_f64().map(|value| value.max(0.0) / unit);
    Some(Costs {
        job: seconds(job, 1e3)?,
        job_kb: seconds("job_kb_server_us", 1e6)?,
        poll: seconds("poll_server_ms", 1e3)?,
        submit_shard: seconds("submit_job_ms", 1e3)?,
        ..SPECIFIED
    })
}
