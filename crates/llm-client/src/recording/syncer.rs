//! The thread that syncs a file to the disk.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A thread that syncs a file some time after each write, and on drop. The writer never waits for the disk.
pub(super) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<SyncState>,
    changed: Condvar,
}

#[derive(Default)]
struct SyncState {
    /// Whether there was a write after the last sync began.
    is_dirty: bool,
    is_closed: bool,
    /// The error of the last sync.
    failure: Option<io::Error>,
}

impl Syncer {
    /// Starts the thread, which calls `sync` at most `every` after each [`Self::written`].
    pub fn start(
        every: Duration,
        mut sync: impl FnMut() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let own = shared.clone();
        let work = move || {
            while own.wait_for_write(every) {
                if let Err(error) = sync() {
                    own.state().failure = Some(error);
                }
            }
        };
        Ok(Self {
            thread: Some(thread::Builder::new().name("cassette".into()).spawn(work)?),
            shared,
        })
    }

    /// Notes a write.
    pub fn written(&self) {
        let was_dirty = std::mem::replace(&mut self.shared.state().is_dirty, true);
        if !was_dirty {
            self.shared.changed.notify_one();
        }
    }

    /// The error of the last sync, if it failed.
    pub fn failure(&self) -> Option<io::Error> {
        self.shared.state().failure.as_ref().map(copy)
    }
}

/// A copy of the error.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, SyncState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a write and for those that follow it; false if there will be no more.
    fn wait_for_write(&self, every: Duration) -> bool {
        let idle = |state: &mut SyncState| !state.is_dirty && !state.is_closed;
        let state = self.changed.wait_while(self.state(), idle);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let open = |state: &mut SyncState| state.is_dirty && !state.is_closed;
        let waited = self.changed.wait_timeout_while(state, every, open);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.is_dirty)
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.state().is_closed = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic in it was reported by its own thread.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    const NEVER: Duration = Duration::from_secs(1_000_000);

    /// A syncer and its syncs.
    fn counted(every: Duration) -> (Syncer, Receiver<()>) {
        let (synced, syncs) = channel();
        let sync = move || synced.send(()).map_err(io::Error::other);
        (Syncer::start(every, sync).unwrap(), syncs)
    }

    #[test]
    fn a_write_is_synced_although_nothing_follows() {
        let (syncer, syncs) = counted(Duration::from_millis(1));
        for _ in 0..2 {
            syncer.written();
            syncs.recv().unwrap();
        }
        drop(syncer);
        assert!(syncs.recv().is_err(), "nothing was written after that");
    }

    #[test]
    fn writes_that_never_pause_are_synced_too() {
        let (syncer, syncs) = counted(Duration::from_millis(1));
        while syncs.try_recv().is_err() {
            syncer.written();
        }
    }

    #[test]
    fn the_last_write_is_synced_before_the_end() {
        let (syncer, syncs) = counted(NEVER);
        syncer.written();
        syncer.written();
        drop(syncer);
        assert_eq!(syncs.iter().count(), 1);
        let (syncer, syncs) = counted(NEVER);
        drop(syncer);
        assert_eq!(syncs.iter().count(), 0);
    }

    #[test]
    fn a_disk_that_fails_is_told() {
        let full = || Err(io::ErrorKind::StorageFull.into());
        let syncer = Syncer::start(Duration::ZERO, full).unwrap();
        assert!(syncer.failure().is_none());
        syncer.written();
        while syncer.failure().is_none() {
            thread::yield_now();
        }
        let failure = syncer.failure().unwrap();
        assert_eq!(failure.kind(), io::ErrorKind::StorageFull);
        assert_eq!(failure.to_string(), "no storage space");
    }
}
