//! What stands between the caller and a provider, outermost first: budget, replay, retry, gate, timeout, record.
//! `crate::pipeline` puts them in this order.

pub(crate) mod budget;
pub(crate) mod gate;
pub(crate) mod ledger_file;
pub(crate) mod most;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod retry;
pub(crate) mod timeout;
