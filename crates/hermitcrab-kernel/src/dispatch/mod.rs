//! From the name of a tool to what runs it.

mod calls;
mod run;
mod self_tools;
mod web_and_files;

pub(crate) use calls::{CLOSE_AT, calls};
pub(crate) use run::{Caller, Facts, clean};
pub(crate) use self_tools::{MOST_TOOLS, io_fault};
pub(crate) use web_and_files::web;
