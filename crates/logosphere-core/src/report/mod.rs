//! The report of a run: a page with the result first, then the evidence, then every message.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/two_rounds.rs"));
//! use logosphere_core::report::{ReportData, page};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let data = ReportData::read(&two_rounds()[..], 0)?;
//! let html = page(&data).render()?;
//! assert!(html.contains("Logosphere: 3 minds, 2 rounds, copier"));
//! # Ok(())
//! # }
//! ```

mod cost;
mod data;
mod definitions;
mod descent;
mod embedded;
mod facts;
mod head;
mod imported;
mod limits;
mod lineage;
mod measures;
mod messages;
mod nulls;
mod page;
mod protocol;
mod seeds;
mod settings;
mod shown;

pub use data::{ReportData, ReportSource};
pub use facts::{RoundFacts, RunEnd, RunFacts};
pub use page::page;
