//! The two programs, and what a run of one of them took.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{MindScript, MindStats, MindStub};

/// A scenario that a program runs.
#[derive(Clone)]
pub struct Scenario {
    pub minds: usize,
    pub rounds: usize,
    pub samples: usize,
    pub active: usize,
    /// Messages of 200 bytes that the run begins with.
    pub seeds: usize,
    pub script: MindScript,
    pub snapshot: bool,
    /// Events are on the disk before anything depends on them.
    pub fsync: bool,
    /// The pool forgets what cannot be read.
    pub forgets: bool,
}

impl Scenario {
    pub fn calls(&self) -> usize {
        self.minds * self.rounds
    }

    fn init(&self) -> String {
        let mut text = String::from("Seeds of a benchmark.\n");
        for n in 0..self.seeds {
            let mut seed = format!("Seed {n} says what seeds say: ");
            while seed.len() < 200 {
                seed.push_str("word after word ");
            }
            seed.truncate(200);
            // Writing to a string cannot fail.
            let _ = write!(text, "---\n{}\n", seed.trim_end());
        }
        text + "---\n\n---\n~init\n"
    }
}

/// The time and memory of one run.
pub struct Took {
    /// Seconds of processor time, of the user and of the system.
    pub cpu: f64,
    /// Bytes of the journal.
    pub journal: u64,
    /// The requests that the server received.
    pub stats: MindStats,
    /// Megabytes at the most, if they were weighed.
    pub memory: Option<f64>,
}

/// The program that is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Ours,
    Reference,
}

/// The paths of the programs.
pub struct Programs {
    reference: Option<PathBuf>,
}

impl Programs {
    pub fn find() -> Self {
        let folder = std::env::var_os("REF").map(PathBuf::from);
        let reference = folder.filter(|folder| {
            let there = folder.join("run.py").exists();
            assert!(there, "{} holds no run.py", folder.display());
            there
        });
        Self { reference }
    }

    pub fn reference_folder(&self) -> Value {
        let shown = |folder: &PathBuf| json!(folder.display().to_string());
        self.reference.as_ref().map_or(json!("not compared"), shown)
    }

    pub fn has(&self, side: Side) -> bool {
        side == Side::Ours || self.reference.is_some()
    }

    /// One run for the times.
    pub fn time(&self, side: Side, scenario: &Scenario) -> Took {
        let script = "TIMEFORMAT='%3R %3U %3S'; time \"$@\" >/dev/null 2>run.err";
        let (mut took, output) = self.run(side, scenario, "bash", &["-c", script, "bash"]);
        let text = String::from_utf8_lossy(&output.stderr);
        let numbers: Vec<f64> = text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [_, user, system] = numbers[..] else {
            panic!("bash says {output:?}");
        };
        took.cpu = user + system;
        took
    }

    /// One run for the memory. Another program's `fork` would count our own memory as the child's.
    pub fn weigh(&self, side: Side, scenario: &Scenario) -> Took {
        let (mut took, output) = self.run(side, scenario, "/usr/bin/time", &["-f", "%M"]);
        let text = String::from_utf8_lossy(&output.stderr);
        let kibibytes: f64 = text.lines().last().unwrap().parse().unwrap();
        took.memory = Some(kibibytes * 1024.0 / 1e6);
        took
    }

    fn run(&self, side: Side, scenario: &Scenario, around: &str, flags: &[&str]) -> (Took, Output) {
        let stub = MindStub::start(scenario.script.clone());
        let place = Place::new(scenario);
        let words = match side {
            Side::Ours => place.ours(scenario, &stub.url()),
            Side::Reference => {
                let folder = self.reference.as_ref().expect("the reference is there");
                place.theirs(folder, scenario, &stub.url())
            }
        };
        let output = Command::new(around)
            .args(flags)
            .args(&words)
            .current_dir(place.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", place.root())
            .env("OPENROUTER_API_KEY", "none-is-needed-here")
            .stdin(Stdio::null())
            .output()
            .expect("bash and time");
        let told = fs::read_to_string(place.root().join("run.err")).unwrap_or_default();
        assert!(output.status.success(), "{words:?}: {output:?} {told}");
        let stats = stub.stats();
        let made = stats.by_status.get(&200).copied().unwrap_or_default();
        assert_eq!(made, scenario.calls(), "{words:?}: {output:?} {told}");
        let took = Took {
            cpu: 0.0,
            journal: place.journal_bytes(),
            stats,
            memory: None,
        };
        (took, output)
    }
}

/// A folder with an experiment in it.
struct Place(TempDir);

impl Place {
    fn new(scenario: &Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("E")).unwrap();
        fs::write(folder.path().join("E/init.md"), scenario.init()).unwrap();
        Self(folder)
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn ours(&self, scenario: &Scenario, url: &str) -> Vec<String> {
        let keep = if scenario.forgets { "active" } else { "all" };
        let config = json!({"keep": keep}).to_string();
        fs::write(self.root().join("E/config.json"), config).unwrap();
        let line = format!(
            "{} run E --provider openrouter --base-url {url} --model m --minds {} --rounds {} --samples {} --active {} \
             --scheduling {} --concurrency {} --durability {} --seed 1 --quiet",
            env!("CARGO_BIN_EXE_logosphere"),
            scenario.minds,
            scenario.rounds,
            scenario.samples,
            scenario.active,
            if scenario.snapshot {
                "snapshot"
            } else {
                "sequential"
            },
            scenario.minds,
            if scenario.fsync { "fsync" } else { "flush" },
        );
        line.split_whitespace().map(str::to_owned).collect()
    }

    /// A copy of the reference whose constants are those of the scenario.
    fn theirs(&self, folder: &Path, scenario: &Scenario, url: &str) -> Vec<String> {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, self.root().join(path.file_name().unwrap())).unwrap();
            }
        }
        let mut config = fs::read_to_string(self.root().join("config.py")).unwrap();
        let constants = [
            ("N_MINDS", json!(scenario.minds)),
            ("K_SAMPLES", json!(scenario.samples)),
            ("M_ACTIVE_POOL", json!(scenario.active)),
            ("MAX_ROUNDS", json!(scenario.rounds)),
            ("TOKEN_LIMIT", json!(2000)),
            ("MODEL", json!("m")),
            ("API_BASE_URL", json!(url)),
            ("API_KEY", json!("none-is-needed-here")),
        ];
        for (name, value) in constants {
            let _ = write!(config, "\n{name} = {value}");
        }
        fs::write(self.root().join("config.py"), config + "\n").unwrap();
        fs::write(
            self.root().join(".env"),
            "OPENROUTER_API_KEY=none-is-needed-here\n",
        )
        .unwrap();
        let rounds = scenario.rounds.to_string();
        [
            "python3",
            "run.py",
            "--rounds",
            &rounds,
            "--output-dir",
            "E",
        ]
        .map(str::to_owned)
        .into()
    }

    fn journal_bytes(&self) -> u64 {
        let journal = ["E/logs/experiment.jsonl", "E/experiment.jsonl"];
        let lengths = journal
            .iter()
            .filter_map(|name| fs::metadata(self.root().join(name)).ok());
        lengths.map(|found| found.len()).max().unwrap_or_default()
    }
}

/// Seconds as the server sees them, from its first request to the last answer.
pub fn seen(scenario: &Scenario, stats: &MindStats) -> Duration {
    stats.span + scenario.script.latency
}
