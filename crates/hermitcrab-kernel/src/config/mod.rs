//! What a kernel is opened with, and what it tells while it works.

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
