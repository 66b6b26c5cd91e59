//! The watch for claims whose answer never comes: a session can be stalled between here and the server without an error.

use std::collections::BTreeSet;

use tokio::time::timeout;

use super::delivery::Deliveries;
use super::statements;

/// The watch over one run of the engine. Two looks in a row must see the same.
pub(super) struct Watchdog {
    engine_id: String,
    threads: usize,
    unknown: BTreeSet<String>,
    /// The number of claims at the last look that saw jobs wait for free threads.
    idle_at: Option<u64>,
}

impl Watchdog {
    pub(super) fn new(engine_id: &str, threads: usize) -> Self {
        Self {
            engine_id: engine_id.to_owned(),
            threads,
            unknown: BTreeSet::new(),
            idle_at: None,
        }
    }

    /// Whether the engine has lost a claim, or waits for an answer to one.
    pub(super) async fn suspects(&mut self, deliveries: &Deliveries) -> bool {
        let connection = &deliveries.connection;
        let keys = deliveries.keys();
        let flag = deliveries.flag();
        let asked = statements::claims(connection, &self.engine_id, &keys, &flag);
        let claims = match timeout(connection.timing.stall, asked).await {
            Ok(Ok(claims)) => claims,
            // The engine notices by itself that its own statements fail.
            Ok(Err(_)) => return false,
            Err(_) => {
                connection.renew();
                return true;
            }
        };
        let unknown: BTreeSet<_> = claims.unknown.into_iter().collect();
        let is_lost = !self.unknown.is_disjoint(&unknown);
        self.unknown = unknown;
        let claimed = deliveries.claimed();
        let is_idle = claims.has_backlog && keys.len() < self.threads;
        let is_stalled = is_idle && self.idle_at == Some(claimed);
        self.idle_at = is_idle.then_some(claimed);
        is_lost || is_stalled
    }
}
