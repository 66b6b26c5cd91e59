//! A thread for one call of [`Work`], which may block and may panic.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;

use crate::job::{Output, Work, WorkError};

/// The end of a call.
pub(crate) enum CallEnd<T> {
    Returned(T),
    Panicked,
}

/// Calls `function` on a separate thread.
pub(crate) async fn call<T: Send + 'static>(
    function: impl FnOnce() -> T + Send + 'static,
) -> io::Result<CallEnd<T>> {
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new()
        .name("work".to_owned())
        .spawn(move || {
            // A panic ends the call alone: the value that it leaves behind is the input, which is not used again.
            let ended = catch_unwind(AssertUnwindSafe(function));
            let _unheard = sender.send(ended.map_or(CallEnd::Panicked, CallEnd::Returned));
        })?;
    Ok(receiver.await.unwrap_or(CallEnd::Panicked))
}

/// Computes the output of an input.
pub(crate) async fn run(
    work: &Arc<dyn Work>,
    input: &Arc<Vec<u8>>,
    stop: &Arc<AtomicBool>,
) -> io::Result<CallEnd<Result<Output, WorkError>>> {
    let (work, input, stop) = (Arc::clone(work), Arc::clone(input), Arc::clone(stop));
    call(move || work.run(&input, &|| stop.load(Ordering::Relaxed))).await
}

/// The pieces of an input; fewer than two if it cannot be split.
pub(crate) async fn split(work: &Arc<dyn Work>, input: &Arc<Vec<u8>>) -> io::Result<Vec<Vec<u8>>> {
    let (work, input) = (Arc::clone(work), Arc::clone(input));
    match call(move || work.split(&input)).await? {
        CallEnd::Returned(pieces) => Ok(pieces),
        CallEnd::Panicked => Ok(Vec::new()),
    }
}
