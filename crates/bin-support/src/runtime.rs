use std::future::Future;

use crate::Error;

/// Runs `future` to its end on this thread, with the network and timers of tokio.
///
/// One thread is enough to wait for models. Work that keeps a core busy belongs into `tokio::task::spawn_blocking`:
/// else all calls under way stand still meanwhile.
///
/// # Errors
/// [`Error::Runtime`] where the system has no resources for it.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, Error> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map(|runtime| runtime.block_on(future))
        .map_err(|source| Error::Runtime { source })
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
}
