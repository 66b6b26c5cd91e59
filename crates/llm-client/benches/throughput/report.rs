//! One JSON line for each figure.

use serde_json::{Value, json};

/// The tolerance of a goal in `--check`.
const MARGIN: f64 = 0.2;

/// The goal of a ratio.
#[derive(Clone, Copy)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// No goal: the ratio is only printed.
    Open,
}

/// The figures of a run.
#[derive(Default)]
pub struct Report {
    missed: Vec<String>,
}

/// A measured value with its unit and its goal.
pub struct Measured {
    pub unit: &'static str,
    pub layers: f64,
    pub raw: f64,
    pub limit: Option<f64>,
    /// The processor time of the client's thread for each call or stream, in microseconds: layers and raw.
    pub cpu_us: Option<(f64, f64)>,
    /// The largest ratio of these two.
    pub cpu_goal: Option<f64>,
}

impl Report {
    /// Prints a figure; its ratio is that of the layers to raw.
    pub fn add(&mut self, name: &str, goal: Goal, measured: &Measured) {
        let ratio = measured.layers / measured.raw;
        let (text, ratio_met, near) = match goal {
            Goal::AtLeast(goal) => (
                json!(format!("ratio >= {goal}")),
                ratio >= goal,
                ratio >= goal * (1.0 - MARGIN),
            ),
            Goal::AtMost(goal) => (
                json!(format!("ratio <= {goal}")),
                ratio <= goal,
                ratio <= goal * (1.0 + MARGIN),
            ),
            Goal::Open => (Value::Null, true, true),
        };
        let stated = !text.is_null() || measured.limit.is_some();
        let text_cpu = measured.cpu_goal.map(|goal| format!("ratio <= {goal}"));
        let met = ratio_met && measured.limit.is_none_or(|limit| measured.layers <= limit);
        let cpu_ratio = measured.cpu_us.map(|(layers, raw)| layers / raw);
        let cpu_met = measured
            .cpu_goal
            .is_none_or(|goal| cpu_ratio.is_some_and(|ratio| ratio <= goal));
        let cpu_near = measured
            .cpu_goal
            .is_none_or(|goal| cpu_ratio.is_some_and(|ratio| ratio <= goal * (1.0 + MARGIN)));
        if !near || !cpu_near {
            self.missed.push(name.to_owned());
        }
        let line = json!({
            "name": name,
            "ratio": rounded(ratio),
            "goal": text,
            "limit": measured.limit,
            "met": stated.then_some(met),
            "unit": measured.unit,
            "layers": rounded(measured.layers),
            "raw": rounded(measured.raw),
            "cpu_ratio": cpu_ratio.map(rounded),
            "cpu_goal": text_cpu,
            "cpu_met": measured.cpu_goal.map(|_| cpu_met),
            "cpu_us": measured.cpu_us.map(|(layers, raw)| [rounded(layers), rounded(raw)]),
            "load": load(),
            "cores": cores(),
        });
        println!("{line}");
    }

    /// The figures whose ratio misses its goal by more than the margin.
    pub fn missed(&self) -> &[String] {
        &self.missed
    }
}

/// Prints a figure that has no other side.
pub fn add_limit(name: &str, unit: &str, value: f64, limit: f64) {
    let line = json!({
        "name": name,
        "limit": limit,
        "met": value <= limit,
        "unit": unit,
        "layers": rounded(value),
        "load": load(),
        "cores": cores(),
    });
    println!("{line}");
}

/// The machine's load of the last minute.
fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(0, usize::from)
}

fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
