//! The patience of a run with a server that cannot be reached.

use popper_discovery::Error;
use popper_discovery::store::StoreError;
use work_queue::{Patience, Timing};

use super::database::spoken;

/// Does `work`, which must be harmless when it is repeated, until it is answered or the patience is over.
pub async fn patiently<T>(
    timing: &Timing,
    mut work: impl AsyncFnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut patience = Patience::new(timing);
    loop {
        match work().await {
            Err(error) if is_lost(&error) => {
                tracing::warn!("{}; trying again", spoken(&error));
                if !patience.wait().await {
                    return Err(error);
                }
            }
            ended => return ended,
        }
    }
}

/// Whether the connection to the server was lost, so that another try may succeed.
pub fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Disconnected { .. }))
}
