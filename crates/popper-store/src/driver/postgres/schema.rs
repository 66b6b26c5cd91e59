//! The check of a server's version and tables, which comes before every use.

use std::borrow::Cow;

use popper_discovery::store::StoreError;
use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::PgConnection;

use super::location::ServerLocation;
use super::lock;

/// The schema that the tables are in.
pub(super) const SCHEMA: &str = "popper";

/// The newest version of the tables that this program knows.
pub(super) const KNOWN: i64 = 3;

/// The oldest `server_version_num` that has all that the statements use.
const OLDEST_SERVER: i32 = 150_000;

/// The lock that one process holds while it creates the tables.
const MIGRATION_LOCK: i64 = 0x706f_7070_6572; // "popper"

/// The statements that make the tables and indexes, by schema version from 1.
const STEPS: [(&str, &str); KNOWN as usize] = [
    (
        "tables",
        include_str!("../../../migrations/postgres/0001_tables.sql"),
    ),
    (
        "counts",
        include_str!("../../../migrations/postgres/0002_counts.sql"),
    ),
    (
        "claims",
        include_str!("../../../migrations/postgres/0003_claims.sql"),
    ),
];

fn migrator() -> Migrator {
    let migration = |(version, (name, statements)): (i64, (&'static str, &'static str))| {
        Migration::new(
            version,
            Cow::Borrowed(name),
            MigrationType::Simple,
            statements.into_sql_str(),
            false,
        )
    };
    let mut migrator = Migrator::with_migrations((1..).zip(STEPS).map(migration).collect());
    migrator.set_locking(false);
    migrator
}

/// Refuses a server that is too old, and a database that cannot hold every text.
pub(super) async fn check_server(
    conn: &mut PgConnection,
    place: &ServerLocation,
) -> Result<(), StoreError> {
    let query =
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')";
    let (version, encoding): (i32, String) =
        place.answer(sqlx::query_as(query).fetch_one(conn)).await?;
    match problem(version, &encoding) {
        Some(problem) => Err(place.refused(problem)),
        None => Ok(()),
    }
}

/// The reason why a server cannot be used.
fn problem(version: i32, encoding: &str) -> Option<String> {
    if version < OLDEST_SERVER {
        return Some(format!(
            "the server is PostgreSQL {} ({version}), needed is {} or later ({OLDEST_SERVER})",
            version / 10_000,
            OLDEST_SERVER / 10_000
        ));
    }
    let message = format!("the encoding of the database is {encoding}, needed is UTF8");
    (encoding != "UTF8").then_some(message)
}

/// Returns the version of the tables, `None` where there are none. Refuses those of a newer program.
pub(super) async fn version(
    conn: &mut PgConnection,
    place: &ServerLocation,
) -> Result<Option<i64>, StoreError> {
    let query = sqlx::query_scalar("SELECT to_regclass('popper.schema_version') IS NOT NULL");
    if !place.answer(query.fetch_one(&mut *conn)).await? {
        return Ok(None);
    }
    let query = sqlx::query_scalar("SELECT max(version) FROM popper.schema_version");
    let version: Option<i64> = place.answer(query.fetch_one(conn)).await?;
    match version {
        Some(found) if found > KNOWN => Err(place.newer(found, KNOWN)),
        version => Ok(version),
    }
}

/// Creates the tables that are missing: each version is all there or not at all.
pub(super) async fn migrate(
    conn: &mut PgConnection,
    place: &ServerLocation,
) -> Result<(), StoreError> {
    let query = sqlx::query("SELECT pg_advisory_lock($1)").bind(MIGRATION_LOCK);
    place.answer(query.execute(&mut *conn)).await?;
    if version(conn, place).await? != Some(KNOWN) {
        // A role without the right to create schemas can use one that was made for it.
        let query = sqlx::query_scalar("SELECT to_regnamespace($1) IS NULL").bind(SCHEMA);
        if place.answer(query.fetch_one(&mut *conn)).await? {
            let query = sqlx::query("CREATE SCHEMA popper");
            place.answer(query.execute(&mut *conn)).await?;
        }
        let done = migrator().run_direct(None, conn, false).await;
        done.map_err(|error| place.migration(error))?;
    }
    lock::release(conn, MIGRATION_LOCK, place).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_new_enough_or_refused_with_both_versions() {
        assert_eq!(problem(150_000, "UTF8"), None);
        assert_eq!(
            problem(149_999, "UTF8").unwrap(),
            "the server is PostgreSQL 14 (149999), needed is 15 or later (150000)"
        );
        assert_eq!(
            problem(170_002, "LATIN1").unwrap(),
            "the encoding of the database is LATIN1, needed is UTF8"
        );
    }
}
