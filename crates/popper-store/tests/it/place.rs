//! The places that a database has: a file, or a server. A test that holds for both is a function of the place.

use std::path::PathBuf;

use popper_discovery::store::Store;
use popper_store::{Access, Address, Database, Server};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use crate::made;

/// An empty place of a test's own.
pub trait Place {
    type Store: Store;

    async fn open(&self, access: Access) -> Self::Store;

    /// The numbers that [`made::COUNTS`] asks for, past the code that is tested. The database must be sound.
    async fn sound_counts(&self) -> [i64; 4];

    /// The number of rows in which `run_counts` differs from what the other tables say, past the code that is tested.
    async fn miscounted(&self) -> i64;
}

/// The number of rows in which `run_counts` and the rows that it counts differ, in tables of this schema.
fn miscounted(schema: &str) -> String {
    let kept = format!("SELECT run_id, status, reason, n FROM {schema}run_counts WHERE n <> 0");
    let there = format!(
        "SELECT run_id, status, '' AS reason, COUNT(*) AS n FROM {schema}laws GROUP BY run_id, status \
         UNION ALL SELECT l.run_id, e.status, COALESCE(e.reason_code, ''), COUNT(*) FROM {schema}runs r \
         JOIN {schema}laws l ON l.run_id = r.id JOIN {schema}verdict_keys k ON k.law_fingerprint = l.law_fingerprint \
         AND k.harness_config_hash = r.harness_hash AND k.sim_hash = r.sim_hash \
         JOIN {schema}law_evaluations e ON e.id = k.evaluation_id WHERE l.status = 'tested' \
         GROUP BY l.run_id, e.status, COALESCE(e.reason_code, '') \
         UNION ALL SELECT run_id, 'attempts', '', COUNT(*) FROM {schema}law_evaluations GROUP BY run_id"
    );
    format!(
        "WITH kept AS ({kept}), there AS ({there}) SELECT \
         (SELECT COUNT(*) FROM (SELECT * FROM kept EXCEPT SELECT * FROM there) x) + \
         (SELECT COUNT(*) FROM (SELECT * FROM there EXCEPT SELECT * FROM kept) y)"
    )
}

pub struct InFile {
    _folder: tempfile::TempDir,
    pub path: PathBuf,
}

pub fn file() -> InFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    InFile {
        _folder: folder,
        path,
    }
}

impl Place for InFile {
    type Store = Database;

    async fn open(&self, access: Access) -> Database {
        Database::open(&self.path, access).await.unwrap()
    }

    async fn sound_counts(&self) -> [i64; 4] {
        made::sound_counts(&self.path).await
    }

    async fn miscounted(&self) -> i64 {
        let options = SqliteConnectOptions::new().filename(&self.path);
        let mut conn = options.read_only(true).connect().await.unwrap();
        let query = sqlx::query_scalar(AssertSqlSafe(miscounted("")));
        let number = query.fetch_one(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        number
    }
}

pub struct OnServer {
    database: test_support::postgres::Database,
}

/// A database on a server. `None` where no server can run, which the test support says.
pub fn server() -> Option<OnServer> {
    let database = test_support::postgres::database()?;
    Some(OnServer { database })
}

/// A database on a server that a test restarts.
pub fn on(server: &test_support::postgres::Server) -> OnServer {
    OnServer {
        database: server.database(),
    }
}

impl OnServer {
    pub fn url(&self) -> &str {
        self.database.url()
    }

    pub fn name(&self) -> &str {
        self.database.name()
    }

    pub fn address(&self) -> Address {
        Address::parse(self.url()).unwrap()
    }

    /// Opens the database as a coordinator of this name.
    pub async fn open_as(&self, name: &str) -> Server {
        let address = self.address();
        Server::open(&address, name, Access::Write).await.unwrap()
    }

    /// Runs statements as the owner of the server.
    pub async fn run(&self, sql: &str) {
        let mut conn = connect(self.url()).await;
        let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await;
        done.unwrap();
        conn.close().await.unwrap();
    }

    /// The number that a query gives.
    pub async fn number(&self, sql: &str) -> i64 {
        let mut conn = connect(self.url()).await;
        let query = sqlx::query_scalar(AssertSqlSafe(sql));
        let number = query.fetch_one(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        number
    }

    /// Ends the sessions of this name, and waits until they are gone. Answers their number.
    pub async fn terminate(&self, name: &str) -> i64 {
        let sql = format!(
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity \
             WHERE datname = current_database() AND application_name = '{name}'"
        );
        self.number(&sql).await
    }
}

impl Place for OnServer {
    type Store = Server;

    async fn open(&self, access: Access) -> Server {
        let opened = Server::open(&self.address(), "test", access).await;
        opened.unwrap()
    }

    async fn sound_counts(&self) -> [i64; 4] {
        let mut counts = [0; 4];
        for (count, question) in counts.iter_mut().zip(made::COUNTS) {
            let question = question.replacen("FROM ", "FROM popper.", 1);
            *count = self.number(&question).await;
        }
        counts
    }

    async fn miscounted(&self) -> i64 {
        self.number(&miscounted("popper.")).await
    }
}

/// The connection of another program.
pub async fn connect(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().unwrap();
    options.connect().await.unwrap()
}
