//! The databases as a [`Store`]: the same queries and transactions for each driver.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use popper_discovery::store::{
    Attempt, AttemptFilter, CallRow, CapabilityRow, DecisionRow, Iteration, IterationPlan,
    IterationState, LawFilter, LawRow, LawStatus, Pick, ProvedClaim, Query, RowPage, RunRow, Store,
    StoreError, TestedLaw, VerdictCounts, VerdictKey,
};
use popper_harness::decide::Status;
use work_queue::Address;

use crate::answers;
use crate::counts;
use crate::driver::postgres::Postgres;
use crate::driver::sqlite::{Access, Sqlite, Tuning};
use crate::driver::{Driver, FileOrServer, Mode, Row, TransactionScope};
use crate::group::{store_new, store_plan, stored_attempt};
use crate::sql::{self, pieces};
use crate::statement::Statement;
use crate::table::{Record, time_text, word};

/// The LIMIT of a query for all rows.
const ALL: i64 = i64::MAX;

/// A store in a database.
///
/// A writing method that fails, or whose future is dropped, writes nothing: the connection is then closed and opened again
/// before the next use.
#[derive(Debug)]
pub struct SqlStore<D> {
    db: TransactionScope<D>,
}

/// A database file.
pub type Database = SqlStore<Sqlite>;

impl Database {
    /// Opens a database file.
    ///
    /// # Errors
    /// [`StoreError::Missing`] unless it may be created; [`StoreError::Locked`] at once if another process has it open for
    /// writing; [`StoreError::Newer`]; [`StoreError::Corrupt`] for a file that is not a database, or one of another program, neither of
    /// which is changed; [`StoreError::ReadOnly`] and [`StoreError::Full`] as the system reports them.
    pub async fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        Self::open_with(path, access, Tuning::default()).await
    }

    /// Whether a process writes the database file now.
    pub fn has_writer(path: &Path) -> bool {
        Sqlite::has_writer(path)
    }

    /// Opens a database file with another use of memory and disk.
    ///
    /// # Errors
    /// Those of [`Database::open`].
    pub async fn open_with(
        path: &Path,
        access: Access,
        tuning: Tuning,
    ) -> Result<Self, StoreError> {
        let db = Sqlite::open(path, access, tuning).await?;
        let db = TransactionScope::new(db);
        Ok(Self { db })
    }
}

/// A database on a `PostgreSQL` server.
pub type Server = SqlStore<Postgres>;

impl Server {
    /// Connects to a server, which shows this process under a name.
    ///
    /// # Errors
    /// [`StoreError::Disconnected`] if it does not answer; [`StoreError::Refused`] for a wrong password, missing rights, or a server
    /// that is too old; [`StoreError::Missing`] if there are no tables and `access` does not create them; [`StoreError::Newer`].
    pub async fn open(address: &Address, name: &str, access: Access) -> Result<Self, StoreError> {
        let db = Postgres::open(address, name, access).await?;
        let db = TransactionScope::new(db);
        Ok(Self { db })
    }

    /// Takes the lock of the coordinator of a universe and a configuration: one process at a time writes their runs.
    ///
    /// The lock ends with the session. A session that is opened again after an error takes it again before it writes.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process has it.
    pub async fn lock(
        &mut self,
        sim_hash: &str,
        harness_config_hash: &str,
    ) -> Result<(), StoreError> {
        self.db
            .connection()
            .lock(sim_hash, harness_config_hash)
            .await
    }
}

/// A database in a file or on a server, as a user chose.
pub type AnyDatabase = SqlStore<FileOrServer>;

impl AnyDatabase {
    /// Takes the lock of the coordinator of a universe and a configuration, as [`Server::lock`]. A file has one writer anyway.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process has it.
    pub async fn lock(
        &mut self,
        sim_hash: &str,
        harness_config_hash: &str,
    ) -> Result<(), StoreError> {
        match self.db.connection() {
            FileOrServer::File(_) => Ok(()),
            FileOrServer::Server(db) => db.lock(sim_hash, harness_config_hash).await,
        }
    }
}

impl From<Database> for AnyDatabase {
    fn from(database: Database) -> Self {
        let db = FileOrServer::File(Box::new(database.db.into_connection()));
        let db = TransactionScope::new(db);
        Self { db }
    }
}

impl From<Server> for AnyDatabase {
    fn from(server: Server) -> Self {
        let db = FileOrServer::Server(Box::new(server.db.into_connection()));
        let db = TransactionScope::new(db);
        Self { db }
    }
}

impl<D: Driver> SqlStore<D> {
    /// Closes the database; for a file, after the write-ahead log is written back. Dropping a store does the same later, and
    /// reports no error.
    ///
    /// # Errors
    /// The error of the database; all that was committed is durable even then.
    pub async fn close(self) -> Result<(), StoreError> {
        self.db.close().await
    }

    /// Returns the rows of one query.
    async fn rows(&mut self, statement: Statement<'_>) -> Result<Vec<Row>, StoreError> {
        self.db.begin(Mode::Read).await?;
        let rows = self.db.fetch(statement).await?;
        self.db.commit().await?;
        Ok(rows)
    }

    /// Returns a page of rows of a run.
    async fn page<R: Record>(
        &mut self,
        sql: String,
        run_id: i64,
        page: RowPage,
    ) -> Result<Vec<R>, StoreError> {
        let statement = Statement::new(sql)
            .bind(run_id)
            .bind(page.after)
            .bind(i64::from(page.limit));
        sql::records(&self.rows(statement).await?)
    }
}

impl<D: Driver> Store for SqlStore<D> {
    async fn create_run(&mut self, run: &RunRow) -> Result<i64, StoreError> {
        self.db.begin(Mode::Write).await?;
        let id = sql::insert_next(&mut self.db, run, None).await?;
        self.db.commit().await?;
        Ok(id)
    }

    async fn set_run_config(&mut self, run_id: i64, config_json: &str) -> Result<(), StoreError> {
        let statement = Statement::new(sql::SET_RUN_CONFIG)
            .bind(config_json)
            .bind(run_id);
        self.db.begin(Mode::Write).await?;
        self.db.execute(statement).await?;
        self.db.commit().await
    }

    async fn runs(&mut self) -> Result<Vec<RunRow>, StoreError> {
        let rows = self.rows(Statement::new(sql::runs())).await?;
        sql::records(&rows)
    }

    async fn iterations(&mut self, run_id: i64, pick: Pick) -> Result<Vec<Iteration>, StoreError> {
        let statement = Statement::new(sql::iterations(pick)).bind(run_id);
        let rows = match pick {
            Pick::Index(index) => self.rows(statement.bind(i64::from(index))).await?,
            Pick::All | Pick::Last => self.rows(statement).await?,
        };
        sql::records(&rows)
    }

    async fn begin_iteration(
        &mut self,
        iteration: &Iteration,
        capabilities: &CapabilityRow,
    ) -> Result<i64, StoreError> {
        let db = &mut self.db;
        db.begin(Mode::Write).await?;
        let id = sql::insert_next(db, iteration, None).await?;
        let last = sql::rows_of::<CapabilityRow>("WHERE x.run_id = $1 ORDER BY x.id DESC LIMIT 1");
        let last = db
            .fetch(Statement::new(last).bind(iteration.run_id))
            .await?;
        let last = sql::records::<CapabilityRow>(&last)?;
        if !last.iter().any(|last| last.says_the_same(capabilities)) {
            sql::insert_next(db, capabilities, Some(id)).await?;
        }
        db.commit().await?;
        Ok(id)
    }

    async fn set_iteration(
        &mut self,
        iteration_id: i64,
        state: &IterationState,
    ) -> Result<(), StoreError> {
        let statement = Statement::new(sql::SET_ITERATION)
            .bind(word(state.status))
            .bind(state.completed_at.map(time_text))
            .bind(&state.summary_json)
            .bind(iteration_id);
        self.db.begin(Mode::Write).await?;
        self.db.execute(statement).await?;
        self.db.commit().await
    }

    async fn plan_iteration(&mut self, plan: &IterationPlan) -> Result<(), StoreError> {
        self.db.begin(Mode::Write).await?;
        store_plan(&mut self.db, plan).await?;
        self.db.commit().await
    }

    async fn add_call(&mut self, call: &CallRow) -> Result<(), StoreError> {
        self.db.begin(Mode::Write).await?;
        sql::insert_next(&mut self.db, call, None).await?;
        self.db.commit().await
    }

    async fn calls(
        &mut self,
        run_id: i64,
        iteration_id: Option<i64>,
    ) -> Result<Vec<CallRow>, StoreError> {
        let rows = match iteration_id {
            None => Statement::new(sql::calls()).bind(run_id),
            Some(iteration) => Statement::new(sql::calls_of_iteration())
                .bind(run_id)
                .bind(iteration),
        };
        sql::records(&self.rows(rows).await?)
    }

    async fn known_fingerprints(
        &mut self,
        run_id: i64,
        fingerprints: &[String],
    ) -> Result<BTreeSet<String>, StoreError> {
        let mut known = BTreeSet::new();
        self.db.begin(Mode::Read).await?;
        for piece in pieces(&distinct(fingerprints)) {
            let statement = Statement::new(sql::KNOWN_FINGERPRINTS_HEAD)
                .bind(run_id)
                .push_list(piece.iter().copied());
            for row in self.db.fetch(statement).await? {
                known.insert(answers::fingerprint(&row)?);
            }
        }
        self.db.commit().await?;
        Ok(known)
    }

    async fn laws(
        &mut self,
        run_id: i64,
        filter: LawFilter<'_>,
    ) -> Result<Vec<LawRow>, StoreError> {
        let query = |and: &str| {
            let sql = sql::rows_of::<LawRow>("WHERE x.run_id = $1");
            Statement::new(sql).bind(run_id).push(and)
        };
        let mut laws: Vec<LawRow> = Vec::new();
        self.db.begin(Mode::Read).await?;
        match filter {
            LawFilter::Fingerprints(fingerprints) => {
                for piece in pieces(&distinct(fingerprints)) {
                    let query = query(" AND x.law_fingerprint IN ");
                    let rows = self
                        .db
                        .fetch(query.push_list(piece.iter().copied()))
                        .await?;
                    laws.extend(sql::records::<LawRow>(&rows)?);
                }
            }
            LawFilter::Beginning(beginning) => {
                let query = query(" AND x.law_fingerprint >= ")
                    .push_bind(beginning)
                    .push(" AND x.law_fingerprint < ")
                    .push_bind(format!("{beginning}{}", char::MAX));
                laws = sql::records(&self.db.fetch(query).await?)?;
            }
            LawFilter::Statuses { statuses: [], .. } => {}
            LawFilter::Statuses { statuses, newest } => {
                let query = query(" AND x.status IN ")
                    .push_list(statuses.iter().map(|status| word(*status)))
                    .push(" ORDER BY x.id DESC LIMIT ")
                    .push_bind(newest.map_or(ALL, i64::from));
                laws = sql::records(&self.db.fetch(query).await?)?;
            }
        }
        self.db.commit().await?;
        laws.sort_by_key(|law| law.id);
        Ok(laws)
    }

    async fn known(
        &mut self,
        fingerprints: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> Result<BTreeMap<String, VerdictKey>, StoreError> {
        let mut known = BTreeMap::new();
        self.db.begin(Mode::Read).await?;
        for piece in pieces(fingerprints) {
            let query = Statement::new(sql::KNOWN_HEAD)
                .bind(harness_config_hash)
                .bind(sim_hash)
                .push_list(piece);
            for row in self.db.fetch(query).await? {
                let key = answers::key(&row, harness_config_hash, sim_hash)?;
                known.insert(key.law_fingerprint.clone(), key);
            }
        }
        self.db.commit().await?;
        Ok(known)
    }

    async fn proved_claims(
        &mut self,
        claims: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> Result<BTreeMap<String, ProvedClaim>, StoreError> {
        let mut proved = BTreeMap::new();
        self.db.begin(Mode::Read).await?;
        for piece in pieces(claims) {
            let query = Statement::new(sql::PROVED_HEAD)
                .bind(harness_config_hash)
                .bind(sim_hash)
                .push_list(piece);
            for row in self.db.fetch(query).await? {
                let claim = answers::proved_claim(&row, harness_config_hash, sim_hash)?;
                proved.insert(claim.claim_fingerprint.clone(), claim);
            }
        }
        self.db.commit().await?;
        Ok(proved)
    }

    async fn attempts(&mut self, filter: AttemptFilter<'_>) -> Result<Vec<Attempt>, StoreError> {
        let mut made = Vec::new();
        self.db.begin(Mode::Read).await?;
        match filter {
            AttemptFilter::Law {
                fingerprint,
                harness_config_hash,
                sim_hash,
            } => {
                let query = Statement::new(sql::ATTEMPTS_AT)
                    .bind(fingerprint)
                    .bind(harness_config_hash)
                    .bind(sim_hash);
                made.extend(self.db.fetch(query).await?);
            }
            AttemptFilter::Run {
                run_id,
                law_ids,
                harness_config_hash,
            } => {
                let ids: BTreeSet<i64> = law_ids.iter().copied().collect();
                let ids: Vec<i64> = ids.into_iter().collect();
                for piece in pieces(&ids) {
                    let query = Statement::new(sql::ATTEMPTS_OF_HEAD)
                        .bind(run_id)
                        .bind(harness_config_hash)
                        .push_list(piece.iter().copied());
                    made.extend(self.db.fetch(query).await?);
                }
            }
        }
        self.db.commit().await?;
        let mut made: Vec<(i64, Attempt)> = made
            .iter()
            .map(answers::attempt)
            .collect::<Result<_, StoreError>>()?;
        made.sort_by_key(|(id, _)| *id);
        Ok(made.into_iter().map(|(_, attempt)| attempt).collect())
    }

    async fn commit(&mut self, decisions: &[DecisionRow]) -> Result<(), StoreError> {
        let db = &mut self.db;
        db.begin(Mode::Write).await?;
        if store_new(db, decisions).await? {
            return db.commit().await;
        }
        // One of them is there already. That is rare: one by one.
        db.rollback().await?;
        db.begin(Mode::Write).await?;
        for decision in decisions {
            match stored_attempt(db, &decision.evaluation).await? {
                Some(artifacts_json) => decision.agrees_with(&artifacts_json)?,
                None => {
                    store_new(db, std::slice::from_ref(decision)).await?;
                }
            }
        }
        db.commit().await
    }

    async fn findings(&mut self, query: Query<'_>) -> Result<Vec<TestedLaw>, StoreError> {
        let rows = match query {
            Query::Tested {
                run,
                status,
                newest,
            } => {
                let sql = match (status, newest) {
                    (Some(status), Some(newest))
                        if self.db.schema() >= sql::RARE_SCHEMA
                            && is_rare(&self.tally(run).await?, status, newest) =>
                    {
                        sql::rare_findings()
                    }
                    _ => sql::findings(status.is_some()),
                };
                let statement = Statement::new(sql)
                    .bind(&run.harness_hash)
                    .bind(&run.sim_hash)
                    .bind(run.id)
                    .bind(newest.map_or(ALL, i64::from));
                let statement = match status {
                    Some(status) => statement.bind(word(status)),
                    None => statement,
                };
                let mut rows = self.rows(statement).await?;
                rows.reverse();
                rows
            }
            Query::Attempts { run, after, limit } => {
                let statement = Statement::new(sql::evaluations())
                    .bind(run.id)
                    .bind(after)
                    .bind(i64::from(limit));
                self.rows(statement).await?
            }
        };
        rows.iter().map(answers::finding).collect()
    }

    async fn tally(&mut self, run: &RunRow) -> Result<VerdictCounts, StoreError> {
        self.db.begin(Mode::Read).await?;
        let tally = counts::read(&mut self.db, run).await?;
        self.db.commit().await?;
        Ok(tally)
    }

    async fn begin_reading(&mut self) -> Result<(), StoreError> {
        self.db.begin_shared().await
    }

    async fn end_reading(&mut self) -> Result<(), StoreError> {
        self.db.end_shared().await
    }

    async fn iteration_page(
        &mut self,
        run_id: i64,
        page: RowPage,
    ) -> Result<Vec<Iteration>, StoreError> {
        self.page(sql::iteration_page(), run_id, page).await
    }

    async fn law_page(&mut self, run_id: i64, page: RowPage) -> Result<Vec<LawRow>, StoreError> {
        self.page(sql::law_page(), run_id, page).await
    }

    async fn call_page(&mut self, run_id: i64, page: RowPage) -> Result<Vec<CallRow>, StoreError> {
        self.page(sql::call_page(), run_id, page).await
    }

    async fn tested_page(
        &mut self,
        run: &RunRow,
        page: RowPage,
    ) -> Result<Vec<TestedLaw>, StoreError> {
        let statement = Statement::new(sql::tested_page())
            .bind(&run.harness_hash)
            .bind(&run.sim_hash)
            .bind(run.id)
            .bind(page.after)
            .bind(i64::from(page.limit));
        self.rows(statement)
            .await?
            .iter()
            .map(answers::finding)
            .collect()
    }
}

/// A list without repetitions.
fn distinct(texts: &[String]) -> Vec<&str> {
    let texts: BTreeSet<&str> = texts.iter().map(String::as_str).collect();
    texts.into_iter().collect()
}

/// Whether it is cheaper to read all attempts with a verdict than to search the newest laws for `newest` of them: with `n` of `tested`
/// laws, the search reads `newest * tested / n` laws if they are spread evenly.
fn is_rare(tally: &VerdictCounts, status: Status, newest: u32) -> bool {
    let with_status = tally.verdicts.iter();
    let with_status = with_status.filter(|((verdict, _), _)| verdict == word(status));
    let n: u64 = with_status.map(|(_, n)| n).sum();
    let tested = tally.laws.get(&LawStatus::Tested);
    n.saturating_mul(n) <= u64::from(newest).saturating_mul(tested.copied().unwrap_or(0))
}
