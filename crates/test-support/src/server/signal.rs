use tokio::sync::watch;

/// Something that happens once and can be awaited, before or after. Clones are the same signal.
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

    /// It happens.
    pub fn fire(&self) {
        self.0.send_replace(true);
    }

    /// It happened.
    pub fn is_fired(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it happened.
    pub async fn wait(&self) {
        // The sender lives in `self`.
        let _ = self.0.subscribe().wait_for(|fired| *fired).await;
    }
}
