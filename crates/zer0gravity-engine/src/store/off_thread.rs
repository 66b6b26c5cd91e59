//! Long work on other threads than the one that all calls share.

use std::panic::resume_unwind;

use tokio::runtime::Handle;

/// Runs long work on a thread of the runtime's pool, so that calls under way continue. Without a Tokio runtime the work runs at
/// once. Work that has begun ends even if the future is dropped.
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
