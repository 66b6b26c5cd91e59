//! A database of one test.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

/// The number of databases that this process has made.
static MADE: AtomicU32 = AtomicU32::new(0);

/// An empty database. It is dropped with its sessions when this is.
#[derive(Debug)]
pub struct Database {
    base: String,
    url: String,
    name: String,
}

impl Database {
    /// Creates a database on the server of `base`, the address of one of its databases.
    pub(super) fn create(base: &str) -> Self {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        run(
            base,
            &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        )
        .unwrap();
        run(base, &format!("CREATE DATABASE {name} TEMPLATE template0")).unwrap();
        let url = base.replacen("/postgres?", &format!("/{name}?"), 1);
        Self {
            base: base.to_owned(),
            url,
            name,
        }
    }

    /// The address, for the owner of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The name of the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number that a query gives, asked by a separate session.
    pub fn query(url: &str, sql: &str) -> i64 {
        run(url, sql).unwrap().unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server may be gone.
        let _dropped = run(
            &self.base,
            &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
        );
    }
}

/// Runs a statement on a separate connection and thread, as a test has its own runtime.
pub(super) fn run(url: &str, sql: &str) -> Result<Option<i64>, sqlx::Error> {
    let work = async {
        let options: PgConnectOptions = url.parse()?;
        let mut connection: PgConnection = options.connect().await?;
        let number = sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_optional(&mut connection)
            .await?;
        connection.close().await?;
        Ok(number)
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(work)
        });
        thread.join().unwrap()
    })
}
