//! All rows of a store as JSON, table by table, in one form for the database and its twin in memory.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use popper_discovery::MemoryStore;
use serde::Serialize;
use serde_json::{Map, Value};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Row as _, TypeInfo as _, ValueRef as _,
};

pub type Dump = BTreeMap<&'static str, Vec<Value>>;

const TABLES: [(&str, &str); 8] = [
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
];

/// A row of the store in memory as columns.
fn columns(row: &impl Serialize) -> Value {
    let Value::Object(fields) = serde_json::to_value(row).unwrap() else {
        panic!("a row is an object");
    };
    let column = |(name, value): (String, Value)| {
        let value = match value {
            Value::Bool(flag) => Value::from(i64::from(flag)),
            Value::Number(number) if number.is_u64() => {
                Value::from(number.as_u64().unwrap().cast_signed())
            }
            Value::String(text) if name.ends_with("_at") => {
                Value::from(format!("{:.9}", text.parse::<Timestamp>().unwrap()))
            }
            value => value,
        };
        (name, value)
    };
    Value::Object(fields.into_iter().map(column).collect::<Map<_, _>>())
}

fn rows<'a, R: Serialize + 'a>(rows: impl IntoIterator<Item = &'a R>) -> Vec<Value> {
    rows.into_iter().map(columns).collect()
}

pub fn of_memory(store: &MemoryStore) -> Dump {
    [
        ("runs", rows(&store.runs)),
        ("iterations", rows(&store.iterations)),
        ("laws", rows(&store.laws)),
        ("law_evaluations", rows(&store.evaluations)),
        ("counterexamples", rows(&store.counterexamples)),
        ("capability_snapshots", rows(&store.capabilities)),
        ("llm_calls", rows(&store.calls)),
        ("verdict_keys", rows(store.keys.values())),
    ]
    .into()
}

/// Reads a database by itself, past the code that is tested.
pub async fn of_file(path: &Path) -> Dump {
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut conn = options.connect().await.unwrap();
    let mut dump = Dump::new();
    for (table, order) in TABLES {
        let sql = format!("SELECT * FROM {table} ORDER BY {order}");
        let found = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut conn).await;
        let found = found.unwrap().iter().map(object).collect();
        dump.insert(table, found);
    }
    dump
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
