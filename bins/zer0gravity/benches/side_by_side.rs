//! Our binary and the reference against the same server on this machine, run in turn.
//!
//! `cargo bench -p zer0gravity --bench side_by_side` (or `just bench-zer0gravity`) prints one JSON object: for each
//! scenario the median and the minimum of wall and processor time in milliseconds, the largest memory in MiB, calls,
//! the most of them at one time, and what part of the reference's figures ours are. The reference is run when
//! `ZG_REFERENCE_CMD` says how (such as `node /path/to/cli.cjs`); else its figures are those that the specification
//! states, measured on another machine, and are marked so. A number as argument is the number of runs.
//!
//! Times are taken by the `time` of bash around the program alone, memory by `/usr/bin/time` in separate runs.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Map, Value, json};
use test_support::{CompressionStub, StubMode};

/// Runs of each side and scenario, unless the command line says otherwise.
const RUNS: usize = 10;

/// Runs for the memory, which hardly varies.
const MEMORY_RUNS: usize = 3;

/// Texts of the scenario with many experiments in one process.
const MANY: usize = 100;

/// A pair of commands to measure.
struct Scenario {
    name: &'static str,
    /// Arguments of our binary.
    ours: Vec<&'static str>,
    /// Arguments of the reference; `None` where it has no such command.
    reference: Option<Vec<&'static str>>,
    /// Milliseconds before each answer of the server; `None` without a server.
    latency: Option<u64>,
    /// Figures of the reference as the specification states them.
    stated: Figures,
    /// Our figures divided by the reference's, at most.
    goals: Figures,
}

/// Milliseconds and MiB. Absent ones are not known, or no goal is set.
#[derive(Default, Clone, Copy)]
struct Figures {
    wall: Option<f64>,
    cpu: Option<f64>,
    rss: Option<f64>,
    /// From the first call to the last.
    span: Option<f64>,
}

fn scenarios() -> Vec<Scenario> {
    let run = |flags: &[&'static str]| [&["run", "--quiet"], flags].concat();
    let reference = |flags: &[&'static str]| Some([&["run"], flags].concat());
    // Minima where the specification states one: those are compared.
    let all = Figures {
        wall: Some(220.0),
        cpu: Some(230.0),
        rss: Some(88.0),
        span: None,
    };
    vec![
        Scenario {
            name: "help",
            ours: vec!["--help"],
            reference: Some(vec!["--help"]),
            latency: None,
            stated: Figures {
                wall: Some(82.0),
                cpu: Some(78.0),
                rss: Some(49.0),
                span: None,
            },
            goals: Figures {
                wall: Some(0.15),
                rss: Some(0.35),
                ..Figures::default()
            },
        },
        Scenario {
            name: "run --all, 0 ms",
            ours: run(&["--all"]),
            reference: reference(&["--all"]),
            latency: Some(0),
            stated: all,
            goals: Figures {
                wall: Some(0.25),
                cpu: Some(0.15),
                rss: Some(0.30),
                span: None,
            },
        },
        Scenario {
            name: "run --all, 50 ms",
            ours: run(&["--all"]),
            reference: reference(&["--all"]),
            latency: Some(50),
            stated: Figures {
                wall: Some(1353.0),
                span: Some(1154.0),
                ..Figures::default()
            },
            goals: Figures {
                span: Some(0.25),
                ..Figures::default()
            },
        },
        Scenario {
            name: "run --level 1, 0 ms",
            ours: run(&["--level", "1"]),
            reference: reference(&["--level", "1"]),
            latency: Some(0),
            stated: Figures {
                wall: Some(222.0),
                ..Figures::default()
            },
            goals: Figures {
                wall: Some(0.25),
                ..Figures::default()
            },
        },
        Scenario {
            name: "100 experiments in one process, 0 ms",
            ours: run(&["--dataset", "many.jsonl"]),
            reference: None,
            latency: Some(0),
            // 20 to 42 ms for each experiment.
            stated: Figures {
                wall: Some(2000.0),
                rss: Some(112.0),
                ..Figures::default()
            },
            goals: Figures {
                wall: Some(0.25),
                rss: Some(0.35),
                ..Figures::default()
            },
        },
        Scenario {
            name: "run --all offline, against the reference's --all",
            ours: run(&["--all", "--provider", "offline"]),
            reference: reference(&["--all"]),
            latency: None,
            stated: all,
            goals: Figures {
                wall: Some(1.5),
                rss: Some(1.0),
                ..Figures::default()
            },
        },
    ]
}

fn main() {
    let runs = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let runs = runs.unwrap_or(RUNS);
    let reference: Option<Vec<String>> = std::env::var("ZG_REFERENCE_CMD")
        .ok()
        .map(|command| command.split_whitespace().map(str::to_owned).collect());
    let folder = tempfile::tempdir().unwrap();
    let text = |n: usize| json!({"id": n.to_string(), "text": format!("Experiment number {n} of a hundred")});
    let many: Vec<_> = (0..MANY).map(|n| text(n).to_string()).collect();
    std::fs::write(folder.path().join("many.jsonl"), many.join("\n")).unwrap();

    let stub = CompressionStub::start(StubMode::Ok);
    let rows: Vec<_> = scenarios()
        .iter()
        .map(|scenario| row(scenario, runs, reference.as_deref(), &stub, folder.path()))
        .collect();
    let report = json!({
        "runs": runs,
        "reference": if reference.is_some() { "measured" } else { "stated in the specification, on another machine" },
        "scenarios": rows,
    });
    println!("{}", serde_json::to_string_pretty(&report).unwrap());
}

/// One scenario, both sides in turn.
fn row(
    scenario: &Scenario,
    runs: usize,
    reference: Option<&[String]>,
    stub: &CompressionStub,
    folder: &Path,
) -> Value {
    let mut our_words = vec![env!("CARGO_BIN_EXE_zer0gravity").to_owned()];
    our_words.extend(scenario.ours.iter().map(|word| (*word).to_owned()));
    if scenario.latency.is_some() {
        let server = ["--provider", "anthropic", "--base-url", &stub.url()];
        our_words.extend(server.map(str::to_owned));
    }
    let their_words = reference.zip(scenario.reference.as_ref());
    let their_words = their_words.map(|(command, flags)| {
        let flags = flags.iter().map(|word| (*word).to_owned());
        command.iter().cloned().chain(flags).collect::<Vec<_>>()
    });
    let mut ours = Side::new(our_words);
    let mut theirs = their_words.map(Side::new);
    let sides = |ours: &mut Side, theirs: &mut Option<Side>, of: &dyn Fn(&mut Side)| {
        of(ours);
        theirs.iter_mut().for_each(of);
    };
    let latency = Duration::from_millis(scenario.latency.unwrap_or(0));
    for _ in 0..runs {
        sides(&mut ours, &mut theirs, &|side| {
            side.time(stub, latency, folder);
        });
    }
    for _ in 0..MEMORY_RUNS.min(runs) {
        sides(&mut ours, &mut theirs, &|side| {
            side.weigh(stub, latency, folder);
        });
    }
    let their_figures = theirs.as_ref().map_or(scenario.stated, Side::minima);
    json!({
        "scenario": scenario.name,
        "ours": ours.json(),
        "reference": theirs.map_or_else(|| scenario.stated.json(), |side| side.json()),
        "ratio": ours.minima().divided_by(their_figures).json(),
        "goal": scenario.goals.json(),
    })
}

/// A program with its arguments, and what was measured of it.
struct Side {
    words: Vec<String>,
    wall: Vec<f64>,
    cpu: Vec<f64>,
    rss: Vec<f64>,
    span: Vec<f64>,
    calls: usize,
    max_in_flight: usize,
    /// A run ended with an error: its figures are not those of the work.
    failed: bool,
}

impl Side {
    fn new(words: Vec<String>) -> Self {
        Self {
            words,
            wall: Vec::new(),
            cpu: Vec::new(),
            rss: Vec::new(),
            span: Vec::new(),
            calls: 0,
            max_in_flight: 0,
            failed: false,
        }
    }

    /// One run for the times.
    fn time(&mut self, stub: &CompressionStub, latency: Duration, folder: &Path) {
        let script = "TIMEFORMAT='%3R %3U %3S'; time \"$@\" >/dev/null 2>/dev/null";
        let output = self.run("bash", &["-c", script, "bash"], stub, latency, folder);
        let [wall, user, system] = numbers(&output)[..] else {
            panic!("bash says {output:?}");
        };
        self.failed |= !output.status.success();
        self.wall.push(wall * 1e3);
        self.cpu.push((user + system) * 1e3);
        let stats = stub.stats();
        self.span.push(stats.span.as_secs_f64() * 1e3);
        self.calls = stats.calls;
        self.max_in_flight = self.max_in_flight.max(stats.max_in_flight);
    }

    /// One run for the memory. Another program's `fork` would count our own memory as the child's.
    fn weigh(&mut self, stub: &CompressionStub, latency: Duration, folder: &Path) {
        if !Path::new("/usr/bin/time").exists() {
            return;
        }
        let report = folder.join("memory");
        let file = report.to_str().unwrap();
        self.run(
            "/usr/bin/time",
            &["-f", "%M", "-o", file],
            stub,
            latency,
            folder,
        );
        let text = std::fs::read_to_string(&report).unwrap();
        // A program that failed is told before its memory.
        let last = text.lines().last().unwrap();
        self.rss.push(last.parse::<f64>().unwrap() / 1024.0);
    }

    fn run(
        &self,
        around: &str,
        flags: &[&str],
        stub: &CompressionStub,
        latency: Duration,
        folder: &Path,
    ) -> Output {
        stub.reset(StubMode::Ok);
        stub.set_latency(latency);
        let output = Command::new(around)
            .args(flags)
            .args(&self.words)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", folder)
            // How the reference finds the server.
            .env("ANTHROPIC_BASE_URL", stub.url())
            .env("ANTHROPIC_API_KEY", "none-is-needed-here")
            .stdin(Stdio::null())
            .output();
        output.expect("bash and time")
    }

    fn minima(&self) -> Figures {
        let called = self.calls > 0;
        Figures {
            wall: minimum(&self.wall),
            cpu: minimum(&self.cpu),
            rss: minimum(&self.rss),
            span: minimum(&self.span).filter(|_| called),
        }
    }

    fn json(&self) -> Value {
        let called = self.calls > 0;
        json!({
            "minimum": self.minima().json(),
            "median": Figures {
                wall: median(&self.wall),
                cpu: median(&self.cpu),
                rss: median(&self.rss),
                span: median(&self.span).filter(|_| called),
            }.json(),
            "calls": self.calls,
            "maxInFlight": self.max_in_flight,
            "failed": self.failed,
        })
    }
}

impl Figures {
    fn divided_by(self, other: Self) -> Self {
        let ratio = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
        Self {
            wall: ratio(self.wall, other.wall),
            cpu: ratio(self.cpu, other.cpu),
            rss: ratio(self.rss, other.rss),
            span: ratio(self.span, other.span),
        }
    }

    fn json(self) -> Value {
        let rounded = |value: f64| json!((value * 1e3).round() / 1e3);
        let fields = [
            ("wall", self.wall),
            ("cpu", self.cpu),
            ("rss", self.rss),
            ("firstToLastCall", self.span),
        ];
        let known = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), rounded(value?))));
        Value::Object(known.collect::<Map<_, _>>())
    }
}

/// The numbers on the last line of stderr.
fn numbers(output: &Output) -> Vec<f64> {
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().last().unwrap_or_default();
    last.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

fn minimum(values: &[f64]) -> Option<f64> {
    values.iter().copied().min_by(f64::total_cmp)
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
