//! The columns of each table in order, and the conversion of rows to them and from them.
//!
//! Every statement that names columns is made from these lists, so that writing and reading cannot drift apart.

use super::column::Column as _;
use super::fields::Fields;
use crate::statement::Value;
use popper_discovery::store::{
    CallRow, CapabilityRow, CounterexampleRow, EvaluationRow, Iteration, LawRow, ModelCallRow,
    RunRow, StoreError,
};

/// The name and the columns of a table.
#[derive(Debug)]
pub(crate) struct Table {
    pub name: &'static str,
    /// In the order of the schema, the key first.
    pub columns: &'static [&'static str],
}

impl Table {
    /// The columns for a SELECT under this alias.
    pub(crate) fn select(&self, alias: &str) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("{alias}.{column}"))
            .collect();
        columns.join(", ")
    }

    /// The head of an INSERT, up to the values.
    pub(crate) fn insert(&self) -> String {
        format!("INSERT INTO {} ({}) ", self.name, self.columns.join(", "))
    }
}

/// The keys that a new row gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    /// The key of the row itself.
    pub id: i64,
    /// The link that the store sets: `counterexample_id` of an attempt, `law_evaluation_id` of a counterexample, `iteration_id` of
    /// the capabilities.
    pub link: Option<i64>,
}

/// A row of a table.
pub(crate) trait Record: Sized {
    const TABLE: Table;

    /// Returns the value of each column, in order; the row's own key is ignored.
    fn values(&self, keys: Keys) -> Vec<Value<'_>>;

    /// Reads the row from its columns.
    fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError>;
}

/// Implements [`Record`] for a row.
///
/// The columns after the key are the fields in order. A field may have a column of another name (`t = "T"`), be the link that the
/// store sets (`link iteration_id`, then a second list), or be a struct whose fields are columns (`with call: ModelCallRow [..]`).
macro_rules! record {
    ($row:ident: $table:literal [$($before:ident),* $(,)?]
     $(link $link:ident [$($after:ident $(= $column:literal)?),* $(,)?])?
     $(with $part:ident: $kind:ident [$($inner:ident),*])?) => {
        impl Record for $row {
            const TABLE: Table = Table {
                name: $table,
                columns: &[
                    "id",
                    $(stringify!($before),)*
                    $(stringify!($link), $(record!(@name $after $(= $column)?),)*)?
                    $($(stringify!($inner),)*)?
                ],
            };

            fn values(&self, keys: Keys) -> Vec<Value<'_>> {
                vec![
                    keys.id.into(),
                    $(self.$before.value(),)*
                    $(record!(@link $link keys).into(), $(self.$after.value(),)*)?
                    $($(self.$part.$inner.value(),)*)?
                ]
            }

            fn read(fields: &mut Fields<'_>) -> Result<Self, StoreError> {
                Ok(Self {
                    id: fields.key()?,
                    $($before: fields.get()?,)*
                    $($link: fields.get()?, $($after: fields.get()?,)*)?
                    $($part: $kind { $($inner: fields.get()?,)* },)?
                })
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident = $column:literal) => { $column };
    (@link $link:ident $keys:ident) => { $keys.link };
}

record!(
    RunRow: "runs"
    [
        created_at, universe_id, sim_hash, harness_hash, discovery_model_id, tester_model_id,
        config_json,
    ]
);

record!(
    Iteration: "iterations"
    [run_id, iteration_index, started_at, completed_at, status, prompt_hash, summary_json]
);

record!(
    LawRow: "laws"
    [
        run_id, law_id, law_fingerprint, schema_version, template, quantifiers_json,
        preconditions_json, observables_json, claim_text, forbidden_text, proposed_tests_json,
        capability_requirements_json, created_iteration_id, raw_llm_json, normalized_json, status,
    ]
);

record!(
    EvaluationRow: "law_evaluations"
    [
        run_id, law_id, harness_config_hash, seed, started_at, completed_at, status, reason_code,
        evidence_json, power_metrics_json, runtime_ms,
    ]
    link counterexample_id
    [artifacts_json, notes]
);

record!(
    CounterexampleRow: "counterexamples"
    [run_id]
    link law_evaluation_id
    [
        initial_state, config_json, seed, t = "T", t_fail, witness_json, trajectory_excerpt_json,
        minimized, created_at,
    ]
);

record!(
    CapabilityRow: "capability_snapshots"
    [run_id]
    link iteration_id
    [universe_contract_json, harness_capabilities_json, created_at]
);

record!(
    CallRow: "llm_calls"
    [run_id, iteration_id, turn, created_at]
    with call: ModelCallRow [model_id, prompt_hash, request_json, reply_text, usage_json]
);
