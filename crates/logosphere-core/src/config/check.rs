use super::error::ConfigError;
use super::keys::Layer;
use super::settings::Settings;
use crate::format::is_blank;

impl Settings {
    /// Checks the range of every setting, and settings against each other.
    ///
    /// No run begins or resumes with settings that fail here, and no journal with such settings verifies.
    ///
    /// # Errors
    /// The first setting that is not allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        Layer::of(self).check_ranges()?;
        self.check_together()
    }

    /// Checks settings against each other.
    pub(super) fn check_together(&self) -> Result<(), ConfigError> {
        refuse(&[
            (
                self.mind.is_some() && !self.is_offline(),
                "mind",
                "a program plays the minds only offline; leave it out or set provider to offline",
            ),
            (
                self.api_base_url.is_some() && self.is_offline(),
                "api_base_url",
                "offline no server is called; leave it out or set another provider",
            ),
        ])?;
        self.check_minds()?;
        self.check_seeds(1)
    }

    /// Refuses a rule that could never end the run. Journals of such runs are valid, so [`Settings::validate`] accepts
    /// them.
    pub(super) fn check_stops(&self) -> Result<(), ConfigError> {
        refuse(&[(
            self.stop.fixed_pool && self.m_active_pool == 1,
            "stop.fixed_pool",
            "a single message is not a population, so it never stops a run with m_active_pool 1; set it to false, or \
             m_active_pool to 2 or more",
        )])
    }

    /// Checks whether a run can begin with `seeds` seed messages.
    ///
    /// # Errors
    /// A mind could receive an empty prompt.
    pub fn check_seeds(&self, seeds: u64) -> Result<(), ConfigError> {
        let reads_nothing = seeds == 0 || self.k_samples == 0;
        refuse(&[
            (
                reads_nothing && self.system_role,
                "system_role",
                "a mind that reads no message would be sent no user's turn; it needs k_samples of at least 1 and seeds",
            ),
            (
                reads_nothing && is_blank(&self.system_prompt),
                "system_prompt",
                "a mind that reads no message would be sent nothing; a blank one needs k_samples of at least 1 and seeds",
            ),
        ])
    }
}

/// Refuses the first setting for which there is a reason to.
fn refuse(reasons: &[(bool, &str, &str)]) -> Result<(), ConfigError> {
    match reasons.iter().find(|(refused, ..)| *refused) {
        Some((_, setting, why)) => Err(ConfigError::new(*setting, *why)),
        None => Ok(()),
    }
}
