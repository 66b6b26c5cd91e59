//! Whose file it is, and of which version: nothing is written before that is known.

use std::borrow::Cow;
use std::collections::BTreeSet;

use popper_discovery::StoreError;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, SqlSafeStr as _};

use crate::fault::Place;

/// The newest schema that this program knows.
pub(crate) const KNOWN: i64 = 1;

/// The table that sqlx keeps of the migrations that were run.
const MIGRATIONS: &str = "_sqlx_migrations";

fn migrator() -> Migrator {
    let tables = include_str!("../migrations/sqlite/0001_tables.sql").into_sql_str();
    Migrator::with_migrations(vec![Migration::new(
        1,
        Cow::Borrowed("tables"),
        MigrationType::Simple,
        tables,
        false,
    )])
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing yet.
    Empty,
    /// Our tables, of the schema that is known.
    Ours,
}

/// A table or an index as the database describes it: its kind, its name and the statement that made it.
type Object = (String, String, Option<String>);

async fn objects(conn: &mut SqliteConnection) -> Result<BTreeSet<Object>, sqlx::Error> {
    let rows = sqlx::query_as("SELECT type, name, sql FROM sqlite_master ORDER BY name")
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().collect())
}

/// Looks into a file. Refuses what is not ours, or newer.
pub(crate) async fn inspect(
    conn: &mut SqliteConnection,
    place: &Place,
) -> Result<Content, StoreError> {
    let fault = |error| place.sql(error);
    let found = objects(conn).await.map_err(fault)?;
    if found.is_empty() {
        return Ok(Content::Empty);
    }
    let has = |table: &str| {
        found
            .iter()
            .any(|(kind, name, _)| kind == "table" && name == table)
    };
    if !has("schema_version") || !has(MIGRATIONS) {
        let names: Vec<&str> = found.iter().map(|(_, name, _)| name.as_str()).collect();
        let names = names.join(", ");
        let shown: String = names.chars().take(200).collect();
        return Err(place.corrupt(format!("tables of another program: {shown}")));
    }
    let version: Option<i64> = sqlx::query_scalar("SELECT max(version) FROM schema_version")
        .fetch_one(&mut *conn)
        .await
        .map_err(fault)?;
    let migration: Option<i64> = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(&mut *conn)
        .await
        .map_err(fault)?;
    match version.max(migration) {
        Some(found) if found > KNOWN => return Err(place.newer(found, KNOWN)),
        _ if version != Some(KNOWN) || migration != Some(KNOWN) => {
            let say = |version: Option<i64>| version.map_or("none".into(), |v| v.to_string());
            return Err(place.corrupt(format!(
                "schema_version says {}, the migrations say {}",
                say(version),
                say(migration)
            )));
        }
        _ => {}
    }
    let expected = expected(place).await?;
    match expected.difference(&found).next() {
        None => Ok(Content::Ours),
        Some((kind, name, _)) => {
            Err(place.corrupt(format!("{kind} {name} is not as this program makes it")))
        }
    }
}

/// All objects of a database that was just made.
async fn expected(place: &Place) -> Result<BTreeSet<Object>, StoreError> {
    let fault = |error| place.sql(error);
    let options = SqliteConnectOptions::new().disable_statement_logging();
    let mut conn = options.connect().await.map_err(fault)?;
    migrate(&mut conn, place).await?;
    let objects = objects(&mut conn).await.map_err(fault)?;
    conn.close().await.map_err(fault)?;
    Ok(objects)
}

/// Makes the tables.
pub(crate) async fn migrate(conn: &mut SqliteConnection, place: &Place) -> Result<(), StoreError> {
    migrator()
        .run_direct(None, conn, false)
        .await
        .map_err(|error| place.migration(error))
}
