//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod window;

mod place;
mod stop_reasons;
    reason = "a test fails by panicking, and the line says where"
)]

mod security_web;
