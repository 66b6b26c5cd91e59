//! A report: what it computes, and the forms it is shown in.

mod board;
mod comparison;
mod csv;
mod figures;
#[cfg(feature = "report")]
mod findings;
#[cfg(feature = "report")]
mod hostile;
mod inspect;
#[cfg(feature = "report")]
mod layout;
#[cfg(feature = "report")]
mod order;
#[cfg(feature = "report")]
mod page;
pub(crate) mod sample;
