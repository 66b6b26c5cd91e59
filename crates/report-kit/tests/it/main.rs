//! Pages as a browser reads them.

mod browser;
mod contrast;
mod data;
mod hostile;
mod layout;
mod parts;
mod policy;
mod props;
mod reading;
mod refusals;
mod snapshot;
