//! Long work off the thread that all calls share.

use std::panic::resume_unwind;

use tokio::runtime::Handle;

/// Does work that waits for the disk or computes for long on a thread of the runtime's pool, so that calls under way go
/// on meanwhile. Without a Tokio runtime it is done at once. Work that has begun ends even if the future is dropped.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let Ok(runtime) = Handle::try_current() else {
        return work();
    };
    match runtime.spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down, and this is not polled again.
            Err(_) => std::future::pending().await,
        },
    }
}
