//! The database as a [`Store`].

use std::collections::{BTreeMap, BTreeSet};

use popper_discovery::store::{
    Attempt, AttemptFilter, CallRow, CapabilityRow, CounterexampleRow, DecisionRow, EvaluationRow,
    Iteration, IterationPlan, IterationState, LawFilter, LawRow, Pick, Query, RunRow, Store,
    StoreError, TestedLaw, VerdictCounts, VerdictKey,
};
use popper_harness::decide::Status;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Encode, QueryBuilder, Sqlite, Type};

use crate::database::Database;
use crate::group::{store_new, store_plan, stored_attempt};
use crate::location::DatabaseLocation;
use crate::sql::{self, pieces};
use crate::table::{Fields, Record, Table, record, time_text, word};

/// The LIMIT of a query for all rows.
const ALL: i64 = i64::MAX;

impl Store for Database {
    async fn create_run(&mut self, run: &RunRow) -> Result<i64, StoreError> {
        let mut work = self.write().await?;
        let id = sql::insert_next(&mut work.tx, run, None)
            .await
            .map_err(|error| work.place.sql(error))?;
        work.commit().await?;
        Ok(id)
    }

    async fn runs(&mut self) -> Result<Vec<RunRow>, StoreError> {
        let (conn, place) = self.connection().await?;
        let rows = sqlx::query(AssertSqlSafe(sql::runs()))
            .fetch_all(conn)
            .await;
        sql::records(rows, place)
    }

    async fn iterations(&mut self, run_id: i64, pick: Pick) -> Result<Vec<Iteration>, StoreError> {
        let (conn, place) = self.connection().await?;
        let query = sqlx::query(AssertSqlSafe(sql::iterations(pick))).bind(run_id);
        let query = match pick {
            Pick::Index(index) => query.bind(i64::from(index)),
            Pick::All | Pick::Last => query,
        };
        sql::records(query.fetch_all(conn).await, place)
    }

    async fn begin_iteration(
        &mut self,
        iteration: &Iteration,
        capabilities: &CapabilityRow,
    ) -> Result<i64, StoreError> {
        let mut work = self.write().await?;
        let fault = |error| work.place.sql(error);
        let id = sql::insert_next(&mut work.tx, iteration, None)
            .await
            .map_err(fault)?;
        let last = sql::rows_of::<CapabilityRow>("WHERE x.run_id = $1 ORDER BY x.id DESC LIMIT 1");
        let last = sqlx::query(AssertSqlSafe(last))
            .bind(iteration.run_id)
            .fetch_optional(&mut *work.tx)
            .await
            .map_err(fault)?;
        let last: Option<CapabilityRow> = last.as_ref().map(|row| record(row, 0)).transpose()?;
        if last.is_none_or(|last| !last.says_the_same(capabilities)) {
            sql::insert_next(&mut work.tx, capabilities, Some(id))
                .await
                .map_err(fault)?;
        }
        work.commit().await?;
        Ok(id)
    }

    async fn set_iteration(
        &mut self,
        iteration_id: i64,
        state: &IterationState,
    ) -> Result<(), StoreError> {
        let mut work = self.write().await?;
        sqlx::query(sql::SET_ITERATION)
            .bind(word(state.status))
            .bind(state.completed_at.map(time_text))
            .bind(&state.summary_json)
            .bind(iteration_id)
            .execute(&mut *work.tx)
            .await
            .map_err(|error| work.place.sql(error))?;
        work.commit().await
    }

    async fn plan_iteration(&mut self, plan: &IterationPlan) -> Result<(), StoreError> {
        let mut work = self.write().await?;
        store_plan(&mut work.tx, plan)
            .await
            .map_err(|error| work.place.sql(error))?;
        work.commit().await
    }

    async fn add_call(&mut self, call: &CallRow) -> Result<(), StoreError> {
        let mut work = self.write().await?;
        sql::insert_next(&mut work.tx, call, None)
            .await
            .map_err(|error| work.place.sql(error))?;
        work.commit().await
    }

    async fn calls(
        &mut self,
        run_id: i64,
        iteration_id: Option<i64>,
    ) -> Result<Vec<CallRow>, StoreError> {
        let (conn, place) = self.connection().await?;
        let query = match iteration_id {
            None => sqlx::query(AssertSqlSafe(sql::calls())).bind(run_id),
            Some(iteration) => sqlx::query(AssertSqlSafe(sql::calls_of_iteration()))
                .bind(run_id)
                .bind(iteration),
        };
        sql::records(query.fetch_all(conn).await, place)
    }

    async fn fingerprints(&mut self, run_id: i64) -> Result<BTreeSet<String>, StoreError> {
        let (conn, place) = self.connection().await?;
        let rows: Vec<String> = sqlx::query_scalar(sql::FINGERPRINTS)
            .bind(run_id)
            .fetch_all(conn)
            .await
            .map_err(|error| place.sql(error))?;
        Ok(rows.into_iter().collect())
    }

    async fn laws(
        &mut self,
        run_id: i64,
        filter: LawFilter<'_>,
    ) -> Result<Vec<LawRow>, StoreError> {
        let work = &mut self.read().await?;
        let query = || {
            let mut query =
                QueryBuilder::<Sqlite>::new(sql::rows_of::<LawRow>("WHERE x.run_id = "));
            query.push_bind(run_id);
            query
        };
        let mut laws: Vec<LawRow> = Vec::new();
        match filter {
            LawFilter::Fingerprints(fingerprints) => {
                for piece in pieces(&distinct(fingerprints)) {
                    let mut query = query();
                    query.push(" AND x.law_fingerprint IN (");
                    list(&mut query, piece);
                    let rows = query.build().fetch_all(&mut *work.tx).await;
                    laws.extend(sql::records::<LawRow>(rows, work.place)?);
                }
            }
            LawFilter::Statuses { statuses, newest } => {
                let words: Vec<&str> = statuses.iter().map(|status| word(*status)).collect();
                let mut query = query();
                query.push(" AND x.status IN (");
                list(&mut query, &words);
                query.push(" ORDER BY x.id DESC LIMIT ");
                query.push_bind(newest.map_or(ALL, i64::from));
                laws = sql::records(query.build().fetch_all(&mut *work.tx).await, work.place)?;
            }
        }
        laws.sort_by_key(|law| law.id);
        Ok(laws)
    }

    async fn known(
        &mut self,
        fingerprints: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> Result<BTreeMap<String, VerdictKey>, StoreError> {
        let work = &mut self.read().await?;
        let mut known = BTreeMap::new();
        for piece in pieces(fingerprints) {
            let mut query = QueryBuilder::<Sqlite>::new(sql::KNOWN_HEAD);
            query.push_bind(harness_config_hash);
            query.push(" AND sim_hash = ").push_bind(sim_hash);
            query.push(" AND law_fingerprint IN (");
            list(&mut query, piece);
            let rows = query.build().fetch_all(&mut *work.tx).await;
            for row in rows.map_err(|error| work.place.sql(error))? {
                let mut fields = Fields::new(&row, KEYS, 0);
                let law_fingerprint: String = fields.get()?;
                let key = VerdictKey {
                    law_fingerprint: law_fingerprint.clone(),
                    harness_config_hash: harness_config_hash.to_owned(),
                    sim_hash: sim_hash.to_owned(),
                    evaluation_id: fields.get()?,
                    verdict_digest: fields.get()?,
                };
                known.insert(law_fingerprint, key);
            }
        }
        Ok(known)
    }

    async fn attempts(&mut self, filter: AttemptFilter<'_>) -> Result<Vec<Attempt>, StoreError> {
        let work = &mut self.read().await?;
        let mut made = Vec::new();
        match filter {
            AttemptFilter::Law {
                fingerprint,
                harness_config_hash,
                sim_hash,
            } => {
                let query = sqlx::query(sql::ATTEMPTS_AT)
                    .bind(fingerprint)
                    .bind(harness_config_hash)
                    .bind(sim_hash);
                made = keyed_attempts(query.fetch_all(&mut *work.tx).await, work.place)?;
            }
            AttemptFilter::Run {
                run_id,
                law_ids,
                harness_config_hash,
            } => {
                let ids: BTreeSet<i64> = law_ids.iter().copied().collect();
                let ids: Vec<i64> = ids.into_iter().collect();
                for piece in pieces(&ids) {
                    let mut query = QueryBuilder::<Sqlite>::new(sql::ATTEMPTS_OF_HEAD);
                    query.push_bind(run_id);
                    query.push(" AND e.harness_config_hash = ");
                    query.push_bind(harness_config_hash);
                    query.push(" AND e.law_id IN (");
                    list(&mut query, piece);
                    let rows = query.build().fetch_all(&mut *work.tx).await;
                    made.extend(keyed_attempts(rows, work.place)?);
                }
            }
        }
        made.sort_by_key(|(id, _)| *id);
        Ok(made.into_iter().map(|(_, attempt)| attempt).collect())
    }

    async fn commit(&mut self, decisions: &[DecisionRow]) -> Result<(), StoreError> {
        let mut work = self.write().await?;
        if store_new(&mut work.tx, decisions)
            .await
            .map_err(|error| work.place.sql(error))?
        {
            return work.commit().await;
        }
        // One of them is there already. That is rare: one by one.
        work.undo().await?;
        let mut work = self.write().await?;
        for decision in decisions {
            let stored = stored_attempt(&mut work.tx, &decision.evaluation).await;
            match stored.map_err(|error| work.place.sql(error))? {
                Some(artifacts_json) => decision.agrees_with(&artifacts_json)?,
                None => {
                    store_new(&mut work.tx, std::slice::from_ref(decision))
                        .await
                        .map_err(|error| work.place.sql(error))?;
                }
            }
        }
        work.commit().await
    }

    async fn findings(&mut self, query: Query<'_>) -> Result<Vec<TestedLaw>, StoreError> {
        let (conn, place) = self.connection().await?;
        let rows = match query {
            Query::Tested {
                run,
                status,
                newest,
            } => {
                let statement = sqlx::query(AssertSqlSafe(sql::findings(status.is_some())))
                    .bind(&run.harness_hash)
                    .bind(&run.sim_hash)
                    .bind(run.id)
                    .bind(newest.map_or(ALL, i64::from));
                let statement = match status {
                    Some(status) => statement.bind(word(status)),
                    None => statement,
                };
                let mut rows = statement.fetch_all(conn).await;
                if let Ok(rows) = &mut rows {
                    rows.reverse();
                }
                rows
            }
            Query::Attempts { run, after, limit } => {
                sqlx::query(AssertSqlSafe(sql::evaluations()))
                    .bind(run.id)
                    .bind(after)
                    .bind(i64::from(limit))
                    .fetch_all(conn)
                    .await
            }
        };
        let rows = rows.map_err(|error| place.sql(error))?;
        rows.iter().map(finding).collect()
    }

    async fn tally(&mut self, run: &RunRow) -> Result<VerdictCounts, StoreError> {
        let work = &mut self.read().await?;
        let fault = |error| work.place.sql(error);
        let mut tally = VerdictCounts::default();
        let laws = sqlx::query(sql::LAWS_TALLY)
            .bind(run.id)
            .fetch_all(&mut *work.tx)
            .await
            .map_err(fault)?;
        for row in laws {
            let mut fields = Fields::new(&row, LAWS_TALLY, 0);
            fields.key()?;
            tally.laws.insert(fields.get()?, fields.get()?);
        }
        let verdicts = sqlx::query(sql::VERDICTS_TALLY)
            .bind(&run.harness_hash)
            .bind(&run.sim_hash)
            .bind(run.id)
            .fetch_all(&mut *work.tx)
            .await
            .map_err(fault)?;
        for row in verdicts {
            let mut fields = Fields::new(&row, VERDICTS_TALLY, 0);
            fields.key()?;
            let status: Status = fields.get()?;
            let verdict = (word(status).to_owned(), fields.get()?);
            tally.verdicts.insert(verdict, fields.get()?);
        }
        let evaluations: i64 = sqlx::query_scalar(sql::EVALUATIONS_TALLY)
            .bind(run.id)
            .fetch_one(&mut *work.tx)
            .await
            .map_err(fault)?;
        tally.evaluations = evaluations.cast_unsigned();
        Ok(tally)
    }
}

const KEYS: Table = Table {
    name: "verdict_keys",
    columns: &["law_fingerprint", "evaluation_id", "verdict_digest"],
};
const LAWS_TALLY: Table = Table {
    name: "laws",
    columns: &["id", "status", "count"],
};
const VERDICTS_TALLY: Table = Table {
    name: "law_evaluations",
    columns: &["id", "status", "reason_code", "count"],
};
const ATTEMPTS: Table = Table {
    name: "law_evaluations",
    columns: &["id", "law_id", "seed", "status"],
};

/// A list without repetitions.
fn distinct(texts: &[String]) -> Vec<&str> {
    let texts: BTreeSet<&str> = texts.iter().map(String::as_str).collect();
    texts.into_iter().collect()
}

/// Adds a list of values and the closing parenthesis.
fn list<T>(query: &mut QueryBuilder<Sqlite>, values: &[T])
where
    for<'t> &'t T: Encode<'t, Sqlite> + Type<Sqlite>,
{
    let mut list = query.separated(", ");
    for value in values {
        list.push_bind(value);
    }
    list.push_unseparated(")");
}

fn keyed_attempts(
    rows: Result<Vec<SqliteRow>, sqlx::Error>,
    place: &DatabaseLocation,
) -> Result<Vec<(i64, Attempt)>, StoreError> {
    let rows = rows.map_err(|error| place.sql(error))?;
    let attempt = |row: &SqliteRow| {
        let mut fields = Fields::new(row, ATTEMPTS, 0);
        let id = fields.key()?;
        let attempt = Attempt {
            law_id: fields.get()?,
            seed: fields.get()?,
            status: fields.get()?,
        };
        Ok((id, attempt))
    };
    rows.iter().map(attempt).collect()
}

fn finding(row: &SqliteRow) -> Result<TestedLaw, StoreError> {
    let evaluation = LawRow::TABLE.columns.len();
    let counterexample = evaluation + EvaluationRow::TABLE.columns.len();
    let evaluation: EvaluationRow = record(row, evaluation)?;
    let counterexample = evaluation
        .counterexample_id
        .map(|_| record::<CounterexampleRow>(row, counterexample))
        .transpose()?;
    Ok(TestedLaw {
        law: record(row, 0)?,
        evaluation,
        counterexample,
    })
}
