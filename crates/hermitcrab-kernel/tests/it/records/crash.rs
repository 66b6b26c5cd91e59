//! Processes that are killed while they talk and rotate: what was reported is there, once, and numbers have no gap.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "the test is a process that starts itself and kills it after some time"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermitcrab_kernel::ScriptStep;
use serde_json::json;
use test_support::program::RandomNumbers;

use super::{FILE, archives, line, text};
use crate::place::{Place, Setting};

/// The variable with the folder of the process that is killed.
const FOLDER: &str = "HERMITCRAB_TEST_RECORD";
/// The size of a message in bytes: a turn fills the window.
const SIZE: usize = 8_000;
/// The turns of a process. In the third one the file has more than a mebibyte.
const TURNS: u64 = 6;

async fn last_number(place: &Place) -> u64 {
    let read = place.tool("conversation_read", json!({"limit": 0})).await;
    read.content["of"].as_u64().unwrap()
}

/// Talks in the folder of the variable, and writes the number of each message that is on record.
#[tokio::test]
#[ignore = "the process that the other tests kill"]
async fn talker() {
    let Some(dir) = std::env::var_os(FOLDER) else {
        return;
    };
    let setting = || Setting::default().in_dir(Path::new(&dir));
    let mut last = last_number(&setting().script([]).0).await;
    // A turn is two messages.
    let answers = (1..=TURNS).map(|turn| ScriptStep::text(&text(last + 2 * turn, SIZE)));
    let (place, _) = setting().script(answers.collect::<Vec<_>>());
    for _ in 0..TURNS {
        place.say(&text(last + 1, SIZE)).await;
        assert_eq!(place.notices(), [""; 0]);
        last += 2;
        println!("\nreported {last}");
        std::io::stdout().flush().unwrap();
    }
}

/// Runs the talker and kills it after this time. Answers the last number that it reported, and whether it was killed.
fn killed_after(dir: &Path, delay: Duration) -> (u64, bool) {
    let mut talker = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--ignored",
            "--nocapture",
            "records::crash::talker",
        ])
        .env(FOLDER, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while begun.elapsed() < delay && talker.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    talker.kill().unwrap();
    let output = talker.wait_with_output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let reported = told
        .lines()
        .filter_map(|line| line.strip_prefix("reported "));
    let last = reported.filter_map(|number| number.parse().ok()).max();
    (last.unwrap_or(0), output.status.code().is_none())
}

/// Checks the messages from number `from` on, and answers the number of the last one.
async fn checked(dir: &Path, from: u64) -> u64 {
    let mut setting = Setting::default().in_dir(dir);
    setting.config.read_only = true;
    let (place, _) = setting.script([]);
    assert_eq!(
        place.kernel.notices().len(),
        1,
        "{:?}",
        place.kernel.notices()
    );
    let mut next = from;
    loop {
        let read = place.tool("conversation_read", json!({"from": next, "limit": 100}));
        let read = read.await.content;
        let messages = read["messages"].as_array().unwrap();
        if messages.is_empty() {
            assert_eq!(read["of"], next - 1);
            return next - 1;
        }
        for message in messages {
            assert_eq!(message["n"], next);
            let text = message["text"].as_str().unwrap();
            assert!(
                text.starts_with(&format!("<{next}>")),
                "{next}: {}",
                &text[..20]
            );
            next += 1;
        }
    }
}

/// Adds messages after number `last` that have moved, until two turns more make a mebibyte. Answers the last number.
fn fill(dir: &Path, mut last: u64) -> u64 {
    let path = dir.join(FILE);
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    while text.len() + 60_000 < 1 << 20 {
        last += 1;
        text.push_str(&line(last, 30_000));
    }
    let moved = json!({"moved": {"schema_version": 4, "n": last}});
    text.push_str(&moved.to_string());
    text.push('\n');
    fs::write(path, text).unwrap();
    last
}

async fn outlives(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let filled = fill(dir, 0);
    let begun = Instant::now();
    let (mut reported, was_killed) = killed_after(dir, Duration::from_mins(10));
    let mut span = begun.elapsed();
    assert_eq!((reported, was_killed), (filled + 2 * TURNS, false));
    assert_eq!(archives(dir).len(), 1);
    let mut draws = RandomNumbers(23);
    let mut killed = 0;
    // Runs that end before the kill, and late kills, rotate: some of them belong to the test.
    while killed < kills || archives(dir).len() as u32 <= kills / 4 {
        reported = fill(dir, reported);
        let (last, was_killed) = killed_after(dir, draws.share_of(span));
        killed += u32::from(was_killed);
        // A machine gets busier and quieter.
        span = span.mul_f64(if was_killed { 1.02 } else { 0.98 });
        let found = checked(dir, reported.saturating_sub(9).max(1)).await;
        assert!(
            found >= last.max(reported),
            "{last} was reported, {found} is the last"
        );
        reported = found;
    }
    assert_eq!(checked(dir, 1).await, reported);
}

#[tokio::test]
async fn what_was_reported_outlives_twenty_kills() {
    outlives(20).await;
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn what_was_reported_outlives_a_hundred_kills() {
    outlives(100).await;
}
