//! The report of a run: its results, their statistics, and the output formats.
//!
//! [`RunReport::new`] computes everything from the results, so that a report and a plain array of results
//! ([`RunReport::of_results`]) agree. [`RunReport::read`] reads both forms. Derived numbers are rounded to six decimals, which
//! every JSON reader keeps unchanged.
//!
//! Next: [`Statistics`] for means, intervals and tests, [`compare`] for two runs, [`export_csv`] for a spreadsheet,
//! [`export_inspect`] for the viewer of Inspect, `page` for one HTML file.

mod board;
mod changes;
mod compare;
mod corrected;
mod export;
mod grouped;
mod inspect;
mod judges;
mod outcomes;
mod own;
#[cfg(feature = "report")]
mod page;
mod reported_system;
mod run_report;
mod settings;
mod spent;
mod statistics;
mod verdict;

pub use board::{Board, BoardTie, ExcludedSystem, RankedSystem};
pub use changes::{Changes, ItemName};
pub use compare::{Comparison, Difference, NewFailure, PairName};
pub use corrected::calibration_lines;
pub use export::{CSV_COLUMNS, export_csv, export_json};
pub use inspect::{export_inspect, inspect_file_name};
pub use judges::{JudgePanel, JudgeStatistics, Judges};
pub use outcomes::{OutcomeCount, Outcomes};
pub use own::OwnStatistics;
#[cfg(feature = "report")]
pub use page::{board_page, page};
pub use reported_system::{CrossedModels, ReportedEncodingSystem};
pub use run_report::{KIND, ReportError, RunReport};
pub use spent::{EncodingSystemCost, RunCost};
pub use statistics::{CaseStatistics, EncodingSystemStatistics, Pairwise, Statistics};
pub use verdict::{Limits, compare, probability};
