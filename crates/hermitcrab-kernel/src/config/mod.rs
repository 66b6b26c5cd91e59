//! The configuration of a kernel, and the events that it sends.

mod event;
mod settings;
mod usage;

pub use event::{Event, EventSink};
pub use settings::{
    Budgets, DatedPrice, Face, Grant, KernelConfig, ModelSpec, Settings, SettingsError,
    ThinkingMode, WebPolicy, WebSettings,
};
pub(crate) use usage::dollars;
pub use usage::{Usage, UsageTotals};
