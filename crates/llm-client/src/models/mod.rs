//! Facts about models, the rows of a [`ModelTable`](crate::ModelTable).

mod model;
mod price;
pub(crate) mod table;
pub(crate) mod tokens;

pub use llm_types::ModelInfo;
pub use model::{Model, ModelStatus, ModelThinking};
pub(crate) use price::Factor;
pub use price::{Price, Tier};
