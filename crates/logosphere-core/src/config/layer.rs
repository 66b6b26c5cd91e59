use serde_json::Value;

use super::ConfigError;
use super::keys::{KEYS, OFFLINE};
use crate::parser::ParseMode;
use crate::settings::{Durability, Impersonation, KeepSetting, OnError, Scheduling, Settings};

/// Settings that a run chooses for itself where they are not given.
pub(super) const CHOSEN: [&str; 4] = ["seed", "provider", "model", "mind"];

/// Makes [`Layer`], and how it is laid over settings, of one list: field, type, place in [`Settings`].
macro_rules! layer {
    ($($field:ident: $type:ty => $($place:ident).+;)*) => {
        /// Settings as one place gives them, such as a file or the flags. What it leaves out, the next one decides.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Layer {
            $(
                #[doc = concat!("`", stringify!($($place).+), "` of [`Settings`].")]
                pub $field: Option<$type>,
            )*
        }

        impl Layer {
            /// This layer, and where it says nothing, `lower`.
            ///
            /// Who answers is one choice in several settings. A provider that is asked for here takes back another one's
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
                Self {
                    $($field: self.$field.or(lower.$field),)*
                }
            }

            /// All settings of a run.
            pub fn of(settings: &Settings) -> Self {
                Self {
                    $($field: settings.$($place).+.clone().into(),)*
                }
            }

            fn apply(self, settings: &mut Settings) {
                $(
                    if let Some(value) = self.$field {
                        settings.$($place).+ = value.into();
                    }
                )*
            }
        }
    };
}

layer! {
    schema_version: u32 => schema_version;
    n_minds: u32 => n_minds;
    k_samples: usize => k_samples;
    m_active_pool: usize => m_active_pool;
    max_rounds: u32 => max_rounds;
    token_limit: u32 => token_limit;
    provider: String => provider;
    model: String => model;
    api_base_url: String => api_base_url;
    system_prompt: String => system_prompt;
    init_signature: String => init_signature;
    seed: u64 => seed;
    scheduling: Scheduling => scheduling;
    parse_mode: ParseMode => parse_mode;
    impersonation: Impersonation => impersonation;
    stamp_seeds: bool => stamp_seeds;
    allow_zero_seeds: bool => allow_zero_seeds;
    keep: KeepSetting => keep;
    concurrency: usize => concurrency;
    on_error: OnError => on_error;
    silence_rounds: u32 => stop.silence_rounds;
    loss_above: f64 => stop.loss_above;
    fixed_pool: bool => stop.fixed_pool;
    max_usd: f64 => caps.max_usd;
    max_tokens: u64 => caps.max_tokens;
    max_wall: u64 => caps.max_wall;
    temperature: f64 => options.temperature;
    top_p: f64 => options.top_p;
    option_seed: u64 => options.seed;
    reasoning: String => options.reasoning;
    system_role: bool => system_role;
    durability: Durability => durability;
    mind: String => mind;
}

/// A setting that a layer gives otherwise than a run has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The setting, such as `caps.max_usd`.
    pub path: &'static str,
    /// As the run has it.
    pub run: Value,
    /// As the layer gives it.
    pub given: Value,
}

impl Layer {
    /// The defaults with this layer over them. `drawn` is the seed if the layer has none.
    ///
    /// # Errors
    /// [`ConfigError::Value`] and [`ConfigError::Conflict`].
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
        Ok(settings)
    }

    /// Checks the range of every setting that the layer gives.
    pub(super) fn check_ranges(&self) -> Result<(), ConfigError> {
        for key in KEYS {
            if let Some(value) = (key.get)(self) {
                key.check(key.path, &value)?;
            }
        }
        Ok(())
    }

    /// The settings that a run chooses for itself and that are not given here: of `seed`, `provider`, `model`, `mind`.
    pub fn not_given(&self) -> Vec<&'static str> {
        let given = [
            self.seed.is_some(),
            self.provider.is_some(),
            self.model.is_some(),
            self.mind.is_some(),
        ];
        let names = CHOSEN.into_iter().zip(given);
        names
            .filter_map(|(name, given)| (!given).then_some(name))
            .collect()
    }

    /// What it gives otherwise than a run has it, in the order of the documentation.
    pub fn differences(&self, run: &Settings) -> Vec<Difference> {
        let run = Self::of(run);
        let difference = |key: &super::keys::Key| {
            let given = (key.get)(self)?;
            let run = (key.get)(&run).unwrap_or_default();
            (run != given).then_some(Difference {
                path: key.path,
                run,
                given,
            })
        };
        KEYS.iter().filter_map(difference).collect()
    }
}
