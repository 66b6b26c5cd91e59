use tokio::sync::watch;

/// A one-time event that can be awaited before or after it. Clones are the same signal.
#[derive(Clone, Debug)]
pub struct Signal(watch::Sender<bool>);

impl Default for Signal {
    fn default() -> Self {
        Self::new()
    }
}

impl Signal {
    /// Not fired yet.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Fires the signal.
    pub fn fire(&self) {
        self.0.send_replace(true);
    }

    /// Whether the signal was fired.
    pub fn is_fired(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the signal is fired.
    pub async fn wait(&self) {
        // The sender lives in `self`.
        let _ = self.0.subscribe().wait_for(|fired| *fired).await;
    }
}
