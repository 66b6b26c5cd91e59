//! All rows of a database of popper as JSON, table by table, read past the code that is tested.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Row as _, TypeInfo as _, ValueRef as _,
};

/// The rows of each table.
pub type Dump = BTreeMap<&'static str, Vec<Value>>;

/// The tables, and the order of their rows.
const TABLES: [(&str, &str); 9] = [
    ("runs", "id"),
    ("iterations", "id"),
    ("laws", "id"),
    ("law_evaluations", "id"),
    ("counterexamples", "id"),
    ("capability_snapshots", "id"),
    ("llm_calls", "id"),
    (
        "verdict_keys",
        "law_fingerprint, harness_config_hash, sim_hash",
    ),
    (
        "proved_claims",
        "claim_fingerprint, harness_config_hash, sim_hash",
    ),
];

/// The columns with the key of a row, and its table.
const REFERENCES: [(&str, &str); 7] = [
    ("run_id", "runs"),
    ("iteration_id", "iterations"),
    ("created_iteration_id", "iterations"),
    ("law_id", "laws"),
    ("evaluation_id", "law_evaluations"),
    ("law_evaluation_id", "law_evaluations"),
    ("counterexample_id", "counterexamples"),
];

/// The columns that hold a time.
const TIMES: [&str; 4] = ["created_at", "started_at", "completed_at", "runtime_ms"];

/// Reads a file of `SQLite`. A table that an older schema does not have is missing.
pub async fn of_file(path: &Path) -> Dump {
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut conn = options.connect().await.unwrap();
    let mut dump = Dump::new();
    let there = sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'table'");
    let there: Vec<String> = there.fetch_all(&mut conn).await.unwrap();
    let tables = TABLES.iter();
    for (table, order) in tables.filter(|(table, _)| there.iter().any(|name| name == table)) {
        let sql = format!("SELECT * FROM {table} ORDER BY {order}");
        let found = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut conn).await;
        let found = found.unwrap().iter().map(object).collect();
        dump.insert(table, found);
    }
    dump
}

/// Reads a database on a server, with each key as its rank in its table: a group that was rolled back leaves a gap.
pub async fn of_server(url: &str) -> Dump {
    let options: PgConnectOptions = url.parse().unwrap();
    let mut conn = options.connect().await.unwrap();
    let mut dump = Dump::new();
    for (table, order) in TABLES {
        let sql = format!("SELECT to_jsonb(x)::text FROM popper.{table} x ORDER BY {order}");
        let found: Vec<String> = sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_all(&mut conn)
            .await
            .unwrap();
        let found = found.iter().map(|row| plain(row)).collect();
        dump.insert(table, found);
    }
    let ranks: BTreeMap<&str, BTreeMap<i64, i64>> = dump
        .iter()
        .map(|(table, rows)| (*table, ranks(rows)))
        .collect();
    for (own, rows) in &mut dump {
        for row in rows {
            for (column, table) in REFERENCES.into_iter().chain([("id", *own)]) {
                // `law_id` is also the name of a law.
                if let Some(id) = row[column].as_i64() {
                    row[column] = ranks[table][&id].into();
                }
            }
        }
    }
    dump
}

/// Removes what only tells the time.
#[must_use]
pub fn without_times(mut dump: Dump) -> Dump {
    for row in dump.values_mut().flatten() {
        let row = row.as_object_mut().unwrap();
        row.retain(|column, _| !TIMES.contains(&column.as_str()));
    }
    dump
}

/// The rank of each key of a table, from 1.
fn ranks(rows: &[Value]) -> BTreeMap<i64, i64> {
    let ids = rows.iter().filter_map(|row| row["id"].as_i64());
    ids.zip(1..).collect()
}

/// The columns of a row with the texts that were stored and the names that the other database has.
fn plain(row: &str) -> Value {
    let Value::Object(row) = serde_json::from_str(row).unwrap() else {
        panic!("{row}");
    };
    let column = |(name, value): (String, Value)| {
        let name = if name == "t" { "T".to_owned() } else { name };
        let value = match value {
            Value::String(text) => match text.strip_prefix("NUL::") {
                Some(escaped) => escaped.replace("%00", "\0").replace("%25", "%").into(),
                None => text.into(),
            },
            value => value,
        };
        (name, value)
    };
    Value::Object(row.into_iter().map(column).collect())
}

fn object(row: &sqlx::sqlite::SqliteRow) -> Value {
    let value = |index: usize| {
        let raw = row.try_get_raw(index).unwrap();
        match (raw.is_null(), raw.type_info().name()) {
            (true, _) => Value::Null,
            (false, "INTEGER") => Value::from(row.get::<i64, _>(index)),
            (false, "TEXT") => Value::from(row.get::<String, _>(index)),
            (false, other) => panic!("{other}"),
        }
    };
    let columns = row.columns().iter();
    let object: Map<String, Value> = columns
        .map(|column| (column.name().to_owned(), value(column.ordinal())))
        .collect();
    Value::Object(object)
}
