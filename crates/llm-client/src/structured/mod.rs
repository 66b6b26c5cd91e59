//! Structured output: JSON that follows a schema, checked here whatever the provider promises.

mod ask;
mod extract;
mod schema;

pub use ask::{Structured, StructuredOpts};
pub use extract::{JsonError, find_json, parse_json};
pub(crate) use schema::check_schema;
