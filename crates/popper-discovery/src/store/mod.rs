//! The store of the loop: a trait with its queries and transactions, and the stored rows.

#[expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a store keeps every field and every mark"
)]
mod interface;
#[expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a store writes and reads every field of a row"
)]
mod row;
mod run_cost;

pub use interface::{
    Attempt, DecisionRow, IterationPlan, Mark, Query, Store, StoreError, TestedLaw, VerdictCounts,
};
pub use row::{
    CallRow, CapabilityRow, CounterexampleRow, EvaluationRow, Iteration, IterationStatus, LawRow,
    LawStatus, ModelCallRow, RunRow, UsageRow, VerdictKey,
};
pub use run_cost::RunCost;
