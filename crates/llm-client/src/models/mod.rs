//! Facts about models: a dated table in the crate, overridden by the user's own.

mod model;
mod price;
mod table;
pub(crate) mod tokens;

pub use llm_types::ModelInfo;
pub use model::{Model, ModelStatus, ModelThinking};
pub(crate) use price::Factor;
pub use price::{Price, Tier};
pub use table::ModelTable;
