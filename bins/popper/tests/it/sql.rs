//! Looking into a database, and damaging it, past the binary.

use std::collections::BTreeMap;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};

/// The first column of every row that a statement answers, as text.
pub fn column(path: &Path, statement: &str) -> Vec<String> {
    ask(&SqliteConnectOptions::new().filename(path), statement).unwrap()
}

/// The same without a write of any kind, while the database may not be there yet, or is in use.
pub fn try_column(path: &Path, statement: &str) -> Result<Vec<String>, sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    ask(&options, statement)
}

fn ask(options: &SqliteConnectOptions, statement: &str) -> Result<Vec<String>, sqlx::Error> {
    let statement = AssertSqlSafe(statement.to_owned());
    bin_support::block_on(async {
        let mut connection = options.connect().await?;
        let rows = sqlx::query(statement).fetch_all(&mut connection).await;
        connection.close().await?;
        rows?.iter().map(|row| row.try_get_unchecked(0)).collect()
    })
    .unwrap()
}

/// A number that a statement answers.
pub fn number(path: &Path, statement: &str) -> u64 {
    let statement = format!("SELECT CAST(({statement}) AS TEXT)");
    column(path, &statement)[0].parse().unwrap()
}

pub fn count(path: &Path, table: &str) -> u64 {
    number(path, &format!("SELECT count(*) FROM {table}"))
}

/// Columns that hold a time.
const TIMES: [&str; 4] = ["created_at", "started_at", "completed_at", "runtime_ms"];

/// Every row of every table of the data model, without what only tells the time.
pub fn rows(path: &Path) -> BTreeMap<String, Vec<String>> {
    let tables = [
        "runs",
        "iterations",
        "laws",
        "law_evaluations",
        "counterexamples",
        "capability_snapshots",
        "llm_calls",
        "verdict_keys",
        "proved_claims",
        "run_counts",
    ];
    let dump = |table: &str| {
        let names = format!("SELECT name FROM pragma_table_info('{table}')");
        let names = column(path, &names);
        assert!(!names.is_empty(), "no table {table}");
        let timeless: Vec<String> = names
            .iter()
            .filter(|name| !TIMES.contains(&name.as_str()))
            .map(|name| format!("'{name}=' || quote(\"{name}\")"))
            .collect();
        let statement = format!(
            "SELECT {} AS row FROM {table} ORDER BY row",
            timeless.join(" || ' ' || ")
        );
        (table.to_owned(), column(path, &statement))
    };
    tables.into_iter().map(dump).collect()
}

/// The rows that `run_counts` should have.
const COUNTED: &str = "SELECT run_id, status, '' AS reason, COUNT(*) AS n FROM laws GROUP BY run_id, status \
    UNION ALL SELECT l.run_id, e.status, COALESCE(e.reason_code, ''), COUNT(*) FROM runs r JOIN laws l ON l.run_id = r.id \
    JOIN verdict_keys k ON k.law_fingerprint = l.law_fingerprint AND k.harness_config_hash = r.harness_hash \
    AND k.sim_hash = r.sim_hash JOIN law_evaluations e ON e.id = k.evaluation_id WHERE l.status = 'tested' \
    GROUP BY l.run_id, e.status, COALESCE(e.reason_code, '') \
    UNION ALL SELECT run_id, 'attempts', '', COUNT(*) FROM law_evaluations GROUP BY run_id";

/// Checks the integrity of the database, that no attempt is stored twice, and that the numbers of a run are those of its rows.
pub fn assert_sound(path: &Path) {
    assert_eq!(column(path, "PRAGMA integrity_check"), ["ok"]);
    let statement = "SELECT \"table\" FROM pragma_foreign_key_check";
    assert_eq!(column(path, statement), Vec::<String>::new());
    let twice = "SELECT count(*) FROM (SELECT 1 FROM law_evaluations \
                 GROUP BY run_id, law_id, harness_config_hash, seed HAVING count(*) > 1)";
    assert_eq!(number(path, twice), 0);
    let row = "run_id || ' ' || status || ' ' || reason || ' ' || n";
    let kept = column(
        path,
        &format!("SELECT {row} FROM run_counts WHERE n <> 0 ORDER BY 1"),
    );
    let counted = column(path, &format!("SELECT {row} FROM ({COUNTED}) ORDER BY 1"));
    assert_eq!(kept, counted);
}
