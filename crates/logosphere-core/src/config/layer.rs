use serde_json::Value;

use super::error::ConfigError;
use super::keys::{KEYS, Key, Layer, OFFLINE, find};
use super::settings::Settings;

/// Settings that a run chooses for itself where they are not given.
pub(super) const CHOSEN: [&str; 4] = ["seed", "provider", "model", "mind"];

/// A setting that a layer gives otherwise than a run has it.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingDifference {
    /// The setting, such as `caps.max_usd`.
    pub path: &'static str,
    /// As the run has it.
    pub run: Value,
    /// As the layer gives it.
    pub given: Value,
}

impl Layer {
    /// Returns this layer after this change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// This layer, and where it says nothing, `lower`.
    ///
    /// Several settings together choose the model or program that answers. A provider that is asked for here takes back another one's
    /// address below, and what only an offline run has there: its program (`mind`) and that program's name as
    /// the model. A program takes back a provider below.
    #[must_use]
    pub fn over(self, mut lower: Self) -> Self {
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
            None if self.mind.is_some() => {
                lower.provider = None;
                lower.api_base_url = None;
            }
            None => {}
        }
        self.or(lower)
    }

    /// The defaults with this layer over them. `drawn` is the seed if the layer has none.
    ///
    /// # Errors
    /// See [`Settings::validate`]. Besides, a rule that could never stop a run is refused.
    pub fn settings(self, drawn: u64) -> Result<Settings, ConfigError> {
        self.check_ranges()?;
        let mut settings = Settings {
            seed: drawn,
            ..Settings::default()
        };
        if self.mind.is_some() && self.provider.is_none() {
            OFFLINE.clone_into(&mut settings.provider);
        }
        self.apply(&mut settings);
        settings.check_together()?;
        settings.check_stops()?;
        Ok(settings)
    }

    /// Checks the range of every setting that the layer gives.
    pub(super) fn check_ranges(&self) -> Result<(), ConfigError> {
        let wrong = |key: &Key| {
            let value = (key.get)(self).filter(|value| !key.rule.allows(value))?;
            Some(key.error(key.path, &value))
        };
        KEYS.iter().find_map(wrong).map_or(Ok(()), Err)
    }

    /// The settings that a run chooses for itself and that are not given here: of `seed`, `provider`, `model`, `mind`.
    pub fn not_given(&self) -> Vec<&'static str> {
        let given = |name: &str| find(name, None).is_some_and(|key| (key.get)(self).is_some());
        CHOSEN.into_iter().filter(|name| !given(name)).collect()
    }

    /// What it gives otherwise than a run has it, in the order of the documentation.
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
