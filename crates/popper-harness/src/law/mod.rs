//! Laws: what may be said about a universe, and what it means.

mod ast;
mod builder;
mod canonical;
mod commutes;
mod compile;
mod error;
pub(crate) mod evaluate;
mod expr;
pub(crate) mod invariance;
mod limits;
mod measure;
mod model;
mod normal;
mod program;
mod reader;
mod resolve;
pub(crate) mod rings;
mod schema;
pub mod syntax;

pub use builder::{Direction, LawBuilder};
pub use compile::{Missing, Unfit};
pub use error::{LawError, Problem};
pub use evaluate::{EvalError, holds, observe};
pub use expr::{Expr, Notation, unwrapped};
pub use limits::{
    MAX_CASES, MAX_ITEMS, MAX_NESTING, MAX_NODES, MAX_NORMAL, MAX_RING, MAX_STEPS, MAX_TEXT,
};
pub use measure::{MeasureError, measure};
pub use model::{
    Capabilities, Extensions, Law, LocalFields, NamedExpr, Precondition, ProposedTest, Quantifiers,
    Template,
};
pub use normal::{NormalClaim, NormalLaw};
pub use program::{
    Arith, CellClaim, Cells, Claim, Condition, Formula, Observable, Pattern, Program, Symmetry,
    Term,
};
pub use resolve::{Ambiguity, ResolvedLaw, Statement};
pub use schema::EXTENSION_OFF;
