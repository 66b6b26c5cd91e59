//! A database of schema 1 is read as it is, and migrated when it is opened for writing.

use std::path::Path;

use popper_discovery::store::{Store, StoreError};
use popper_discovery::{RunEnd, RunSelector, Unobserved};
use popper_store::{Access, Database, Server};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use test_support::postgres::dump::Dump;

use crate::place::{self, Place as _};
use crate::{dump, run};

/// The statements that take a database back to schema 2.
const BACK_TO_2: &str = "DROP TABLE proved_claims; DROP INDEX verdict_keys_by_evaluation; \
                         UPDATE schema_version SET version = 2; DELETE FROM _sqlx_migrations WHERE version = 3";
/// The statements that take a database of schema 2 back to schema 1.
const BACK: &str = "DROP TABLE run_counts; UPDATE schema_version SET version = 1; \
                    DELETE FROM _sqlx_migrations WHERE version = 2";

async fn edit(path: &Path, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(path);
    let mut conn = options.connect().await.unwrap();
    conn.execute(sql).await.unwrap();
    conn.close().await.unwrap();
}

fn config() -> popper_discovery::LoopConfig {
    let mut config = popper_discovery::LoopConfig::default();
    (config.propose, config.test) = (13, 7);
    config
}

/// Runs up to some iterations.
async fn run_to<S: Store>(store: S, iterations: u32) -> S {
    let proposer = run::Scripted(run::laws(), "");
    let mut discovery = run::open(store, 0, config(), RunSelector::Latest).await;
    let ended = discovery
        .run_to(iterations, &proposer, &mut Unobserved)
        .await;
    assert_eq!(ended.unwrap(), RunEnd::Completed);
    discovery.into_store()
}

/// The counts of the newest run.
async fn counts(store: &mut impl Store) -> String {
    let run = store.runs().await.unwrap().remove(0);
    format!("{:?}", store.tally(&run).await.unwrap())
}

#[tokio::test]
async fn a_file_of_schema_1_is_migrated_once_and_its_run_resumes() {
    let undisturbed = place::file();
    let store = run_to(undisturbed.open(Access::Write).await, 3).await;
    store.close().await.unwrap();
    let file = place::file();
    let mut store = run_to(file.open(Access::Write).await, 2).await;
    let expected = counts(&mut store).await;
    store.close().await.unwrap();
    edit(&file.path, BACK_TO_2).await;
    edit(&file.path, BACK).await;
    // A reader changes nothing, and counts what is not kept.
    let before = std::fs::read(&file.path).unwrap();
    let mut reader = Database::open(&file.path, Access::Read).await.unwrap();
    assert_eq!(counts(&mut reader).await, expected);
    reader.close().await.unwrap();
    assert_eq!(std::fs::read(&file.path).unwrap(), before);
    for access in [Access::WriteExisting, Access::Write, Access::Read] {
        let mut store = Database::open(&file.path, access).await.unwrap();
        assert_eq!(counts(&mut store).await, expected);
        assert_eq!(file.miscounted().await, 0);
        store.close().await.unwrap();
    }
    let store = run_to(file.open(Access::WriteExisting).await, 3).await;
    store.close().await.unwrap();
    let mut rows = [Dump::new(), Dump::new()];
    for (rows, file) in rows.iter_mut().zip([&file, &undisturbed]) {
        *rows = timeless(dump::of_file(&file.path).await);
    }
    let [mut found, mut expected] = rows;
    // Of the proofs before the migration only the verdicts are known.
    let claims = found.remove("proved_claims").unwrap();
    let all_claims = expected.remove("proved_claims").unwrap();
    assert!(claims.iter().all(|claim| all_claims.contains(claim)));
    assert!(claims.len() < all_claims.len(), "{claims:?}");
    assert_eq!(found, expected);
    assert_eq!(file.miscounted().await, 0);
}

/// A dump without the times, which a second process does not continue.
fn timeless(mut dump: Dump) -> Dump {
    for row in dump.values_mut().flatten() {
        for (column, value) in row.as_object_mut().unwrap() {
            if column.ends_with("_at") || column == "runtime_ms" {
                *value = serde_json::Value::Null;
            }
        }
    }
    dump
}

#[tokio::test]
async fn a_migration_that_fails_leaves_schema_1() {
    let file = place::file();
    run_to(file.open(Access::Write).await, 1)
        .await
        .close()
        .await
        .unwrap();
    edit(&file.path, BACK_TO_2).await;
    edit(&file.path, BACK).await;
    // The second step cannot make its table.
    edit(&file.path, "CREATE VIEW run_counts AS SELECT 1").await;
    let rows = dump::of_file(&file.path).await;
    let error = Database::open(&file.path, Access::Write).await.unwrap_err();
    assert!(matches!(error, StoreError::Database { .. }), "{error:?}");
    assert_eq!(dump::of_file(&file.path).await, rows);
    edit(&file.path, "DROP VIEW run_counts").await;
    let store = Database::open(&file.path, Access::Write).await.unwrap();
    store.close().await.unwrap();
    assert_eq!(file.miscounted().await, 0);
}

#[tokio::test]
async fn tables_of_schema_1_on_a_server_are_migrated() {
    let Some(place) = place::server() else { return };
    let mut store = run_to(place.open(Access::Write).await, 2).await;
    let expected = counts(&mut store).await;
    store.close().await.unwrap();
    place
        .run(&format!("SET search_path = popper; {BACK_TO_2}; {BACK}"))
        .await;
    for access in [Access::Read, Access::WriteExisting, Access::Read] {
        let mut store: Server = place.open(access).await;
        assert_eq!(counts(&mut store).await, expected, "{access:?}");
        store.close().await.unwrap();
    }
    assert_eq!(place.miscounted().await, 0);
    let store = run_to(place.open(Access::Write).await, 3).await;
    store.close().await.unwrap();
    assert_eq!(place.miscounted().await, 0);
    let migrations = "SELECT count(*) FROM popper._sqlx_migrations";
    assert_eq!(place.number(migrations).await, 3);
}
