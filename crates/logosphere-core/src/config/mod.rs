//! Settings from several sources: defaults, overridden by `config.json`, overridden by flags.

mod check;
mod error;
mod file;
mod init;
mod keys;
mod layer;
mod mind_list;
mod minds;
mod read;
mod rule;
pub(crate) mod settings;

pub use error::ConfigError;
pub(crate) use error::join;
pub(crate) use file::{Fields, Json};
pub use init::{Init, InitError, InitFix, InitWarning, parse_init};
pub use keys::Layer;
pub(crate) use keys::key_path;
pub use layer::SettingDifference;
pub use minds::{MindEntry, MindList, ModelEntry};
pub use read::read_config;
pub(crate) use read::{read_key, read_settings, written};
pub(crate) use rule::{NAME, Rule, kind};

pub use settings::{
    Caps, Durability, ForgedSignaturePolicy, ModelSettings, OnError, Options, RetentionSetting,
    Scheduling, SettingsError, StopRules,
};
pub(crate) use settings::{Effective, Settings};
