//! The layers between the caller and a provider, outermost first: replay, budget, retry, limiter, timeout, record,
//! transport. `client/call.rs` applies them in this order, which the test `layers::` holds; replay and record are in
//! `recording`.

pub(crate) mod budget;
pub(crate) mod ledger_file;
pub(crate) mod limiter;
pub(crate) mod retry;
pub(crate) mod timeout;
pub(crate) mod timer;
