use std::sync::Arc;

use async_trait::async_trait;
use bin_support::model::ProviderName;
use hermitcrab_face::Keys;
use hermitcrab_kernel::OfflineBrain;
use llm_client::Redactor;
use secrecy::{ExposeSecret as _, SecretString};

use super::switch_brain::SwitchBrain;
use crate::error::with_sources;
use crate::key_file;
use crate::model_setup::ModelSetup;

/// Keys that a page gives: held in memory as long as the program runs, and never on the disk.
pub struct PageKeys {
    brain: SwitchBrain,
    setup: ModelSetup,
    /// The kernel's: it must know every key in use.
    redactor: Redactor,
}

impl PageKeys {
    pub fn new(brain: SwitchBrain, setup: ModelSetup, redactor: Redactor) -> Self {
        Self {
            brain,
            setup,
            redactor,
        }
    }
}

#[async_trait]
impl Keys for PageKeys {
    fn wanted(&self) -> Option<String> {
        let provider = self.setup.provider();
        self.brain.wants_key().then(|| provider.as_str().to_owned())
    }

    async fn set(&self, key: SecretString) -> Result<(), String> {
        if self.setup.provider() == ProviderName::Offline {
            return Err(
                "the program was started with --provider offline: it asks nobody".to_owned(),
            );
        }
        key_file::check(key.expose_secret()).map_err(|error| error.to_string())?;
        // Before anything is asked with it.
        self.redactor.learn(key.clone());
        let opened = self.setup.brain_with(&key);
        let (brain, _) = opened.map_err(|failure| with_sources(failure.error()))?;
        self.brain.switch(brain);
        tracing::info!(
            "the key is held in memory for this run; `hermitcrab key set --file` keeps one"
        );
        Ok(())
    }

    async fn offline(&self) {
        self.brain.switch(Arc::new(OfflineBrain));
    }
}
