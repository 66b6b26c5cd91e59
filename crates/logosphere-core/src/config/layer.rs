use serde_json::Value;

use super::error::ConfigError;
use super::keys::{KEYS, Key, Layer, OFFLINE, find};
use super::minds::MindEntry;
use super::settings::Settings;

/// The settings that a run chooses if they are not given.
pub(super) const CHOSEN: [&str; 4] = ["seed", "provider", "model", "mind"];

/// A setting with different values in a layer and in a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SettingDifference {
    /// The setting, such as `caps.max_usd`.
    pub path: &'static str,
    /// The value of the run.
    pub run: Value,
    /// The value of the layer.
    pub given: Value,
}

impl Layer {
    /// Returns this layer after this change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Returns this layer, with the values of `lower` for settings that it leaves out.
    ///
    /// Several settings together choose the model or the scripted mind. A provider in this layer overrides the address
    /// of another provider in `lower`. It also overrides the settings of an offline run there: its scripted mind
    /// (`mind`) and the mind's name as the model. A scripted mind in this layer overrides a provider in `lower`, and a list
    /// of minds overrides a single one and the reverse.
    #[must_use]
    pub fn over(self, mut lower: Self) -> Self {
        if self.minds.is_some() {
            lower.mind = None;
        }
        if self.mind.is_some() {
            lower.minds = None;
        }
        let below = lower.provider.as_deref();
        match self.provider.as_deref() {
            Some(OFFLINE) => lower.api_base_url = None,
            Some(provider) => {
                if below == Some(OFFLINE) {
                    lower.model = None;
                }
                if below.is_some_and(|below| below != provider) {
                    lower.api_base_url = None;
                }
                lower.mind = None;
            }
            None if self.is_scripted() => {
                lower.provider = None;
                lower.api_base_url = None;
            }
            None => {}
        }
        self.or(lower)
    }

    /// Returns the defaults with this layer over them. `drawn` is the random seed if the layer has none.
    ///
    /// # Errors
    /// See [`Settings::validate`]. A stop rule that could never end a run is refused, too.
    pub fn settings(self, drawn: u64) -> Result<Settings, ConfigError> {
        self.check_ranges()?;
        let mut settings = Settings {
            seed: drawn,
            ..Settings::default()
        };
        if self.is_scripted() && self.provider.is_none() {
            OFFLINE.clone_into(&mut settings.provider);
        }
        self.apply(&mut settings);
        settings.check_together()?;
        settings.check_stops()?;
        Ok(settings)
    }

    /// Whether the layer names scripted minds.
    pub fn is_scripted(&self) -> bool {
        let minds = self.minds.as_ref();
        self.mind.is_some() || minds.is_some_and(|minds| minds.iter().any(MindEntry::is_scripted))
    }

    /// Checks the range of every setting that the layer gives.
    pub(super) fn check_ranges(&self) -> Result<(), ConfigError> {
        let wrong = |key: &Key| {
            let value = (key.get)(self).filter(|value| !key.rule.allows(value))?;
            Some(key.error(key.path, &value))
        };
        KEYS.iter().find_map(wrong).map_or(Ok(()), Err)
    }

    /// Returns the settings that a run chooses and that are not given here: of `seed`, `provider`, `model`, `mind`.
    pub fn not_given(&self) -> Vec<&'static str> {
        let given = |name: &str| find(name, None).is_some_and(|key| (key.get)(self).is_some());
        CHOSEN.into_iter().filter(|name| !given(name)).collect()
    }

    /// Returns the settings that differ from those of a run, in the order of the documentation.
    pub fn differences(&self, run: &Settings) -> Vec<SettingDifference> {
        let run = Self::of(run);
        let difference = |key: &Key| {
            let given = (key.get)(self)?;
            let run = (key.get)(&run).unwrap_or_default();
            let path = key.path;
            (run != given).then_some(SettingDifference { path, run, given })
        };
        KEYS.iter().filter_map(difference).collect()
    }
}
