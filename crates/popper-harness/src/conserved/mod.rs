//! The complete space of additive conserved quantities of a universe.
//!
//! A quantity is additive when it is the sum of a function of windows over all windows of the ring. [`span`] computes, by
//! exact linear algebra, all additive quantities that are conserved on every ring, modulo those that are zero on every ring.

mod algebra;
mod space;
#[cfg(test)]
mod tests;

pub(crate) use space::densities;
pub use space::{ConservedSpace, Quantity, SpanError, span};
