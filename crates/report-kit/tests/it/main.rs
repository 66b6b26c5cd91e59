//! Pages as a browser reads them.

mod browser;
mod contrast;
mod data;
mod findings;
mod hostile;
mod layout;
mod order;
mod parts;
mod policy;
mod props;
mod reading;
mod refusals;
mod snapshot;
