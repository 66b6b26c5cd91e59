//! The store of the loop: a trait with its queries and transactions, and the stored rows.

mod interface;
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
