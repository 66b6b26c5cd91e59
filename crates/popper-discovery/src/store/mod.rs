//! The store of the loop: a trait with its queries and transactions, and the stored rows.

mod error;
#[expect(clippy::exhaustive_enums, reason = "a store answers every query")]
mod filter;
#[expect(clippy::exhaustive_structs, reason = "a store keeps every field")]
mod interface;
#[expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "a store writes and reads every field of a row"
)]
mod row;
mod run_cost;

pub use error::StoreError;
pub use filter::{AttemptFilter, LawFilter, Pick, Query, RowPage};
pub use interface::{
    Attempt, DecisionRow, IterationPlan, IterationState, Store, TestedLaw, VerdictCounts,
};
pub use row::{
    CallRow, CapabilityRow, CounterexampleRow, EvaluationRow, Iteration, IterationStatus, LawRow,
    LawStatus, ModelCallRow, ProvedClaim, RunRow, UsageRow, VerdictKey,
};
pub use run_cost::RunCost;
