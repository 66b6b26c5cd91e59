use std::sync::OnceLock;

use tokio_util::sync::CancellationToken;

use super::{SharedStore, StoreError};
use crate::FailureKind;
use crate::model::Endpoint;
use crate::model::ModelError;

/// Says whether a run sends nothing more, and why: it was cancelled, a call failed in a way that no other can escape, or the store
/// keeps no more calls.
pub(super) struct StopSwitch<'a> {
    cancel: CancellationToken,
    reason: OnceLock<ModelError>,
    store: &'a SharedStore,
}

impl<'a> StopSwitch<'a> {
    pub fn new(cancel: CancellationToken, store: &'a SharedStore) -> Self {
        Self {
            cancel,
            reason: OnceLock::new(),
            store,
        }
    }

    /// Returns when the run is cancelled.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Returns an error if the run may not send.
    ///
    /// # Errors
    /// The answer of every call that is not sent any more.
    pub fn check(&self) -> Result<(), ModelError> {
        let interrupted = || stopped(FailureKind::Interrupted, "the run was interrupted");
        let reason = (self
            .store
            .failure()
            .map(|message| stopped(FailureKind::Store, &message)))
        .or_else(|| self.reason.get().cloned())
        .or_else(|| self.cancel.is_cancelled().then(interrupted));
        reason.map_or(Ok(()), Err)
    }

    /// Stops the run if no other call can escape this failure, and marks the call as not made if a cap forbids it.
    pub fn note(&self, error: &mut ModelError, endpoint: Endpoint) {
        if error.kind.is_cap() {
            error.stopped = error.call.attempts == 0;
        }
        if error.kind.ends_run(endpoint) {
            let _ = self.reason.set(stopped(error.kind, &error.message));
        }
    }

    /// Takes the error of the store that ended the run.
    pub fn take_store_error(&self) -> Option<StoreError> {
        self.store.take_failure()
    }
}

fn stopped(kind: FailureKind, message: &str) -> ModelError {
    ModelError {
        stopped: true,
        ..ModelError::unsent(kind, message)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt as _;

    use super::*;
    use crate::store::record::sample_count;
    use crate::store::{CallKey, CallRecord, CallStore, MemoryStore};

    fn reason(switch: &StopSwitch<'_>) -> Option<&'static str> {
        switch.check().err().map(|error| {
            assert!(error.stopped);
            error.kind.as_str()
        })
    }

    fn failure(word: &str) -> ModelError {
        ModelError::unsent(word.parse::<FailureKind>().unwrap(), "")
    }

    #[test]
    fn z50_a_run_stops_for_what_no_other_call_can_escape() {
        let messages = [
            "auth",
            "quota",
            "model_unavailable",
            "budget",
            "price_unknown",
        ];
        let counts = ["auth", "quota", "budget", "price_unknown"];
        let words = [
            "auth",
            "quota",
            "model_unavailable",
            "budget",
            "price_unknown",
            "server",
        ];
        for (endpoint, stopping) in [
            (Endpoint::Messages, &messages[..]),
            (Endpoint::CountTokens, &counts[..]),
        ] {
            for word in words {
                let store = SharedStore::new(MemoryStore::default());
                let switch = StopSwitch::new(CancellationToken::new(), &store);
                switch.note(&mut failure(word), endpoint);
                let expected = stopping.contains(&word).then_some(word);
                assert_eq!(reason(&switch), expected, "{endpoint:?}");
            }
        }
    }

    #[test]
    fn z50_only_a_cap_before_the_first_attempt_leaves_a_call_unmade() {
        let store = SharedStore::new(MemoryStore::default());
        let switch = StopSwitch::new(CancellationToken::new(), &store);
        for (word, attempts, unmade) in [
            ("budget", 0, true),
            ("budget", 1, false),
            ("auth", 0, false),
        ] {
            let mut error = failure(word);
            error.call.attempts = attempts;
            switch.note(&mut error, Endpoint::Messages);
            assert_eq!(error.stopped, unmade, "{word}, {attempts}");
        }
    }

    #[test]
    fn z50_the_first_reason_counts_and_cancelling_is_the_last() {
        let store = SharedStore::new(MemoryStore::default());
        let cancel = CancellationToken::new();
        let switch = StopSwitch::new(cancel.clone(), &store);
        assert_eq!(reason(&switch), None);
        cancel.cancel();
        assert_eq!(reason(&switch), Some("interrupted"));
        for word in ["quota", "auth"] {
            switch.note(&mut failure(word), Endpoint::Messages);
            assert_eq!(reason(&switch), Some("quota"));
        }
    }

    /// A store that keeps nothing.
    struct Full;

    impl CallStore for Full {
        fn get(&self, _: &CallKey) -> Result<Option<Arc<CallRecord>>, StoreError> {
            Ok(None)
        }

        fn append(&mut self, _: &[Arc<CallRecord>]) -> Result<(), StoreError> {
            Err(StoreError::Io {
                verb: "write",
                path: "calls.jsonl".into(),
                source: std::io::ErrorKind::StorageFull.into(),
            })
        }
    }

    #[test]
    fn z50_a_store_that_keeps_no_more_stops_the_run_until_its_error_is_taken() {
        let store = SharedStore::new(Full);
        let switch = StopSwitch::new(CancellationToken::new(), &store);
        let keep = store.keep(sample_count("t"));
        assert!(keep.now_or_never().is_some());
        let error = switch.check().unwrap_err();
        assert_eq!(
            (error.kind.as_str(), error.message.as_str()),
            ("store", "cannot write calls.jsonl")
        );
        assert!(switch.take_store_error().is_some());
        assert!(switch.check().is_ok());
    }
}
