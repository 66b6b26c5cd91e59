//! Files that are missing, foreign, damaged, newer, held by others, read-only or on a full disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use popper_discovery::store::{LawFilter, LawStatus, Pick, Store as _, StoreError};
use popper_store::{Access, Database};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::made;

const ALL: [Access; 3] = [Access::Write, Access::WriteExisting, Access::Read];

/// A folder with a database that holds a run, six laws and three decisions.
async fn filled() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    let mut database = made::write(&path).await;
    let laws = made::queue(&mut database, 6).await;
    let decisions = made::decisions(&laws);
    database.commit(&decisions[..3]).await.unwrap();
    database.close().await.unwrap();
    (folder, path)
}

/// The connection of another program.
async fn other(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.create_if_missing(true).connect().await.unwrap()
}

async fn edit(path: &Path, sql: &'static str) {
    let mut conn = other(path).await;
    conn.execute(sql).await.unwrap();
    conn.close().await.unwrap();
}

/// All files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

async fn refused(path: &Path, access: Access) -> StoreError {
    Database::open(path, access).await.unwrap_err()
}

#[tokio::test]
async fn what_is_missing_is_made_only_for_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/popper.db");
    for access in [Access::Read, Access::WriteExisting] {
        let error = refused(&path, access).await;
        assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    }
    assert!(files(folder.path()).is_empty());
    Database::open(&path, Access::Write)
        .await
        .unwrap()
        .close()
        .await
        .unwrap();
    let mut again = Database::open(&path, Access::WriteExisting).await.unwrap();
    assert!(again.runs().await.unwrap().is_empty());
    let error = refused(folder.path(), Access::Write).await;
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn an_empty_file_is_no_database_until_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    std::fs::write(&path, "").unwrap();
    for access in [Access::Read, Access::WriteExisting] {
        let error = refused(&path, access).await;
        assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    }
    made::write(&path).await.close().await.unwrap();
    assert_eq!(made::sound_counts(&path).await, [0; 4]);
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "these are notes\n".repeat(1000)).unwrap();
    let short = folder.path().join("short");
    std::fs::write(&short, "x").unwrap();
    let foreign = folder.path().join("foreign.db");
    edit(
        &foreign,
        "CREATE TABLE laws (a); INSERT INTO laws VALUES (1)",
    )
    .await;
    let versioned = folder.path().join("versioned.db");
    edit(
        &versioned,
        "CREATE TABLE schema_version (version INTEGER); CREATE TABLE t (a)",
    )
    .await;
    let before = files(folder.path());
    for path in [&text, &short, &foreign, &versioned] {
        for access in ALL {
            let error = refused(path, access).await;
            assert!(
                matches!(error, StoreError::Corrupt { .. }),
                "{path:?}: {error:?}"
            );
            assert!(error.to_string().starts_with(&path.display().to_string()));
        }
    }
    assert_eq!(files(folder.path()), before);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_not_touched() {
    let (folder, path) = filled().await;
    edit(&path, "INSERT INTO schema_version VALUES (7)").await;
    for access in ALL {
        let error = refused(&path, access).await;
        assert!(
            matches!(
                error,
                StoreError::Newer {
                    found: 7,
                    known: 3,
                    ..
                }
            ),
            "{error}"
        );
    }
    edit(
        &path,
        "DELETE FROM schema_version WHERE version = 7; \
         INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (4, '', 1, x'', 0)",
    )
    .await;
    let before = std::fs::read(&path).unwrap();
    for access in ALL {
        let error = refused(&path, access).await;
        assert!(
            matches!(
                error,
                StoreError::Newer {
                    found: 4,
                    known: 3,
                    ..
                }
            ),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    drop(folder);
}

#[tokio::test]
async fn our_tables_in_another_shape_are_refused() {
    for change in [
        "ALTER TABLE laws ADD COLUMN more TEXT",
        "DROP INDEX laws_by_status",
        "DROP TABLE verdict_keys",
        "DROP INDEX verdict_keys_by_evaluation",
        "DELETE FROM schema_version",
        "UPDATE schema_version SET version = 0",
    ] {
        let (_folder, path) = filled().await;
        edit(&path, change).await;
        for access in ALL {
            let error = refused(&path, access).await;
            assert!(
                matches!(error, StoreError::Corrupt { .. }),
                "{change}: {error}"
            );
        }
    }
    // What a reader adds for himself is his.
    let (_folder, path) = filled().await;
    edit(&path, "CREATE VIEW refuted AS SELECT * FROM counterexamples; CREATE INDEX mine ON laws (claim_text)").await;
    for access in ALL {
        Database::open(&path, access).await.unwrap();
    }
}

#[tokio::test]
async fn a_column_that_does_not_parse_is_named() {
    let cases = [
        (
            "UPDATE runs SET created_at = 'yesterday'",
            "runs 1: column created_at",
        ),
        (
            "UPDATE iterations SET iteration_index = 5000000000",
            "iterations 1: column iteration_index",
        ),
        (
            "PRAGMA ignore_check_constraints = 1; UPDATE laws SET status = 'loved' WHERE id = 1",
            "laws 1: column status",
        ),
        (
            "UPDATE laws SET claim_text = CAST(x'ff' AS TEXT) WHERE id = 1",
            "laws 1: column claim_text",
        ),
        (
            "UPDATE law_evaluations SET started_at = '' WHERE id = 1",
            "law_evaluations 1: column started_at",
        ),
        (
            "PRAGMA ignore_check_constraints = 1; UPDATE law_evaluations SET status = 'MAYBE' WHERE id = 1",
            "law_evaluations 1: column status",
        ),
        (
            "PRAGMA ignore_check_constraints = 1; UPDATE counterexamples SET minimized = 2",
            "counterexamples 1: column minimized",
        ),
        (
            "PRAGMA foreign_keys = 0; DELETE FROM counterexamples",
            "counterexamples",
        ),
    ];
    for (sql, expected) in cases {
        let (_folder, path) = filled().await;
        edit(&path, sql).await;
        let mut database = Database::open(&path, Access::Read).await.unwrap();
        let run = popper_discovery::store::RunRow {
            id: 1,
            ..made::run()
        };
        let all = [LawStatus::Tested, LawStatus::Queued];
        let first = ["fingerprint of law 1".to_owned()];
        let mut errors = vec![
            database.runs().await.err(),
            database.iterations(1, Pick::All).await.err(),
            database.laws(1, LawFilter::statuses(&all)).await.err(),
            database
                .laws(1, LawFilter::Fingerprints(&first))
                .await
                .err(),
            database
                .findings(popper_discovery::store::Query::all(&run))
                .await
                .err(),
            database.tally(&run).await.err(),
        ];
        errors.retain(Option::is_some);
        let errors: Vec<StoreError> = errors.into_iter().flatten().collect();
        assert!(!errors.is_empty(), "{sql}");
        for error in errors {
            assert!(
                matches!(error, StoreError::Column { .. }),
                "{sql}: {error:?}"
            );
            assert!(error.to_string().starts_with(expected), "{sql}: {error}");
        }
    }
}

#[tokio::test]
async fn a_truncated_file_is_said_to_be_damaged() {
    let (_folder, path) = filled().await;
    let whole = std::fs::read(&path).unwrap();
    let mut refusals = 0;
    for length in (1..whole.len()).step_by(8191) {
        let folder = tempfile::tempdir().unwrap();
        let cut = folder.path().join("cut.db");
        std::fs::write(&cut, &whole[..length]).unwrap();
        for access in ALL {
            let error = match Database::open(&cut, access).await {
                Err(error) => error,
                Ok(mut database) => {
                    let run = popper_discovery::store::RunRow {
                        id: 1,
                        ..made::run()
                    };
                    let Err(error) = database
                        .findings(popper_discovery::store::Query::all(&run))
                        .await
                    else {
                        panic!("{length} of {} bytes are enough", whole.len())
                    };
                    error
                }
            };
            assert!(
                matches!(error, StoreError::Corrupt { .. }),
                "{length}: {error:?}"
            );
            refusals += 1;
        }
    }
    assert!(refusals > 30);
}

#[tokio::test]
async fn one_writer_and_many_readers() {
    let (folder, path) = filled().await;
    let mut writer = Database::open(&path, Access::WriteExisting).await.unwrap();
    for access in [Access::Write, Access::WriteExisting] {
        let error = refused(&path, access).await;
        assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    }
    // Another name of the same file finds the same lock.
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let error = refused(&link, Access::Write).await;
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    let mut readers = Vec::new();
    for _ in 0..3 {
        readers.push(Database::open(&path, Access::Read).await.unwrap());
    }
    let run = popper_discovery::store::RunRow {
        id: 1,
        ..made::run()
    };
    let laws = writer
        .laws(1, LawFilter::statuses(&[LawStatus::Queued]))
        .await
        .unwrap();
    assert_eq!(laws.len(), 3);
    writer.commit(&made::decisions(&laws)).await.unwrap();
    for reader in &mut readers {
        assert_eq!(reader.tally(&run).await.unwrap().evaluations, 6);
        let error = reader.create_run(&run).await.unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
        assert_eq!(reader.runs().await.unwrap().len(), 1);
    }
    drop(writer);
    let mut writer = Database::open(&path, Access::Write).await.unwrap();
    assert_eq!(writer.create_run(&run).await.unwrap(), 2);
}

#[tokio::test]
async fn another_program_that_holds_the_file_is_waited_for_and_then_named() {
    let (_folder, path) = filled().await;
    let mut database = Database::open(&path, Access::Write).await.unwrap();
    let mut other = other(&path).await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let error = database.create_run(&made::run()).await.unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    other.execute("ROLLBACK").await.unwrap();
    assert_eq!(database.create_run(&made::run()).await.unwrap(), 2);
}

/// Runs a system command; false if it is not there or fails.
fn system(program: &str, arguments: &[&std::ffi::OsStr]) -> bool {
    let done = Command::new(program).args(arguments).output();
    done.is_ok_and(|done| done.status.success())
}

/// Undoes something at the end, also of a failed test.
pub struct Undo<F: FnMut()>(F);

impl<F: FnMut()> Drop for Undo<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Mounts a disk of this size, until the result is dropped. `None` without the right to do so.
pub fn small_disk<'a>(place: &'a Path, size: &'a str) -> Option<Undo<impl FnMut()>> {
    let options = ["-t", "tmpfs", "-o", size, "tmpfs"].map(std::ffi::OsStr::new);
    let place = place.as_os_str();
    system("mount", &[&options[..], &[place]].concat()).then(|| {
        Undo(move || {
            system("umount", &["-l".as_ref(), place]);
        })
    })
}

#[expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]
pub fn skipped(what: &str) {
    eprintln!("skipped: {what}");
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_takes_the_same_commit_later() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_unmount) = small_disk(folder.path(), "size=8m") else {
        return skipped("no right to mount a small disk");
    };
    let path = folder.path().join("popper.db");
    let ballast = folder.path().join("ballast");
    std::fs::write(&ballast, vec![1; 3 << 20]).unwrap();
    let mut database = made::write(&path).await;
    let laws = made::queue(&mut database, 150).await;
    let mut seed = 0;
    let mut committed = 0;
    let full = loop {
        let group: Vec<_> = laws
            .iter()
            .map(|law| made::decision(law, seed, popper_harness::decide::Status::Fail))
            .collect();
        match database.commit(&group).await {
            Ok(()) => committed += 150,
            Err(error) => break (error, group),
        }
        seed += 1;
        assert!(seed < 100, "the disk does not fill up");
    };
    let (error, group) = full;
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(committed > 0);
    // Still full, still sound.
    let again = database.commit(&group).await.unwrap_err();
    assert!(matches!(again, StoreError::Full { .. }), "{again:?}");
    assert_eq!(made::sound_counts(&path).await[..2], [committed, committed]);
    std::fs::remove_file(&ballast).unwrap();
    database.commit(&group).await.unwrap();
    committed += 150;
    assert_eq!(made::sound_counts(&path).await[..2], [committed, committed]);
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_disk_that_is_full_from_the_start_gets_no_half_database() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_unmount) = small_disk(folder.path(), "size=4m") else {
        return skipped("no right to mount a small disk");
    };
    let path = folder.path().join("popper.db");
    let ballast = folder.path().join("ballast");
    for room in (0..80).step_by(5) {
        let bytes = (4 << 20) - room * 16_384;
        std::fs::write(&ballast, vec![1; bytes]).unwrap();
        match Database::open(&path, Access::Write).await {
            Ok(database) => drop(database),
            Err(error) => assert!(
                matches!(error, StoreError::Full { .. }),
                "{room}: {error:?}"
            ),
        }
        std::fs::remove_file(&ballast).unwrap();
        made::write(&path).await.close().await.unwrap();
        assert_eq!(made::sound_counts(&path).await, [0; 4]);
        for (name, _) in files(folder.path()) {
            std::fs::remove_file(folder.path().join(name)).unwrap();
        }
    }
}

#[tokio::test]
async fn a_disk_that_may_not_be_written_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().as_os_str();
    let Some(_unmount) = small_disk(folder.path(), "size=50%") else {
        return skipped("no right to mount a disk that may not be written");
    };
    let (_from, source) = filled().await;
    let path = folder.path().join("popper.db");
    std::fs::copy(&source, &path).unwrap();
    let remount = ["-o", "remount,ro"].map(std::ffi::OsStr::new);
    assert!(system("mount", &[&remount[..], &[place]].concat()));
    let before = files(folder.path());
    for access in [Access::Write, Access::WriteExisting] {
        let error = refused(&path, access).await;
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    }
    let mut reader = Database::open(&path, Access::Read).await.unwrap();
    let run = popper_discovery::store::RunRow {
        id: 1,
        ..made::run()
    };
    assert_eq!(reader.tally(&run).await.unwrap().evaluations, 3);
    assert_eq!(files(folder.path()), before);
    let missing = refused(&folder.path().join("other.db"), Access::Write).await;
    assert!(
        matches!(missing, StoreError::ReadOnly { .. }),
        "{missing:?}"
    );
}
