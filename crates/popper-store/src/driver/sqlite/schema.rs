//! The check of a file's tables and schema version, which comes before every write.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use popper_discovery::store::StoreError;
use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnection;

use super::location::DatabaseLocation;

/// The newest schema that this program knows.
pub(crate) const KNOWN: i64 = 3;

/// The table that sqlx keeps of the migrations that were run.
const MIGRATIONS: &str = "_sqlx_migrations";

/// The statements that make the tables and indexes, by schema version from 1.
const STEPS: [(&str, &str); KNOWN as usize] = [
    (
        "tables",
        include_str!("../../../migrations/sqlite/0001_tables.sql"),
    ),
    (
        "counts",
        include_str!("../../../migrations/sqlite/0002_counts.sql"),
    ),
    (
        "claims",
        include_str!("../../../migrations/sqlite/0003_claims.sql"),
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
    Migrator::with_migrations((1..).zip(STEPS).map(migration).collect())
}

/// The content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaContent {
    /// The file has no tables.
    Empty,
    /// The file has the tables of this program, of this schema version.
    Tables(i64),
}

/// The names in a database, each with the statement that created it; an index of a constraint has no statement.
async fn objects(
    conn: &mut SqliteConnection,
) -> Result<BTreeMap<String, Option<String>>, sqlx::Error> {
    let rows = sqlx::query_as("SELECT name, sql FROM sqlite_master ORDER BY name");
    let rows: Vec<(String, Option<String>)> = rows.fetch_all(conn).await?;
    Ok(rows.into_iter().collect())
}

/// The statements up to a version that create a table or an index: the database keeps them as they are.
fn made(version: i64) -> Vec<String> {
    let steps = (1..=version).zip(STEPS);
    let lines = steps.flat_map(|(_, (_, statements))| statements.lines());
    let lines = lines.filter(|line| !line.starts_with("--"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let statements = text.split(';').map(str::trim);
    statements
        .filter(|statement| statement.starts_with("CREATE"))
        .map(str::to_owned)
        .collect()
}

/// Inspects a file. Refuses the tables of another program, and a newer schema.
pub(crate) async fn inspect(
    conn: &mut SqliteConnection,
    place: &DatabaseLocation,
) -> Result<SchemaContent, StoreError> {
    let fault = |error| place.sql(error);
    let found = objects(conn).await.map_err(fault)?;
    if found.is_empty() {
        return Ok(SchemaContent::Empty);
    }
    if !found.contains_key("schema_version") || !found.contains_key(MIGRATIONS) {
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
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
    let version = match version.max(migration) {
        Some(found) if found > KNOWN => return Err(place.newer(found, KNOWN)),
        Some(found) if found >= 1 && version == migration => found,
        _ => {
            let say = |version: Option<i64>| version.map_or("none".into(), |v| v.to_string());
            return Err(place.corrupt(format!(
                "schema_version says {}, the migrations say {}",
                say(version),
                say(migration)
            )));
        }
    };
    let found: BTreeSet<&str> = found.values().flatten().map(String::as_str).collect();
    match made(version)
        .iter()
        .find(|made| !found.contains(made.as_str()))
    {
        None => Ok(SchemaContent::Tables(version)),
        Some(made) => {
            let head = made.split('(').next().unwrap_or_default().trim();
            let message = format!("its schema is not as this program makes it ({head})");
            Err(place.corrupt(message))
        }
    }
}

/// Creates the tables that are missing.
pub(crate) async fn migrate(
    conn: &mut SqliteConnection,
    place: &DatabaseLocation,
) -> Result<(), StoreError> {
    migrator()
        .run_direct(None, conn, false)
        .await
        .map_err(|error| place.migration(error))
}
