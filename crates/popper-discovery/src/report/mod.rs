//! A run as plain data, and as one page.
//!
//! [`DiscoveryReport::gather`] reads the rows of the run page by page and derives the diagrams of the counterexamples and the recall
//! from them. A report names the newest 500 laws, and counts all of them.
//! [`page`] renders the report. The same rows give the same bytes.

mod accepted;
mod cells;
mod curve;
mod diagram;
mod discovery_report;
mod gather;
mod limits;
mod page;
mod progress;
mod provenance;
mod refuted;
mod survey;
mod wording;

pub use diagram::{Diagram, Failure};
pub use discovery_report::{
    Calls, DiscoveryReport, Judged, Point, ProposalTurn, REPORT_VERSION, Ranking, RecallReport,
    Refutation, Rejected, RejectionReason, TurnPlan,
};
pub use page::page;
pub use wording::Wording;
