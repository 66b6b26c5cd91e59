//! The connection to a database file, which is opened again after an error.

use std::path::{Path, PathBuf};
use std::time::Duration;

use durable::Lock;
use popper_discovery::store::StoreError;
use sqlx::query::Query;
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::location::DatabaseLocation;
use super::lock::{is_held, lock, with_ending};
use super::schema::{self, SchemaContent};
use crate::driver::{Driver, Mode, Row};
use crate::statement::{Statement, Value};

/// The time to wait for another program that holds `SQLite`'s own lock.
const BUSY: Duration = Duration::from_secs(5);

/// Bytes of a page in a new file. An attempt takes 4 kB, so four of them share a page and few spill over. Compared with 4, 8 and
/// 32 kB in `docs/benchmarks.md`.
const PAGE: u32 = 16_384;

/// The largest size of the log file after it is written back, in bytes.
const LOG_LIMIT: &str = "16777216";

/// The memory and the disk that a database uses for speed.
///
/// The default is meant for runs: a log of 4 MiB leaves room for a transaction of 12 MiB within 16 MiB. For millions of rows a
/// larger cache, which holds the two trees whose keys are hashes, and a larger log are faster, see `docs/benchmarks.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tuning {
    /// The largest page cache in MiB, `1..=1048576`; a smaller file uses less.
    pub cache_mib: u32,
    /// The size of the write-ahead log in MiB after which it is written back, `1..=1048576`.
    pub log_mib: u32,
}

impl Tuning {
    /// A page cache and a write-ahead log of these sizes in MiB.
    pub const fn new(cache_mib: u32, log_mib: u32) -> Self {
        Self { cache_mib, log_mib }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::new(64, 4)
    }
}

/// The access to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a database is read, or read and written"
)]
pub enum Access {
    /// Read and write. A missing file is created with its parent folders. No other process may write it meanwhile.
    Write,
    /// Read and write an existing file.
    WriteExisting,
    /// Read an existing file, also while another process writes it.
    Read,
}

/// A database file.
#[derive(Debug)]
pub struct Sqlite {
    /// `None` only while it is opened again, or if that failed.
    conn: Option<SqliteConnection>,
    /// Whether a transaction began whose end is not known: `SQLite` itself ends a transaction on some errors and not on others.
    is_open: bool,
    schema: i64,
    options: SqliteConnectOptions,
    place: DatabaseLocation,
    /// The writer's lock, which is released last.
    _lock: Option<Lock>,
}

impl Sqlite {
    /// Whether a process writes the database file now.
    pub(crate) fn has_writer(path: &Path) -> bool {
        is_held(path)
    }

    pub(crate) async fn open(
        path: &Path,
        access: Access,
        tuning: Tuning,
    ) -> Result<Self, StoreError> {
        let named = DatabaseLocation::new(path);
        let path = find(path, access, &named)?;
        let place = named;
        if let Ok(file) = path.metadata() {
            // SQLite takes a file of one byte for an empty one.
            if file.len() == 1 {
                return Err(place.corrupt("one byte"));
            }
            let (mut conn, options) = connect_to_read(&path, &place).await?;
            let content = schema::inspect(&mut conn, &place).await?;
            whole(&mut conn, &path, &place).await?;
            if let (Access::Read, SchemaContent::Tables(schema)) = (access, content) {
                return Ok(Self {
                    conn: Some(conn),
                    is_open: false,
                    schema,
                    options,
                    place,
                    _lock: None,
                });
            }
            conn.close().await.map_err(|error| place.sql(error))?;
            if content == SchemaContent::Empty && access != Access::Write {
                return Err(place.missing());
            }
        }
        let lock = lock(&path, &place)?;
        let options = writer(&path, tuning);
        let create = options.clone().create_if_missing(access == Access::Write);
        let mut conn = create.connect().await.map_err(|error| place.sql(error))?;
        settle(&mut conn, &place).await?;
        Ok(Self {
            conn: Some(conn),
            is_open: false,
            schema: schema::KNOWN,
            options,
            place,
            _lock: Some(lock),
        })
    }

    /// The connection of the open transaction.
    fn connection(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        let conn = self.conn.as_mut().filter(|_| self.is_open);
        conn.ok_or_else(|| self.place.missing())
    }

    /// Ends the transaction.
    async fn end(&mut self, statement: &'static str) -> Result<(), StoreError> {
        let ended = sqlx::query(statement).execute(self.connection()?).await;
        ended.map_err(|error| self.place.sql(error))?;
        self.is_open = false;
        Ok(())
    }
}

fn query(statement: Statement<'_>) -> Query<'_, sqlx::Sqlite, SqliteArguments> {
    let query = sqlx::query(AssertSqlSafe(statement.sql));
    let values = statement.values.into_iter();
    values.fold(query, |query, value| match value {
        Value::Int(number) => query.bind(number),
        Value::Text(text) => query.bind(text),
    })
}

impl Driver for Sqlite {
    async fn begin(&mut self, mode: Mode) -> Result<(), StoreError> {
        if self.is_open
            && let Some(conn) = self.conn.take()
        {
            // Whether that went well does not matter: nothing of it is committed.
            let _ = conn.close().await;
        }
        self.is_open = false;
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => (self.options.connect().await).map_err(|error| self.place.sql(error))?,
        };
        let conn = self.conn.insert(conn);
        self.is_open = true;
        let statement = match mode {
            Mode::Read | Mode::LongRead => "BEGIN",
            Mode::Write => "BEGIN IMMEDIATE",
        };
        let begun = sqlx::query(statement).execute(conn).await;
        begun.map(|_| ()).map_err(|error| self.place.sql(error))
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        self.end("COMMIT").await
    }

    async fn rollback(&mut self) -> Result<(), StoreError> {
        self.end("ROLLBACK").await
    }

    async fn fetch(&mut self, statement: Statement<'_>) -> Result<Vec<Row>, StoreError> {
        let rows = query(statement).fetch_all(self.connection()?).await;
        let rows = rows.map_err(|error| self.place.sql(error))?;
        Ok(rows.into_iter().map(Row::Sqlite).collect())
    }

    async fn execute(&mut self, statement: Statement<'_>) -> Result<u64, StoreError> {
        let done = query(statement).execute(self.connection()?).await;
        let done = done.map_err(|error| self.place.sql(error))?;
        Ok(done.rows_affected())
    }

    /// There is one writer, so the keys after the greatest one are free.
    async fn next_ids(
        &mut self,
        table: &'static str,
        count: usize,
    ) -> Result<Vec<i64>, StoreError> {
        let sql = format!("SELECT COALESCE(MAX(id), 0) FROM {table}");
        let last: Result<i64, _> = sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_one(self.connection()?)
            .await;
        let last = last.map_err(|error| self.place.sql(error))?;
        Ok((last + 1..).take(count).collect())
    }

    fn schema(&self) -> i64 {
        self.schema
    }

    async fn close(mut self) -> Result<(), StoreError> {
        match self.conn.take() {
            Some(conn) => conn.close().await.map_err(|error| self.place.sql(error)),
            None => Ok(()),
        }
    }
}

/// The canonical path of the file: two names of one file must find one lock.
fn find(path: &Path, access: Access, place: &DatabaseLocation) -> Result<PathBuf, StoreError> {
    match path.canonicalize() {
        Ok(path) if path.is_dir() => Err(place.corrupt("a folder")),
        Ok(path) => Ok(path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && access == Access::Write => {
            let (Some(name), parent) = (path.file_name(), path.parent()) else {
                return Err(place.io(error));
            };
            let parent = match parent {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            std::fs::create_dir_all(parent).map_err(|error| place.io(error))?;
            let parent = parent.canonicalize().map_err(|error| place.io(error))?;
            Ok(parent.join(name))
        }
        Err(error) => Err(place.io(error)),
    }
}

fn common(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY)
        .foreign_keys(true)
        .statement_cache_capacity(200)
        .disable_statement_logging()
}

/// Connects for reading, and creates no file.
async fn connect_to_read(
    path: &Path,
    place: &DatabaseLocation,
) -> Result<(SqliteConnection, SqliteConnectOptions), StoreError> {
    let options = common(path).read_only(true);
    let connected = match options.connect().await {
        Ok(mut conn) => {
            let looked: Result<i64, _> = sqlx::query_scalar("SELECT count(*) FROM sqlite_master")
                .fetch_one(&mut conn)
                .await;
            looked.map(|_| conn)
        }
        Err(error) => Err(error),
    };
    match connected {
        Ok(conn) => Ok((conn, options)),
        Err(error) => match place.sql(error) {
            // There is no write-ahead log, and none can be made in this folder: then nobody writes, and the file is all there is.
            StoreError::ReadOnly { .. } => {
                let options = options.immutable(true);
                let conn = options.connect().await.map_err(|error| place.sql(error))?;
                Ok((conn, options))
            }
            error => Err(error),
        },
    }
}

/// Checks that the file does not end within its last page, which `SQLite` does not check. Other damage is found when it is
/// read: to look for it here would take as long as reading the whole file.
async fn whole(
    conn: &mut SqliteConnection,
    path: &Path,
    place: &DatabaseLocation,
) -> Result<(), StoreError> {
    let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let expected: i64 = sqlx::query_scalar(size)
        .fetch_one(conn)
        .await
        .map_err(|error| place.sql(error))?;
    let length = |path: &Path| path.metadata().map_or(0, |file| file.len());
    // While there is a log, pages may still be there alone. In this order: a log that is gone has been written back.
    let logged = length(&with_ending(path, "-wal")) > 0;
    let found = length(path);
    if !logged && found < expected.cast_unsigned() {
        return Err(place.corrupt(format!("{found} bytes, expected {expected}")));
    }
    Ok(())
}

fn writer(path: &Path, tuning: Tuning) -> SqliteConnectOptions {
    // The pragma counts KiB where the number is negative.
    let cache = i64::from(tuning.cache_mib) * -1024;
    let log = (u64::from(tuning.log_mib) << 20) / u64::from(PAGE);
    common(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .page_size(PAGE)
        .pragma("cache_size", cache.to_string())
        .pragma("wal_autocheckpoint", log.to_string())
        .pragma("journal_size_limit", LOG_LIMIT)
}

/// Creates the tables that an empty or older file has not, all of them or none.
async fn settle(conn: &mut SqliteConnection, place: &DatabaseLocation) -> Result<(), StoreError> {
    let fault = |error| place.sql(error);
    let mut tx = conn.begin_with("BEGIN IMMEDIATE").await.map_err(fault)?;
    if schema::inspect(&mut tx, place).await? != SchemaContent::Tables(schema::KNOWN) {
        schema::migrate(&mut tx, place).await?;
    }
    tx.commit().await.map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_run_takes_little_memory_and_disk_unless_asked_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("popper.db");
        let large = Tuning {
            cache_mib: 512,
            log_mib: 128,
        };
        for (tuning, expected) in [
            (Tuning::default(), [-65_536, 256, 16_777_216]),
            (large, [-524_288, 8192, 16_777_216]),
        ] {
            let opened = Sqlite::open(&path, Access::Write, tuning).await;
            let mut database = opened.unwrap();
            database.begin(Mode::Read).await.unwrap();
            let conn = database.connection().unwrap();
            let mut found = Vec::new();
            for pragma in [
                "PRAGMA cache_size",
                "PRAGMA wal_autocheckpoint",
                "PRAGMA journal_size_limit",
            ] {
                let value: i64 = sqlx::query_scalar(pragma)
                    .fetch_one(&mut *conn)
                    .await
                    .unwrap();
                found.push(value);
            }
            assert_eq!(found, expected);
        }
    }
}
