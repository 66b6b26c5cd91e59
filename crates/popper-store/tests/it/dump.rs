//! All rows of the store in memory as JSON, in the form that the rows of a database have.

use jiff::Timestamp;
use popper_discovery::MemoryStore;
use serde::Serialize;
use serde_json::{Map, Value};
use test_support::postgres::dump::Dump;
pub use test_support::postgres::dump::{of_file, of_server};

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
        ("proved_claims", rows(store.claims.values())),
    ]
    .into()
}
