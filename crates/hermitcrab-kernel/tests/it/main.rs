//! The acceptance list of the specification, one module a topic.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

mod authors;
mod bad_input;
mod boot;
mod budget_stop;
mod budgets;
mod cancel;
mod config;
mod damage;
mod default_blocks;
mod face_calls;
mod face_deaths;
mod face_kept;
mod face_notes;
mod history;
mod keystone;
mod kv;
mod limits;
mod models;
mod offline;
mod place;
mod prompt;
mod receipts;
mod recompile;
mod records;
mod requests;
mod restore;
mod secrets;
mod security_files;
mod security_web;
mod servers;
mod set_tools;
mod stop_reasons;
mod stub;
mod texts;
mod tool_faults;
mod trust;
mod web_fetch;
mod window;
mod wire;
