//! The memory of the loop: a trait with what the loop asks of a database, and the rows that are kept.

mod interface;
mod row;

pub use interface::{
    Attempt, Decision, Finding, IterationPlan, Mark, Query, Store, StoreError, VerdictCounts,
};
pub use row::{
    Call, CallRow, CapabilityRow, CounterexampleRow, EvaluationRow, Iteration, IterationStatus,
    LawRow, LawStatus, RunRow, Usage, VerdictKey,
};
