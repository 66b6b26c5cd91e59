//! Futures that wait for the disk.

use std::future::poll_fn;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Runs `work`, which may wait for the disk or compute for long between its awaits.
///
/// On a runtime with several threads the other tasks of its thread move to another one meanwhile, so that a stop, a page and a
/// timer are served however long `work` takes. On a runtime with one thread, and outside of tokio, it runs as it is.
/// Every public `async fn` of [`Kernel`](crate::Kernel) runs in this way by itself.
pub fn may_block<F: Future + Send>(work: F) -> impl Future<Output = F::Output> + Send {
    let mut work = Box::pin(work);
    poll_fn(move |context| in_place(|| work.as_mut().poll(context)))
}

fn in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}
