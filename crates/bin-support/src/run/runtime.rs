use std::future::Future;

use crate::Error;

/// Runs `future` to completion on this thread, with the network and timers of tokio.
///
/// One thread is enough to wait for models. Work that keeps a core busy belongs into `tokio::task::spawn_blocking`;
/// otherwise it blocks all calls under way.
///
/// # Errors
/// [`Error::Runtime`] if the system has no resources for it.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map(|runtime| runtime.block_on(future))
        .map_err(|source| Error::Runtime { source })
}

/// Runs `future` to completion on this thread, and the tasks that it spawns on two more.
///
/// For interactive programs: a wait for a disk does not block other tasks. Blocking work that is unfinished when `future`
/// ends is abandoned, so that an unreachable network folder does not keep the program running.
///
/// # Errors
/// [`Error::Runtime`] if the system has no resources for it.
pub fn block_on_threads<F: Future>(future: F) -> Result<F::Output, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|source| Error::Runtime { source })?;
    let output = runtime.block_on(future);
    runtime.shutdown_background();
    Ok(output)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_future_has_a_timer_and_gives_its_value() {
        let value = block_on(async {
            tokio::time::sleep(Duration::ZERO).await;
            7
        });
        assert_eq!(value.unwrap(), 7);
    }

    #[test]
    fn h15_a_thread_that_never_ends_is_left_behind() {
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let value = block_on_threads(async {
            let (begun, begins) = tokio::sync::oneshot::channel();
            tokio::task::spawn_blocking(move || {
                let _ = begun.send(());
                // Until the test has its value.
                let _ = held.recv();
            });
            begins.await.unwrap();
            7
        });
        assert_eq!(value.unwrap(), 7);
        drop(hold);
    }
}
