//! An atom before its clause is known.

use std::ops::Range;

use crate::atom::Kind;

/// An atom of the plain text.
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
    pub(super) canonical: String,
    /// The number as written, without its unit.
    pub(super) value: Option<f64>,
}

impl Found {
    pub(super) fn new(kind: Kind, span: Range<usize>, canonical: impl Into<String>) -> Self {
        Self {
            kind,
            span,
            canonical: canonical.into(),
            value: None,
        }
    }
}
