//! The observer of a run, which may stop it.

use futures_util::future::{self, BoxFuture};
use popper_harness::decide::Verdict;

use crate::error::Error;
use crate::snapshot::Summary;
use crate::store::{LawRow, ModelCallRow};

/// An event of a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An iteration begins, or continues after an interruption.
    Iteration {
        /// The number of the iteration, from 1.
        index: u32,
        /// The number of the last one.
        total: u32,
    },
    /// A model answered.
    Called(&'a ModelCallRow),
    /// The laws to test are selected.
    Planned(&'a Summary),
    /// A stored law cannot be read. It is skipped, and becomes `rejected_schema` with the next plan.
    Unreadable {
        /// The law's row.
        law: &'a LawRow,
        /// The error of reading it.
        error: &'a Error,
    },
    /// A law was decided; it is durable with the next group.
    Decided(&'a Verdict),
    /// All decisions so far are durable.
    Committed,
    /// The iteration is complete.
    Completed(&'a Summary),
}

/// An observer of a run.
pub trait Observer: Send {
    /// Receives an event.
    fn event(&mut self, _event: Event<'_>) {}

    /// Whether the run should stop after what is in flight; asked between two evaluations.
    fn stop(&self) -> bool {
        false
    }

    /// Resolves when the run should stop: a pending call is then dropped.
    fn stopped(&self) -> BoxFuture<'static, ()> {
        Box::pin(future::pending())
    }
}

/// An observer that ignores all events.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "an observer without settings")]
pub struct Unobserved;

impl Observer for Unobserved {}
