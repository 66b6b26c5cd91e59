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

/// The keys that a page gives. They stay in memory and are never written to the disk.
pub struct PageKeys {
    brain: SwitchBrain,
    setup: ModelSetup,
    /// The redactor of the kernel, which must know every key in use.
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
                "the program was started with --provider offline: it calls no model".to_owned(),
            );
        }
        key_file::check(key.expose_secret()).map_err(|error| error.to_string())?;
        // The redactor must know the key before the first call with it.
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
