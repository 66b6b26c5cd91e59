//! Laws: what may be said about a universe, and what it means.

mod ast;
mod builder;
mod canonical;
mod commutes;
mod compile;
mod expr;
mod limits;
mod model;
mod nearest;
mod normal;
mod program;
mod reader;
mod resolve;
mod schema;
pub mod syntax;

pub use builder::{Direction, LawBuilder};
pub use compile::{Missing, Unfit};
pub use expr::{Expr, Notation, unwrapped};
pub use limits::MAX_NORMAL;
pub use model::{
    Capabilities, Law, LocalFields, NamedExpr, Precondition, ProposedTest, Quantifiers, Template,
};
pub(crate) use nearest::{hint, nearest};
pub use normal::{NormalClaim, NormalLaw};
pub use program::{
    Arith, Cells, Claim, Condition, Formula, Observable, Pattern, Program, Symmetry, Term,
};
pub(crate) use reader::kind;
pub use resolve::{Ambiguity, Meaning, Statement};
pub use schema::{
    EXTENSION_OFF, Extensions, LawError, MAX_CASES, MAX_ITEMS, MAX_RING, MAX_STEPS, Problem,
};
