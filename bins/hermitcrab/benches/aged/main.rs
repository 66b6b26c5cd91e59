//! The cost of years: `cargo bench -p hermitcrab --bench aged`.
//!
//! Each row is measured on a young instance of 10 turns and on the same one after 10,000 turns, with 30 MiB of logs and a
//! memory of 7,000 entries, in alternating rounds. A turn is one with which another leaves the window; a mount is the socket
//! of a page up to the answer of `conversation.load`. The ratio of the medians is the figure, its goal 1.3. Row T5 is a turn of
//! the aged instance with labels on its last 200 memories, against the same one without labels; its goal is 1.05. Arguments: a
//! number of rounds, and the paths of other programs, such as one of an earlier commit, which are measured next to this one.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod instance;
mod page;
mod program;

use std::path::{Path, PathBuf};
use std::time::Duration;

use page::FaceServer;
use program::{Chat, Program, Server};

const ROUNDS: usize = 20;
const GOAL: f64 = 1.3;
const LABELS_GOAL: f64 = 1.05;

fn main() {
    let words: Vec<_> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let rounds = words.iter().find_map(|word| word.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    let others = words.iter().filter(|word| word.parse::<usize>().is_err());
    let this = PathBuf::from(env!("CARGO_BIN_EXE_hermitcrab"));
    let programs: Vec<_> = [this]
        .into_iter()
        .chain(others.map(PathBuf::from))
        .map(Program)
        .collect();
    let place = tempfile::tempdir().unwrap();
    let subjects: Vec<_> = (programs.iter().enumerate())
        .map(|(index, program)| Subject::new(program, &place.path().join(index.to_string())))
        .collect();
    for (name, row) in ROWS {
        for subject in &subjects {
            subject.report(name, *row, rounds);
        }
    }
    Subject::report_labels(&programs[0], place.path(), rounds);
    if let Ok(load) = std::fs::read_to_string("/proc/loadavg") {
        println!("load {}", load.trim_end());
    }
}

/// A program with its two instances.
struct Subject<'a> {
    program: &'a Program,
    young: PathBuf,
    aged: PathBuf,
}

/// One figure: its name, and what makes the measurement of an instance ready.
type Row = (&'static str, Prepare);
type Prepare = for<'a> fn(&'a Program, &'a Path) -> Measure<'a>;
type Measure<'a> = Box<dyn FnMut() -> Duration + 'a>;

const ROWS: &[Row] = &[
    ("block read", |program, data| {
        Box::new(|| program.run(data, &["block", "read", "constitution"]))
    }),
    ("block list", |program, data| {
        Box::new(|| program.run(data, &["block", "list"]))
    }),
    ("one MCP read", |program, data| {
        let mut server = Server::start(program, data);
        Box::new(move || server.read())
    }),
    ("start of chat", |program, data| {
        Box::new(|| program.chat(data, ""))
    }),
    ("prompt", |program, data| {
        Box::new(|| program.run(data, &["prompt", "--provider", "offline"]))
    }),
    ("cost", |program, data| {
        Box::new(|| program.run(data, &["cost"]))
    }),
    ("turn", turn),
    ("mount", |program, data| {
        let mut server = FaceServer::start(program, data);
        Box::new(move || server.mount())
    }),
];

fn turn<'a>(program: &'a Program, data: &'a Path) -> Measure<'a> {
    let mut chat = Chat::start(program, data);
    Box::new(move || chat.turn())
}

impl<'a> Subject<'a> {
    fn new(program: &'a Program, place: &Path) -> Self {
        let (young, aged) = (place.join("young"), place.join("aged"));
        std::fs::create_dir_all(place).unwrap();
        instance::make_young(program, &young);
        instance::make_aged(program, &aged);
        Self {
            program,
            young,
            aged,
        }
    }

    fn report(&self, name: &str, row: Prepare, rounds: usize) {
        let mut instances = [&self.young, &self.aged].map(|data| row(self.program, data));
        let [young, aged] = medians(&mut instances, rounds);
        print(self.program, name, ("young", young), ("aged", aged), GOAL);
    }

    /// The bench of row T5.
    fn report_labels(program: &Program, place: &Path, rounds: usize) {
        let [plain, labelled] = [false, true].map(|labelled| {
            let data = place.join(if labelled { "labelled" } else { "plain" });
            instance::make_read(program, &data, labelled);
            data
        });
        let mut instances = [&plain, &labelled].map(|data| turn(program, data));
        let [plain, labelled] = medians(&mut instances, rounds);
        let (plain, labelled) = (("plain", plain), ("labels", labelled));
        print(program, "labels, turn", plain, labelled, LABELS_GOAL);
    }
}

/// The medians of two measurements in alternating rounds, in milliseconds. The first round is not measured.
fn medians(instances: &mut [Measure<'_>; 2], rounds: usize) -> [f64; 2] {
    let mut taken = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        for (measure, taken) in instances.iter_mut().zip(&mut taken) {
            let time = measure();
            if round > 0 {
                taken.push(time);
            }
        }
    }
    taken.map(|mut times| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    })
}

fn print(program: &Program, name: &str, base: (&str, f64), other: (&str, f64), goal: f64) {
    let ratio = other.1 / base.1;
    let met = if ratio <= goal { "met" } else { "missed" };
    println!(
        "{name:<14} {} {:>8.2} ms, {} {:>8.2} ms, ratio {ratio:>6.2}, goal {goal} {met}  {}",
        base.0,
        base.1,
        other.0,
        other.1,
        program.0.display()
    );
}
