//! The start time and the size of the program: `cargo bench -p hermitcrab --bench cold`.
//!
//! Prints the median and the slowest of 20 starts with a warm disk. One command reads a block and ends; the other one is a
//! server, measured to the line with its address. Row F1: starts with an npm that never answers alternate with those with
//! `--runtime builtin`, and the ratio of the medians is the figure. A number as argument changes the number of starts.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const STARTS: usize = 20;
const SERVE: [&str; 4] = ["serve", "--no-open", "--provider", "offline"];

fn main() {
    let starts = std::env::args().find_map(|word| word.parse().ok());
    let starts = starts.unwrap_or(STARTS);
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    // The first start creates the default blocks and is not measured.
    let builtin = [&SERVE[..], &["--runtime", "builtin"]].concat();
    to_listening(&mut program(&data, &builtin));
    let read = || {
        let begun = Instant::now();
        let read = program(&data, &["block", "read", "keystone"]).output();
        let taken = begun.elapsed();
        assert!(read.unwrap().status.success());
        taken
    };
    report("block read, to its end", 40, (0..starts).map(|_| read()));
    let clients = hanging_npm(place.path());
    let pair = |_| {
        let plain = to_listening(&mut program(&data, &builtin));
        let hanging = to_listening(program(&data, &SERVE).env("PATH", &clients));
        (plain, hanging)
    };
    let (plain, hanging): (Vec<_>, Vec<_>) = (0..starts).map(pair).unzip();
    let plain = report("serve, to listening", 150, plain);
    let hanging = report("with a hanging npm", 150, hanging);
    println!(
        "{:<24} {:.2} x of the start with --runtime builtin, goal 1.2 x",
        "a hanging npm",
        hanging / plain
    );
    size(place.path());
}

/// Prints a row and returns the median in milliseconds.
fn report(what: &str, limit: u32, all: impl IntoIterator<Item = Duration>) -> f64 {
    let mut all: Vec<Duration> = all.into_iter().collect();
    all.sort();
    let ms = |at: usize| all[at].as_secs_f64() * 1e3;
    let (median, slowest) = (ms(all.len() / 2), ms(all.len() - 1));
    println!("{what:<24} median {median:>6.1} ms, slowest {slowest:>6.1} ms, limit {limit} ms");
    median
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

/// Starts a server, and returns the time to the line with its address.
fn to_listening(serve: &mut Command) -> Duration {
    let begun = Instant::now();
    let mut child = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let taken = begun.elapsed();
    assert!(line.starts_with("http://127.0.0.1:"), "{line:?}");
    // It ends its npm, too.
    let pid = child.id().to_string();
    let ended = Command::new("kill").arg(pid).status();
    assert!(ended.unwrap().success());
    child.wait().unwrap();
    taken
}

/// Makes a folder with an npm that never answers.
fn hanging_npm(place: &Path) -> PathBuf {
    let folder = place.join("clients");
    fs::create_dir(&folder).unwrap();
    let npm = folder.join("npm");
    fs::write(&npm, "#!/bin/sh\nexec /bin/sleep 600\n").unwrap();
    #[cfg(unix)]
    fs::set_permissions(&npm, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    folder
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
