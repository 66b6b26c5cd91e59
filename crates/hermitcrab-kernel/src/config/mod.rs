//! The configuration of a kernel, and the events that it sends.

pub(crate) mod event;
pub(crate) mod settings;
mod time;
mod usage;

pub use settings::{
    Budgets, DatedPrice, Grant, ModelSpec, Settings, SettingsError, ThinkingMode, WebPolicy,
    WebSettings,
};
pub(crate) use time::timestamp;
pub(crate) use usage::dollars;
pub use usage::{Usage, UsageTotals};
