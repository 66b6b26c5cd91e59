//! All rows of a store as JSON, table by table, in one form for the database and its twin in memory.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use popper_discovery::MemoryStore;
use serde::Serialize;
use serde_json::{Map, Value};
use sqlx::postgres::PgConnectOptions;
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

/// Reads a database on a server by itself, past the code that is tested, with each key as its rank in its table.
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
    let evaluations = ranks(&dump["law_evaluations"]);
    let counterexamples = ranks(&dump["counterexamples"]);
    for (table, rows) in &mut dump {
        for row in rows {
            let own = match *table {
                "law_evaluations" => Some(&evaluations),
                "counterexamples" => Some(&counterexamples),
                _ => None,
            };
            for (column, ranks) in [
                ("id", own),
                ("evaluation_id", Some(&evaluations)),
                ("law_evaluation_id", Some(&evaluations)),
                ("counterexample_id", Some(&counterexamples)),
            ] {
                if let (Some(ranks), Some(id)) = (ranks, row[column].as_i64()) {
                    row[column] = ranks[&id].into();
                }
            }
        }
    }
    dump
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

/// The rank of each key of a table, from 1: a group that was rolled back leaves a gap.
pub fn ranks(rows: &[Value]) -> BTreeMap<i64, i64> {
    let ids = rows.iter().filter_map(|row| row["id"].as_i64());
    ids.zip(1..).collect()
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
