//! Clients of a program's MCP server: lines, calls that no client should make, and the protocol's own Python client.

mod malformed;
mod python;
mod wire;

pub use malformed::{MalformedCalls, refuses_malformed_calls};
pub use python::answers_to_python;
pub use wire::Wire;
