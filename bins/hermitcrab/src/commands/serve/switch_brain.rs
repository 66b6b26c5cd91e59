use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use bin_support::model::ProviderName;
use hermitcrab_kernel::config::Settings;
use hermitcrab_kernel::{Brain, BrainError, BrainInfo, BrainReply, BrainRequest, EventSink};
use llm_client::{Spend, ToolSpec};
use tokio_util::sync::CancellationToken;

/// A brain that can be exchanged while the program runs. Clones share it.
#[derive(Clone)]
pub struct SwitchBrain(Arc<RwLock<CurrentBrain>>);

struct CurrentBrain {
    brain: Arc<dyn Brain>,
    /// Whether the key is missing or was refused.
    wants_key: bool,
}

impl SwitchBrain {
    /// Begins with this brain.
    pub fn new(brain: Arc<dyn Brain>) -> Self {
        Self::of(brain, false)
    }

    /// Begins with a brain that fails every request, until a key for this provider is given.
    pub fn waiting(provider: ProviderName, settings: &Settings) -> Self {
        let model = settings.models.first();
        let keyless = KeylessBrain(BrainInfo::new(
            provider.as_str(),
            model.map(|spec| spec.id.clone()).unwrap_or_default(),
            settings.fast.id.clone(),
        ));
        Self::of(Arc::new(keyless), true)
    }

    fn of(brain: Arc<dyn Brain>, wants_key: bool) -> Self {
        Self(Arc::new(RwLock::new(CurrentBrain { brain, wants_key })))
    }

    /// Uses this brain for all further requests. A request that has begun ends with the brain it began with.
    pub fn switch(&self, brain: Arc<dyn Brain>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = CurrentBrain {
            brain,
            wants_key: false,
        };
    }

    /// Returns whether another key is needed before a model can answer.
    pub fn wants_key(&self) -> bool {
        let now = self.0.read().unwrap_or_else(PoisonError::into_inner);
        now.wants_key
    }

    fn now(&self) -> Arc<dyn Brain> {
        let now = self.0.read().unwrap_or_else(PoisonError::into_inner);
        now.brain.clone()
    }

    /// Records that the key of this brain was refused, unless another brain is in use by now.
    fn refused(&self, brain: &Arc<dyn Brain>) {
        let mut now = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&now.brain, brain) {
            now.wants_key = true;
        }
    }
}

#[async_trait]
impl Brain for SwitchBrain {
    fn info(&self) -> BrainInfo {
        self.now().info()
    }

    async fn complete(
        &self,
        request: BrainRequest,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let brain = self.now();
        let answer = brain.complete(request, events, cancel).await;
        if answer.as_ref().is_err_and(BrainError::is_key_refused) {
            self.refused(&brain);
        }
        answer
    }

    fn tools_as_sent(&self, tools: &[ToolSpec]) -> String {
        self.now().tools_as_sent(tools)
    }

    fn take_spend(&self) -> Option<Spend> {
        self.now().take_spend()
    }
}

/// The brain without a key: every request fails.
struct KeylessBrain(BrainInfo);

#[async_trait]
impl Brain for KeylessBrain {
    fn info(&self) -> BrainInfo {
        self.0.clone()
    }

    async fn complete(
        &self,
        _: BrainRequest,
        _: EventSink,
        _: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        Err(BrainError::Other(format!(
            "there is no key for {}: give one on the page, or continue offline",
            self.0.provider
        )))
    }
}

#[cfg(test)]
mod tests {
    use hermitcrab_kernel::{OfflineBrain, ScriptBrain};
    use llm_client::Message;

    use super::*;

    fn request() -> BrainRequest {
        let mut request = BrainRequest::default();
        request.messages = vec![Message::user("hello")];
        request
    }

    async fn ask(brain: &SwitchBrain) -> Result<BrainReply, BrainError> {
        let cancel = CancellationToken::new();
        brain.complete(request(), EventSink::none(), cancel).await
    }

    #[test]
    fn every_request_fails_until_there_is_a_key() {
        let answers = bin_support::block_on(async {
            let brain = SwitchBrain::waiting(ProviderName::Openrouter, &Settings::default());
            assert!(brain.wants_key());
            assert_eq!(brain.info().provider, "openrouter");
            let refused = ask(&brain).await.unwrap_err();
            assert!(refused.to_string().contains("no key for openrouter"));
            brain.switch(Arc::new(OfflineBrain));
            assert!(!brain.wants_key());
            assert!(brain.info().offline.is_some());
            ask(&brain).await.unwrap()
        });
        assert!(answers.unwrap().reply.text().contains("script"));
    }

    #[test]
    fn only_the_brain_that_is_asked_can_lose_its_key() {
        let first: Arc<dyn Brain> = Arc::new(ScriptBrain::new([]));
        let brain = SwitchBrain::new(first.clone());
        brain.switch(Arc::new(OfflineBrain));
        brain.refused(&first);
        assert!(!brain.wants_key());
        let now = brain.now();
        brain.refused(&now);
        assert!(brain.wants_key());
    }
}
