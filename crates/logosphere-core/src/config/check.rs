use super::keys::OFFLINE;
use super::{ConfigError, Layer};
use crate::parser::{ParseMode, is_blank};
use crate::settings::Settings;

impl Settings {
    /// Checks the range of every setting, and settings against each other. The program refuses to begin or resume a run
    /// that fails here, and no journal of such a run verifies.
    ///
    /// # Errors
    /// [`ConfigError::Value`] and [`ConfigError::Conflict`].
    pub fn validate(&self) -> Result<(), ConfigError> {
        Layer::of(self).check_ranges()?;
        self.check_together()
    }

    /// Checks settings against each other.
    pub(super) fn check_together(&self) -> Result<(), ConfigError> {
        let conflict = |path, why| Err(ConfigError::Conflict { path, why });
        if self.parse_mode == ParseMode::Legacy {
            return conflict(
                "parse_mode",
                "legacy reads old journals only (verify, parse, analyze); use lenient or strict for a run",
            );
        }
        if self.mind.is_some() && self.provider != OFFLINE {
            return conflict(
                "mind",
                "a program plays the minds only offline; leave it out or set provider to offline",
            );
        }
        if self.api_base_url.is_some() && self.provider == OFFLINE {
            return conflict(
                "api_base_url",
                "offline nobody is asked; leave it out or set another provider",
            );
        }
        if self.k_samples == 0 {
            return self.check_seeds(0);
        }
        Ok(())
    }

    /// Whether a run can begin with so many seeds.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`]: a mind could be sent nothing at all.
    pub fn check_seeds(&self, seeds: u64) -> Result<(), ConfigError> {
        if seeds > 0 && self.k_samples > 0 {
            return Ok(());
        }
        if self.system_role {
            return Err(ConfigError::Conflict {
                path: "system_role",
                why: "a mind that reads no message would be sent no user's turn; it needs k_samples of at least 1 and seeds",
            });
        }
        if is_blank(&self.system_prompt) {
            return Err(ConfigError::Conflict {
                path: "system_prompt",
                why: "a mind that reads no message would be sent nothing; a blank one needs k_samples of at least 1 and seeds",
            });
        }
        Ok(())
    }
}
