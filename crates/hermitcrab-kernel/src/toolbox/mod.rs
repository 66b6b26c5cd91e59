//! What tools work on: blocks, files, the web, the key-value store.

pub(crate) mod blocks;
mod files;
mod kv;
mod web;

pub use blocks::run_block_tool;
pub use files::{Entry, Files, Listing, OpenRoot, Piece};
pub use kv::{Kv, KvKey};
pub use web::{Found, Hit, Page, Resolve, SystemResolver, Web};
