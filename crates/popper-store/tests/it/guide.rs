//! The SQL of the guide `docs/popper-database.md` does on a real run what the guide shows.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use popper_discovery::rank::Candidate;
use popper_discovery::{LoopConfig, RunSelector, Unobserved};
use popper_harness::counterexample::{Counterexample, rederive};
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Row as _, TypeInfo as _, ValueRef as _,
};

use crate::{made, run};

fn guide() -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{root}/../../docs/popper-database.md")).unwrap()
}

/// The blocks of a language within a text, in order.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    let parts = text.split(begin.as_str()).skip(1);
    parts.filter_map(|part| part.split("```").next()).collect()
}

/// A run on the two laws of the guide.
async fn real_run(path: &Path) {
    let guide = guide();
    let laws: Vec<Value> = serde_json::from_str(blocks(&guide, "json")[0]).unwrap();
    let proposer = run::Scripted(laws.into_iter().map(Candidate::new).collect(), "");
    let database = made::write(path).await;
    let mut discovery = run::open(database, 0, LoopConfig::default(), RunSelector::New).await;
    discovery
        .run_to(1, &proposer, &mut Unobserved)
        .await
        .unwrap();
    discovery.into_store().close().await.unwrap();
}

fn column(row: &SqliteRow, index: usize) -> String {
    let raw = row.try_get_raw(index).unwrap();
    match (raw.is_null(), raw.type_info().name()) {
        (true, _) => String::new(),
        (false, "INTEGER") => row.get::<i64, _>(index).to_string(),
        (false, _) => row.get_unchecked::<String, _>(index),
    }
}

/// As `sqlite3 -line` prints it.
fn lines(rows: &[SqliteRow]) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let names = row.columns().iter().map(|column| column.name().len());
        let width = names.max().unwrap().max(5);
        for (index, name) in row.columns().iter().enumerate() {
            writeln!(text, "{:>width$} = {}", name.name(), column(row, index)).unwrap();
        }
    }
    text
}

#[expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]
fn skipped(what: &str) {
    eprintln!("skipped: {what}");
}

/// The output of the program `sqlite3`, if it is installed.
fn sqlite3(path: &Path, sql: &str) -> Option<String> {
    let mut command = Command::new("sqlite3");
    let command = command.args(["-readonly", "-line"]).arg(path).arg(sql);
    let Ok(answer) = command.output() else {
        skipped("there is no sqlite3 on the PATH");
        return None;
    };
    let complaint = String::from_utf8_lossy(&answer.stderr);
    assert!(answer.status.success(), "{complaint}");
    Some(String::from_utf8(answer.stdout).unwrap())
}

#[tokio::test]
async fn the_statements_of_the_guide_trace_a_refutation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    real_run(&path).await;
    let guide = guide();
    let (statements, shown) = (blocks(&guide, "sql"), blocks(&guide, "text"));
    assert_eq!((statements.len(), shown.len()), (3, 2));
    let options = SqliteConnectOptions::new().filename(&path).read_only(true);
    let mut conn = options.connect().await.unwrap();
    let mut answers = Vec::new();
    for statement in &statements {
        let query = sqlx::query(AssertSqlSafe(*statement));
        let rows = query.fetch_all(&mut conn).await.unwrap();
        assert!(!rows.is_empty(), "{statement}");
        answers.push(lines(&rows));
        if let Some(said) = sqlite3(&path, statement) {
            assert_eq!(said, lines(&rows));
        }
    }
    assert_eq!(answers[..2], shown);
    // The last one makes the package itself.
    let package = answers[2].split_once(" = ").unwrap().1;
    let package: Counterexample = serde_json::from_str(package).unwrap();
    rederive(&package).unwrap();
}

#[tokio::test]
async fn another_sqlite_finds_the_database_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    real_run(&path).await;
    for (check, sound) in [
        ("PRAGMA integrity_check", "integrity_check = ok\n"),
        ("PRAGMA foreign_key_check", ""),
    ] {
        if let Some(said) = sqlite3(&path, check) {
            assert_eq!(said, sound, "{check}");
        }
    }
}
