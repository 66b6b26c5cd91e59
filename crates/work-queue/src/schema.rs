//! The tables of the queue: their migrations, and the check that comes before every use.

use std::borrow::Cow;

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, PgConnection};

use crate::QueueError;
use crate::address::Address;
use crate::connection::Connection;

/// The schema of the queue's tables.
pub(crate) const SCHEMA: &str = "work_queue";

/// The newest version of the tables that this program knows.
const KNOWN: i64 = 1;

/// The table with the migrations that were run.
const HISTORY: &str = "work_queue._sqlx_migrations";

/// The oldest server that works.
const OLDEST: i32 = 150_000;

/// The statements that make the tables.
const TABLES: &str = include_str!("../migrations/postgres/0001_tables.sql");

/// The number of the advisory lock of a database that all migrations take: those of the queue, of its engine, and of other
/// crates with tables next to them.
pub const MIGRATION_LOCK: i64 = 0x4f72_7265_7279;

/// The state of a version in a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaState {
    /// The tables are absent, or of an older version.
    Older,
    /// The version that this program knows.
    Known,
}

/// Checks the server and the version of the queue's tables.
pub(crate) async fn state(connection: &Connection) -> Result<SchemaState, QueueError> {
    let address = &connection.address;
    let server: (i32, String) = connection
        .run(|pool| async move { sqlx::query_as(
                "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')",
            )
            .fetch_one(&pool).await })
        .await?;
    check_server(address, server.0, &server.1)?;
    let found = version(connection, HISTORY, "version").await?;
    compare(address, SCHEMA, found, KNOWN)
}

/// Refuses a server of an older version, and a database with another encoding.
fn check_server(address: &Address, version: i32, encoding: &str) -> Result<(), QueueError> {
    let place = address.to_string();
    if version < OLDEST {
        return Err(QueueError::Server {
            place,
            found: version,
            needed: OLDEST,
        });
    }
    if encoding != "UTF8" {
        let found = encoding.to_owned();
        return Err(QueueError::Encoding { place, found });
    }
    Ok(())
}

/// The highest number in a table of migrations, 0 if the table is absent.
pub(crate) async fn version(
    connection: &Connection,
    table: &str,
    column: &str,
) -> Result<i64, QueueError> {
    let exists: bool = connection
        .run(|pool| async move {
            sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
                .bind(table)
                .fetch_one(&pool)
                .await
        })
        .await?;
    if !exists {
        return Ok(0);
    }
    let newest = &format!("SELECT coalesce(max({column}), 0)::bigint FROM {table}");
    connection
        .run(|pool| async move {
            sqlx::query_scalar(AssertSqlSafe(newest.as_str()))
                .fetch_one(&pool)
                .await
        })
        .await
}

/// Compares the version of a schema with the one that this program knows.
pub(crate) fn compare(
    address: &Address,
    schema: &'static str,
    found: i64,
    known: i64,
) -> Result<SchemaState, QueueError> {
    if found > known {
        let place = address.to_string();
        return Err(QueueError::Newer {
            place,
            schema,
            found,
            known,
        });
    }
    Ok(if found < known {
        SchemaState::Older
    } else {
        SchemaState::Known
    })
}

/// Makes the tables, or those that are new. The caller holds the advisory lock.
pub(crate) async fn migrate(session: &mut PgConnection) -> Result<(), sqlx::Error> {
    let migration = Migration::new(
        1,
        Cow::Borrowed("tables"),
        MigrationType::Simple,
        TABLES.into_sql_str(),
        false,
    );
    let mut migrator = Migrator::with_migrations(vec![migration]);
    migrator.create_schema(SCHEMA);
    migrator.dangerous_set_table_name(HISTORY);
    migrator.set_locking(false);
    migrator
        .run_direct(None, session, false)
        .await
        .map_err(|error| match error {
            sqlx::migrate::MigrateError::Execute(error) => error,
            other => sqlx::Error::Migrate(Box::new(other)),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_server_is_refused_with_both_numbers() {
        let address = Address::parse("postgres://a@localhost:1/b").unwrap();
        let error = check_server(&address, 140_013, "UTF8").unwrap_err();
        let expected = "postgres://a@localhost:1/b: the server has version 140013, the oldest that works is 150000";
        assert_eq!(error.to_string(), expected);
        assert!(check_server(&address, 150_000, "LATIN1").is_err());
        assert!(check_server(&address, 180_002, "UTF8").is_ok());
    }
}
