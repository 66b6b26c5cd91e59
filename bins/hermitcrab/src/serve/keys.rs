use std::sync::Arc;

use async_trait::async_trait;
use bin_support::model::ProviderName;
use hermitcrab_face::Keys;
use hermitcrab_kernel::OfflineBrain;
use llm_client::Redactor;
use secrecy::{ExposeSecret as _, SecretString};

use super::SwitchBrain;
use crate::error::with_sources;
use crate::key;
use crate::opened::Asking;

/// Keys that a page gives: held in memory as long as the program runs, and never on the disk.
pub struct PageKeys {
    brain: SwitchBrain,
    asking: Asking,
    /// The kernel's: it must know every key in use.
    redactor: Redactor,
}

impl PageKeys {
    pub fn new(brain: SwitchBrain, asking: Asking, redactor: Redactor) -> Self {
        Self {
            brain,
            asking,
            redactor,
        }
    }
}

#[async_trait]
impl Keys for PageKeys {
    fn wanted(&self) -> Option<String> {
        let provider = self.asking.provider();
        self.brain.wants_key().then(|| provider.as_str().to_owned())
    }

    async fn set(&self, key: SecretString) -> Result<(), String> {
        if self.asking.provider() == ProviderName::Offline {
            return Err(
                "the program was started with --provider offline: it asks nobody".to_owned(),
            );
        }
        key::check(key.expose_secret()).map_err(|error| error.to_string())?;
        // Before anything is asked with it.
        self.redactor.learn(key.clone());
        let opened = self.asking.brain_with(&key);
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
