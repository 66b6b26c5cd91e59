//! The start time and the size of the program: `cargo bench -p hermitcrab --bench cold`.
//!
//! Prints the median and the slowest of 20 starts with a warm disk. One command reads a block and ends; the other one is a
//! server, measured to the line with its address. A number as argument changes the number of starts.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const STARTS: usize = 20;

fn main() {
    let starts = std::env::args().find_map(|word| word.parse().ok());
    let starts = starts.unwrap_or(STARTS);
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    // The first start creates the default blocks and is not measured.
    until_it_listens(&data).kill();
    report("block read, to its end", 40, starts, || {
        let begun = Instant::now();
        let read = program(&data, &["block", "read", "keystone"]).output();
        let taken = begun.elapsed();
        assert!(read.unwrap().status.success());
        taken
    });
    report("serve, to listening", 150, starts, || {
        let begun = Instant::now();
        let server = until_it_listens(&data);
        let taken = begun.elapsed();
        server.kill();
        taken
    });
    size(place.path());
}

fn report(what: &str, limit: u32, starts: usize, mut measure: impl FnMut() -> Duration) {
    let mut all: Vec<Duration> = (0..starts).map(|_| measure()).collect();
    all.sort();
    let ms = |at: usize| all[at].as_secs_f64() * 1e3;
    println!(
        "{what:<24} median {:>6.1} ms, slowest {:>6.1} ms, limit {limit} ms",
        ms(starts / 2),
        ms(starts - 1)
    );
}

fn program(data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hermitcrab"));
    command
        .args(words)
        .arg("--data")
        .arg(data)
        .current_dir(data.parent().unwrap())
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

struct Server(Child);

impl Server {
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn until_it_listens(data: &Path) -> Server {
    let words = [
        "serve",
        "--no-open",
        "--provider",
        "offline",
        "--runtime",
        "builtin",
    ];
    let mut child = program(data, &words)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("http://127.0.0.1:"), "{line:?}");
    Server(child)
}

/// Prints the size without debugging symbols, if the command `strip` exists.
fn size(place: &Path) {
    let built = Path::new(env!("CARGO_BIN_EXE_hermitcrab"));
    let bare = place.join("bare");
    let strip = Command::new("strip")
        .arg("-o")
        .arg(&bare)
        .arg(built)
        .status();
    let stripped = strip.is_ok_and(|status| status.success());
    let (of, how) = if stripped {
        (bare.as_path(), "stripped")
    } else {
        (built, "as built")
    };
    let size = of.metadata().unwrap().len() as f64 / 1e6;
    println!("{:<24} {size:.1} MB, {how}, limit 40 MB", "the program");
}
