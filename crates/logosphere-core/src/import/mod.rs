//! Messages of other programs: files are read into one form, which is measured as a run is.
//!
//! [`Import`] reads JSON lines, CSV, and the files of the Python program of 2026-01-02. [`Imported::write`] writes
//! `imported.jsonl`. [`ImportedRun`] reads that file as a [`Transcript`](crate::Transcript), whose
//! [`Exposure`](crate::verify::Exposure) says how it is known which messages an author had read.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use logosphere_core::import::{Import, ImportPlan, ImportedRun};
//!
//! let file = "{\"id\": 1, \"author\": \"Ann\", \"text\": \"Hello.\"}\n{\"id\": 2, \"text\": \"Hello!\", \"reads\": [1]}\n";
//! let mut on_line = || ControlFlow::Continue(());
//! let mut import = Import::new(ImportPlan::default(), &mut on_line);
//! import.add_jsonl("posts.jsonl", file.as_bytes())?;
//! let mut written = Vec::new();
//! import.finish()?.write(&mut written)?;
//!
//! let run = ImportedRun::read(&written[..])?;
//! assert_eq!(run.authors, ["a01", "a00"]);
//! assert_eq!(run.transcript.messages[1].text, "Hello!");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod error;
mod files;
mod imported;
mod jsonl;
mod links;
mod list_members;
mod memes;
mod message;
mod metrics;
mod old_journal;
mod record;
mod reference;
mod rounds;
mod run;
mod source;

pub use error::{ImportError, InputProblems};
pub use files::{Import, ImportFormat, ImportPlan};
pub use imported::Imported;
pub use message::{ColumnName, ImportField, MOST_TEXT, UnknownColumn};
pub use metrics::ReferenceMetrics;
pub use old_journal::OldJournalError;
pub use record::{ImportHeader, ImportSource, ImportedMessage, RoundRule, UnknownRoundRule};
pub use reference::parse_reference;
pub use run::{ImportedFileError, ImportedRun};
