//! The connection to a server, which is opened again after an error.

use popper_discovery::store::StoreError;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Connection as _};
use work_queue::Address;

use super::location::ServerLocation;
use super::session::{Session, SessionId};
use super::{lock, schema, text};
use crate::driver::sqlite::Access;
use crate::driver::{Driver, Mode, Row};
use crate::statement::{Statement, Value};

/// The longest wait between two queries of a long read: its results may go to a person who reads page by page.
const LONG_WAIT: &str = "SET LOCAL idle_in_transaction_session_timeout = '1h'";

/// A database on a server.
#[derive(Debug)]
pub struct Postgres {
    /// Shows no password, as the options of a session would.
    address: Address,
    /// The name that the server shows.
    name: String,
    access: Access,
    place: ServerLocation,
    /// `None` only while it is opened again, or if that failed.
    session: Option<Session>,
    /// Whether something began whose end is not known.
    is_open: bool,
    schema: i64,
    /// The session that was given up, until it is known to be gone.
    former: Option<SessionId>,
    /// The number of the lock that each session of this coordinator holds.
    lock: Option<i64>,
}

impl Postgres {
    pub(crate) async fn open(
        address: &Address,
        name: &str,
        access: Access,
    ) -> Result<Self, StoreError> {
        let mut database = Self {
            address: address.clone(),
            name: name.to_owned(),
            access,
            place: ServerLocation(address.to_string()),
            session: None,
            is_open: false,
            schema: schema::KNOWN,
            former: None,
            lock: None,
        };
        database.settle().await?;
        let (conn, place) = database.begun()?;
        schema::check_server(conn, place).await?;
        let version = schema::version(conn, place).await?;
        match (version, access) {
            (Some(schema::KNOWN), _) => {}
            (Some(version), Access::Read) => database.schema = version,
            (_, Access::Write) | (Some(_), Access::WriteExisting) => {
                schema::migrate(conn, place).await?;
            }
            (None, Access::WriteExisting | Access::Read) => return Err(place.missing()),
        }
        database.is_open = false;
        Ok(database)
    }

    /// Takes the lock of a coordinator, now and in each later session.
    pub(crate) async fn lock(
        &mut self,
        sim_hash: &str,
        harness_config_hash: &str,
    ) -> Result<(), StoreError> {
        let key = lock::key(sim_hash, harness_config_hash);
        self.settle().await?;
        let (conn, place) = self.begun()?;
        lock::take(conn, key, place).await?;
        self.is_open = false;
        self.lock = Some(key);
        Ok(())
    }

    fn options(&self) -> PgConnectOptions {
        let options = self
            .address
            .options(&self.name)
            .options([("search_path", schema::SCHEMA)])
            .statement_cache_capacity(200);
        match self.access {
            Access::Read => options.options([("default_transaction_read_only", "on")]),
            Access::Write | Access::WriteExisting => options,
        }
    }

    /// Begins something in a session in which nothing is open. It is a new one if what was last begun has no known end: what was
    /// not committed ends with its session.
    async fn settle(&mut self) -> Result<(), StoreError> {
        if self.is_open
            && let Some(session) = self.session.take()
        {
            self.former = Some(session.id);
        }
        self.is_open = false;
        if self.session.is_none() {
            self.session = Some(self.connect().await?);
        }
        self.is_open = true;
        Ok(())
    }

    /// Opens a session. Who lost the lock must not write, as another coordinator may have it: the session takes it again.
    async fn connect(&mut self) -> Result<Session, StoreError> {
        let mut session = Session::open(&self.options(), &self.place).await?;
        if let Some(former) = self.former {
            session.end(former, &self.place).await?;
            self.former = None;
        }
        if let Some(key) = self.lock {
            lock::take(&mut session.conn, key, &self.place).await?;
        }
        Ok(session)
    }

    /// The connection in which something was begun.
    fn begun(&mut self) -> Result<(&mut PgConnection, &ServerLocation), StoreError> {
        match &mut self.session {
            Some(session) if self.is_open => Ok((&mut session.conn, &self.place)),
            _ => Err(self.place.missing()),
        }
    }

    /// Ends the transaction.
    async fn end(&mut self, statement: &'static str) -> Result<(), StoreError> {
        let (conn, place) = self.begun()?;
        place.answer(sqlx::query(statement).execute(conn)).await?;
        self.is_open = false;
        Ok(())
    }
}

fn query(statement: Statement<'_>) -> Query<'_, sqlx::Postgres, PgArguments> {
    let query = sqlx::query(AssertSqlSafe(statement.sql));
    let values = statement.values.into_iter();
    values.fold(query, |query, value| match value {
        Value::Int(number) => query.bind(number),
        Value::Text(None) => query.bind(None::<String>),
        Value::Text(Some(value)) => query.bind(text::write(&value).into_owned()),
    })
}

impl Driver for Postgres {
    async fn begin(&mut self, mode: Mode) -> Result<(), StoreError> {
        self.settle().await?;
        let (conn, place) = self.begun()?;
        let statement = match mode {
            Mode::Read | Mode::LongRead => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
            Mode::Write => "BEGIN",
        };
        place
            .answer(sqlx::query(statement).execute(&mut *conn))
            .await?;
        if mode == Mode::LongRead {
            place.answer(sqlx::query(LONG_WAIT).execute(conn)).await?;
        }
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        self.end("COMMIT").await
    }

    async fn rollback(&mut self) -> Result<(), StoreError> {
        self.end("ROLLBACK").await
    }

    async fn fetch(&mut self, statement: Statement<'_>) -> Result<Vec<Row>, StoreError> {
        let (conn, place) = self.begun()?;
        let rows = place.answer(query(statement).fetch_all(conn)).await?;
        Ok(rows.into_iter().map(Row::Postgres).collect())
    }

    async fn execute(&mut self, statement: Statement<'_>) -> Result<u64, StoreError> {
        let (conn, place) = self.begun()?;
        let done = place.answer(query(statement).execute(conn)).await?;
        Ok(done.rows_affected())
    }

    /// Several coordinators write, so the keys come from the sequence of the table.
    async fn next_ids(
        &mut self,
        table: &'static str,
        count: usize,
    ) -> Result<Vec<i64>, StoreError> {
        let next = "SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2)";
        let query = sqlx::query_scalar(next)
            .bind(table)
            .bind(i64::try_from(count).unwrap_or(i64::MAX));
        let (conn, place) = self.begun()?;
        let mut ids: Vec<i64> = place.answer(query.fetch_all(conn)).await?;
        ids.sort_unstable();
        Ok(ids)
    }

    fn schema(&self) -> i64 {
        self.schema
    }

    /// The next coordinator may begin at once, so the lock does not wait for the end of the session.
    async fn close(mut self) -> Result<(), StoreError> {
        let Some(mut session) = self.session.take() else {
            return Ok(());
        };
        if let Some(key) = self.lock.filter(|_| !self.is_open) {
            lock::release(&mut session.conn, key, &self.place).await?;
        }
        self.place.answer(session.conn.close()).await
    }
}
