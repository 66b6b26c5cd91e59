//! All or nothing: futures that are dropped, processes that are killed, logs that are torn.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::task::{Context, Poll};

use popper_discovery::store::{LawFilter, LawStatus, RunRow, Store as _, StoreError};
use popper_store::{Access, Database};

use crate::made;
use crate::place::{self, Place};

/// Drives a future for some steps and then lets go of it.
struct Abandon<F> {
    work: Option<Pin<Box<F>>>,
    steps: u32,
}

impl<F: Future> Future for Abandon<F> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        if self.steps == 0 {
            self.work = None;
            return Poll::Ready(false);
        }
        self.steps -= 1;
        let steps = self.steps;
        let work = self.work.as_mut().unwrap();
        if work.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        if steps == 0 {
            self.work = None;
            return Poll::Ready(false);
        }
        Poll::Pending
    }
}

#[tokio::test]
async fn a_commit_that_is_let_go_leaves_all_or_nothing() {
    commits_that_are_let_go(&place::file()).await;
    if let Some(server) = place::server() {
        commits_that_are_let_go(&server).await;
    }
}

async fn commits_that_are_let_go(place: &impl Place) {
    let mut database = place.open(Access::Write).await;
    let laws = made::queue(&mut database, 150).await;
    let decisions = made::decisions(&laws);
    let run = RunRow {
        id: 1,
        ..made::run()
    };
    let mut steps = 0;
    let mut let_go = 0;
    loop {
        let work = Abandon {
            work: Some(Box::pin(database.commit(&decisions))),
            steps,
        };
        let finished = work.await;
        // The next answer comes after whatever was still under way.
        let evaluations = database.tally(&run).await.unwrap().evaluations;
        assert!(
            evaluations == 0 || evaluations == 150,
            "{evaluations} after {steps} steps"
        );
        assert_eq!(
            place.sound_counts().await,
            made::expected_counts(evaluations as usize)
        );
        if evaluations == 150 {
            break;
        }
        assert!(!finished);
        let_go += 1;
        steps += 1;
    }
    // On a busy machine several answers of a server may be there at once.
    assert!(let_go > 0, "let go {let_go} times");
}

#[tokio::test]
async fn a_contradiction_leaves_the_store_usable() {
    contradiction(&place::file()).await;
    if let Some(server) = place::server() {
        contradiction(&server).await;
    }
}

async fn contradiction(place: &impl Place) {
    let mut database = place.open(Access::Write).await;
    let laws = made::queue(&mut database, 6).await;
    let decisions = made::decisions(&laws);
    database.commit(&decisions[..3]).await.unwrap();
    let mut other = decisions.clone();
    other[0].verdict_digest = "another".into();
    let error = database.commit(&other).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Contradiction { seed: 0, .. }),
        "{error}"
    );
    assert_eq!(place.sound_counts().await, made::expected_counts(3));
    database.commit(&decisions).await.unwrap();
    assert_eq!(place.sound_counts().await, made::expected_counts(6));
}

/// Copies the files while the database is open, with the log cut to a number of bytes.
fn torn_copy(from: &Path, to: &Path, log_bytes: usize) {
    std::fs::copy(from, to).unwrap();
    let mut log = std::fs::read(from.with_extension("db-wal")).unwrap();
    log.truncate(log_bytes);
    std::fs::write(to.with_extension("db-wal"), log).unwrap();
}

#[tokio::test]
async fn a_torn_log_gives_a_prefix_of_the_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    let mut database = made::write(&path).await;
    let laws = made::queue(&mut database, 60).await;
    let before = std::fs::metadata(path.with_extension("db-wal"))
        .unwrap()
        .len() as usize;
    let mut committed = vec![before];
    for group in made::decisions(&laws).chunks(6) {
        database.commit(group).await.unwrap();
        let log = std::fs::metadata(path.with_extension("db-wal"))
            .unwrap()
            .len();
        committed.push(log as usize);
    }
    let whole = *committed.last().unwrap();
    let mut cuts: Vec<usize> = (before..whole).step_by(9973).collect();
    cuts.extend(committed.iter().flat_map(|&end| [end - 1, end, end + 1]));
    for cut in cuts {
        let torn = tempfile::tempdir().unwrap();
        let copy = torn.path().join("popper.db");
        torn_copy(&path, &copy, cut);
        let groups = committed.iter().filter(|&&end| end <= cut).count();
        if groups == 0 {
            continue;
        }
        let mut opened = Database::open(&copy, Access::WriteExisting).await.unwrap();
        let counts = made::sound_counts(&copy).await;
        assert_eq!(
            counts,
            made::expected_counts((groups - 1) * 6),
            "cut at {cut}"
        );
        // And it goes on from there.
        opened.commit(&made::decisions(&laws)).await.unwrap();
        assert_eq!(made::sound_counts(&copy).await, made::expected_counts(60));
    }
}

#[tokio::test]
async fn a_damaged_log_gives_a_prefix_of_the_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    let mut database = made::write(&path).await;
    let laws = made::queue(&mut database, 30).await;
    let before = std::fs::metadata(path.with_extension("db-wal"))
        .unwrap()
        .len() as usize;
    for group in made::decisions(&laws).chunks(6) {
        database.commit(group).await.unwrap();
    }
    let log = std::fs::read(path.with_extension("db-wal")).unwrap();
    for at in (before..log.len()).step_by(7919) {
        let torn = tempfile::tempdir().unwrap();
        let copy = torn.path().join("popper.db");
        std::fs::copy(&path, &copy).unwrap();
        let mut log = log.clone();
        log[at] ^= 0x40;
        std::fs::write(copy.with_extension("db-wal"), log).unwrap();
        drop(Database::open(&copy, Access::Read).await.unwrap());
        let counts = made::sound_counts(&copy).await;
        assert_eq!(counts[0] % 6, 0, "byte {at}");
        assert_eq!(
            counts,
            made::expected_counts(counts[0] as usize),
            "byte {at}"
        );
    }
}

/// The environment variable with the database of the child process.
const CHILD: &str = "POPPER_STORE_TEST_CHILD";

/// Not a test by itself: commits group after group and says so, until it is killed.
#[tokio::test]
#[ignore = "a process that others start and kill"]
#[expect(
    clippy::disallowed_methods,
    reason = "the parent names the file in a variable"
)]
async fn child() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let mut database = made::write(Path::new(&path)).await;
    let laws = database
        .laws(1, LawFilter::statuses(&[LawStatus::Queued]))
        .await
        .unwrap();
    let mut said = std::io::stdout();
    writeln!(said, "open").unwrap();
    for group in made::decisions(&laws).chunks(3) {
        database.commit(group).await.unwrap();
        writeln!(said, "committed").unwrap();
        said.flush().unwrap();
    }
    std::future::pending::<()>().await;
}

/// Starts the child on a database and reads what it says.
#[expect(clippy::disallowed_methods, reason = "the child is this test binary")]
fn start_child(path: &Path) -> (std::process::Child, impl Iterator<Item = String>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "atomic::child", "--ignored", "--nocapture"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = said
        .map(Result::unwrap)
        .filter(|line| line == "open" || line == "committed");
    (child, said)
}

#[tokio::test]
async fn a_killed_process_loses_nothing_that_was_committed_and_gives_its_lock_back() {
    for kill_after in [0, 1, 2, 5, 17, 40] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("popper.db");
        let mut database = made::write(&path).await;
        made::queue(&mut database, 150).await;
        database.close().await.unwrap();
        let (mut child, mut said) = start_child(&path);
        assert_eq!(said.next().as_deref(), Some("open"));
        for _ in 0..kill_after {
            assert_eq!(said.next().as_deref(), Some("committed"));
        }
        // It is still at it.
        let second = Database::open(&path, Access::Write).await.unwrap_err();
        assert!(matches!(second, StoreError::Locked { .. }), "{second}");
        let mut reader = Database::open(&path, Access::Read).await.unwrap();
        assert_eq!(reader.runs().await.unwrap().len(), 1);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(Database::open(&path, Access::Write).await.unwrap());
        let counts = made::sound_counts(&path).await;
        let decided = counts[0] as usize;
        assert!(
            decided >= 3 * kill_after && decided.is_multiple_of(3),
            "{decided}"
        );
        assert_eq!(counts, made::expected_counts(decided));
    }
}
