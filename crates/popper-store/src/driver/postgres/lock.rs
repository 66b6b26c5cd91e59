//! The lock of a coordinator: one process at a time writes the runs of a universe under a configuration.

use popper_discovery::store::StoreError;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::PgConnection;

use super::location::ServerLocation;

/// The number of the lock for a universe and a configuration.
pub(super) fn key(sim_hash: &str, harness_config_hash: &str) -> i64 {
    let mut hash = Sha256::new();
    for part in ["popper", sim_hash, harness_config_hash] {
        hash.update(part);
        hash.update([0]);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Takes the lock for as long as the session lasts, or says at once who has it.
pub(super) async fn take(
    conn: &mut PgConnection,
    key: i64,
    place: &ServerLocation,
) -> Result<(), StoreError> {
    let query = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(key);
    if place.answer(query.fetch_one(&mut *conn)).await? {
        return Ok(());
    }
    let query = sqlx::query_as(
        "SELECT a.application_name, host(a.client_addr), a.client_port, a.pid FROM pg_locks l \
         JOIN pg_stat_activity a ON a.pid = l.pid \
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
         AND (l.classid::bigint << 32 | l.objid::bigint) = $1 \
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    let holder: Option<Holder> = place.answer(query.bind(key).fetch_optional(conn)).await?;
    Err(place.locked(holder.map(named)))
}

/// The name, host, port and number of a session.
type Holder = (Option<String>, Option<String>, Option<i32>, i32);

/// Names a session in a message. The server shows the host only to the same user, and to those who may see all sessions.
fn named((name, host, port, pid): Holder) -> String {
    let name = name.filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "another program".to_owned());
    match (host, port) {
        (Some(host), _) => format!("{name} on {host}, session {pid}"),
        // A socket has no address, and -1 for its port.
        (None, Some(_)) => format!("{name} on the server's machine, session {pid}"),
        (None, None) => format!("{name}, session {pid}"),
    }
}

/// Releases the lock.
pub(super) async fn release(
    conn: &mut PgConnection,
    key: i64,
    place: &ServerLocation,
) -> Result<(), StoreError> {
    let query = sqlx::query("SELECT pg_advisory_unlock($1)").bind(key);
    place.answer(query.execute(conn)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_its_own_lock() {
        let keys = [key("a", "b"), key("ab", ""), key("b", "a"), key("a", "c")];
        for (index, one) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(one), "{keys:?}");
        }
    }
}
