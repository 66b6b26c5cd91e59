//! The speed and the memory of `export` and `report`, while the run grows.
//!
//! `cargo bench -p popper --bench long_export -- [LAWS]...` makes a run, adds copies of its tested laws up to each number of LAWS in turn
//! (default 100000 1000000: 16 GB of disk while it runs), and prints one JSON object. An export is written to a file next to the database,
//! with the sync of its end. The memory is the largest resident set of the process, which the system reports.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

#[path = "../tests/it/grown.rs"]
mod grown;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The sizes, unless the command line says otherwise.
const LAWS: [usize; 2] = [100_000, 1_000_000];

/// Laws of an iteration, and decisions of a commit.
const GROUP: usize = 1000;

fn popper(folder: &Path, line: &str) -> Command {
    let mut popper = Command::new(env!("CARGO_BIN_EXE_popper"));
    popper
        .args(line.split(' '))
        .args(["--db", "popper.db", "--quiet"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    popper
}

/// The largest resident set of a process so far in kB.
fn peak_kb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Seconds and peak memory in MB of a command, and the MB of the file that it writes.
fn measure(folder: &Path, line: &str, file: &str) -> Value {
    let begin = Instant::now();
    let mut child = popper(folder, &format!("{line} -o {file}"))
        .spawn()
        .unwrap();
    let mut peak = 0;
    let status = loop {
        peak = peak_kb(child.id()).unwrap_or(0).max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let seconds = begin.elapsed().as_secs_f64();
    assert!(status.success(), "{line}: {status}");
    let path = folder.join(file);
    let mb = std::fs::metadata(&path).unwrap().len() as f64 / 1e6;
    std::fs::remove_file(path).unwrap();
    json!({
        "seconds": (seconds * 10.0).round() / 10.0,
        "output_mb": mb.round(),
        "mb_per_s": (mb / seconds).round(),
        "peak_memory_mb": (peak as f64 / 1e3).round(),
    })
}

fn main() {
    let asked = std::env::args().skip(1);
    let mut sizes: Vec<usize> = asked.filter_map(|word| word.parse().ok()).collect();
    if sizes.is_empty() {
        sizes.extend(LAWS);
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let run = popper(folder.path(), "run --proposer enumerative --iterations 5").status();
    assert!(run.expect("the program").success());
    let mut levels = Vec::new();
    let mut laws = 0;
    for size in sizes {
        let path = folder.path().join("popper.db");
        bin_support::block_on(grown::grow(&path, laws..size, GROUP, false)).unwrap();
        laws = size;
        levels.push(json!({
            "laws": laws,
            "export_json": measure(folder.path(), "export 1", "run.json"),
            "export_csv": measure(folder.path(), "export 1", "run.csv"),
            "report": measure(folder.path(), "report 1", "run.html"),
        }));
    }
    println!(
        "{}",
        serde_json::to_string_pretty(&json!({ "levels": levels })).unwrap()
    );
}
