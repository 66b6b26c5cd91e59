//! A session of a server, and the end of one that was given up.

use popper_discovery::store::StoreError;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::location::ServerLocation;

/// The longest wait for the end of another session, in milliseconds.
const END_MS: i64 = 10_000;

/// A session among all that the server ever had: process numbers come again, with another time of start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionId {
    pid: i32,
    started_us: i64,
}

/// An open session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) conn: PgConnection,
    pub(super) id: SessionId,
}

impl Session {
    pub(super) async fn open(
        options: &PgConnectOptions,
        place: &ServerLocation,
    ) -> Result<Self, StoreError> {
        let mut conn = place.answer(options.connect()).await?;
        let query = "SELECT pid, (extract(epoch FROM backend_start) * 1000000)::bigint \
                     FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let (pid, started_us) = place
            .answer(sqlx::query_as(query).fetch_one(&mut conn))
            .await?;
        let id = SessionId { pid, started_us };
        Ok(Self { conn, id })
    }

    /// Ends another session of this user and waits until it is gone: until then it may commit, and it has its locks.
    pub(super) async fn end(
        &mut self,
        other: SessionId,
        place: &ServerLocation,
    ) -> Result<(), StoreError> {
        let query = "SELECT pg_terminate_backend(pid, $3) FROM pg_stat_activity \
                     WHERE pid = $1 AND (extract(epoch FROM backend_start) * 1000000)::bigint = $2";
        let query = sqlx::query_scalar(query)
            .bind(other.pid)
            .bind(other.started_us)
            .bind(END_MS);
        let ended: Option<bool> = place.answer(query.fetch_optional(&mut self.conn)).await?;
        match ended {
            Some(false) => Err(place.stalled()),
            None | Some(true) => Ok(()),
        }
    }
}
