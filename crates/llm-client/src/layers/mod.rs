//! What stands between the caller and a provider, outermost first: budget, replay, retry, gate, timeout, record.
//! `crate::client` puts them in this order.

pub(crate) mod budget;
pub(crate) mod clock;
pub(crate) mod ledger_file;
pub(crate) mod limiter;
pub(crate) mod retry;
pub(crate) mod timeout;
