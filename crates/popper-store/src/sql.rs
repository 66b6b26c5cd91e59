//! The statements for rows. Pragmas are in `database`, and the tables in `migrations`.

use popper_discovery::store::{
    CallRow, CounterexampleRow, EvaluationRow, Iteration, LawRow, Pick, RunRow, StoreError,
    VerdictKey,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, QueryBuilder, Sqlite};

use crate::location::DatabaseLocation;
use crate::table::{Keys, Record, record};

/// Rows in one INSERT, and values in one list. Smaller rests are cut into powers of two, so that few statements are prepared.
const CHUNK: usize = 128;

pub(crate) const KNOWN_HEAD: &str = "SELECT law_fingerprint, evaluation_id, verdict_digest FROM verdict_keys \
     WHERE harness_config_hash = ";
pub(crate) const ATTEMPTS_OF_HEAD: &str =
    "SELECT e.id, e.law_id, e.seed, e.status FROM law_evaluations e WHERE e.run_id = ";
pub(crate) const LAWS_TALLY: &str =
    "SELECT MIN(id), status, COUNT(*) FROM laws WHERE run_id = $1 GROUP BY status";
pub(crate) const VERDICTS_TALLY: &str = "SELECT MIN(e.id), e.status, e.reason_code, COUNT(*) FROM laws l \
     JOIN verdict_keys k ON k.law_fingerprint = l.law_fingerprint AND k.harness_config_hash = $1 AND k.sim_hash = $2 \
     JOIN law_evaluations e ON e.id = k.evaluation_id \
     WHERE l.run_id = $3 AND l.status = 'tested' GROUP BY e.status, e.reason_code";
pub(crate) const EVALUATIONS_TALLY: &str = "SELECT COUNT(*) FROM law_evaluations WHERE run_id = $1";
pub(crate) const FINGERPRINTS: &str = "SELECT law_fingerprint FROM laws WHERE run_id = $1";
/// Run by run, each by its indexes: an ORDER BY here would make `SQLite` go through all attempts, which are in that order already.
pub(crate) const ATTEMPTS_AT: &str = "SELECT e.id, e.law_id, e.seed, e.status FROM runs r \
     CROSS JOIN laws l CROSS JOIN law_evaluations e \
     WHERE r.sim_hash = $3 AND l.run_id = r.id AND l.law_fingerprint = $1 \
     AND e.run_id = r.id AND e.law_id = l.id AND e.harness_config_hash = $2";
pub(crate) const STORED_ATTEMPT: &str = "SELECT artifacts_json FROM law_evaluations \
     WHERE run_id = $1 AND law_id = $2 AND harness_config_hash = $3 AND seed = $4";
/// A FAIL is kept; any other verdict is replaced.
pub(crate) const REPLACE_KEY: &str = " ON CONFLICT (law_fingerprint, harness_config_hash, sim_hash) DO UPDATE SET \
     evaluation_id = excluded.evaluation_id, verdict_digest = excluded.verdict_digest \
     WHERE NOT EXISTS (SELECT 1 FROM law_evaluations e WHERE e.id = verdict_keys.evaluation_id AND e.status = 'FAIL')";
pub(crate) const SKIP_ATTEMPT: &str =
    " ON CONFLICT (run_id, law_id, harness_config_hash, seed) DO NOTHING";
pub(crate) const SET_ITERATION: &str = "UPDATE iterations SET status = $1, completed_at = COALESCE($2, completed_at), \
     summary_json = COALESCE($3, summary_json) WHERE id = $4";
pub(crate) const PLANNED: &str =
    "UPDATE iterations SET prompt_hash = $1, summary_json = $2 WHERE id = $3";

/// A SELECT of whole rows with this ending.
pub(crate) fn rows_of<R: Record>(ending: &str) -> String {
    let table = R::TABLE;
    format!(
        "SELECT {} FROM {} x {ending}",
        table.select("x"),
        table.name
    )
}

/// The SELECT for findings, the latest first, with a verdict as the fifth value or without.
pub(crate) fn findings(with_status: bool) -> String {
    let status = if with_status {
        " AND e.status = $5"
    } else {
        ""
    };
    format!(
        "SELECT {}, {}, {} FROM laws l \
         JOIN verdict_keys k ON k.law_fingerprint = l.law_fingerprint AND k.harness_config_hash = $1 AND k.sim_hash = $2 \
         JOIN law_evaluations e ON e.id = k.evaluation_id \
         LEFT JOIN counterexamples c ON c.id = e.counterexample_id \
         WHERE l.run_id = $3 AND l.status = 'tested'{status} ORDER BY l.id DESC LIMIT $4",
        LawRow::TABLE.select("l"),
        EvaluationRow::TABLE.select("e"),
        CounterexampleRow::TABLE.select("c"),
    )
}

/// The SELECT for the attempts of a run, a page at a time.
pub(crate) fn evaluations() -> String {
    format!(
        "SELECT {}, {}, {} FROM law_evaluations e \
         JOIN laws l ON l.id = e.law_id \
         LEFT JOIN counterexamples c ON c.id = e.counterexample_id \
         WHERE e.run_id = $1 AND e.id > $2 ORDER BY e.id LIMIT $3",
        LawRow::TABLE.select("l"),
        EvaluationRow::TABLE.select("e"),
        CounterexampleRow::TABLE.select("c"),
    )
}

/// Cuts a list into chunks of few different sizes.
pub(crate) fn pieces<T>(mut list: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let fits = list.len().min(CHUNK);
        if fits == 0 {
            return None;
        }
        // The greatest power of two that fits.
        let (piece, rest) = list.split_at(1 << fits.ilog2());
        list = rest;
        Some(piece)
    })
}

/// Inserts rows and returns their number.
pub(crate) async fn insert<R: Record>(
    conn: &mut SqliteConnection,
    rows: &[(Keys, &R)],
    ending: &str,
) -> Result<u64, sqlx::Error> {
    let mut inserted = 0;
    for piece in pieces(rows) {
        let mut statement = QueryBuilder::<Sqlite>::new(R::TABLE.insert());
        statement.push_values(piece, |mut values, (keys, row)| {
            row.write(*keys, &mut values);
        });
        statement.push(ending);
        inserted += statement.build().execute(&mut *conn).await?.rows_affected();
    }
    Ok(inserted)
}

/// Inserts one row under the next key and returns the key.
pub(crate) async fn insert_next<R: Record>(
    conn: &mut SqliteConnection,
    row: &R,
    link: Option<i64>,
) -> Result<i64, sqlx::Error> {
    let id = last_id::<R>(&mut *conn).await? + 1;
    insert(conn, &[(Keys { id, link }, row)], "").await?;
    Ok(id)
}

/// The greatest key of a table, 0 if it is empty. There is one writer, so the next ones are free.
pub(crate) async fn last_id<R: Record>(conn: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let sql = format!("SELECT COALESCE(MAX(id), 0) FROM {}", R::TABLE.name);
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(conn).await
}

/// Inserts keys, or moves them. No key may come twice.
pub(crate) async fn insert_keys(
    conn: &mut SqliteConnection,
    keys: &[VerdictKey],
) -> Result<(), sqlx::Error> {
    for piece in pieces(keys) {
        let mut statement = QueryBuilder::<Sqlite>::new(
            "INSERT INTO verdict_keys \
             (law_fingerprint, harness_config_hash, sim_hash, evaluation_id, verdict_digest) ",
        );
        statement.push_values(piece, |mut values, key| {
            values
                .push_bind(&key.law_fingerprint)
                .push_bind(&key.harness_config_hash)
                .push_bind(&key.sim_hash)
                .push_bind(key.evaluation_id)
                .push_bind(&key.verdict_digest);
        });
        statement.push(REPLACE_KEY);
        statement.build().execute(&mut *conn).await?;
    }
    Ok(())
}

/// Gives laws a status.
pub(crate) async fn move_laws(
    conn: &mut SqliteConnection,
    status: &'static str,
    ids: &[i64],
) -> Result<(), sqlx::Error> {
    for piece in pieces(ids) {
        let mut statement = QueryBuilder::<Sqlite>::new("UPDATE laws SET status = ");
        statement.push_bind(status).push(" WHERE id IN (");
        let mut list = statement.separated(", ");
        for id in piece {
            list.push_bind(*id);
        }
        list.push_unseparated(")");
        statement.build().execute(&mut *conn).await?;
    }
    Ok(())
}

/// The rows of an answer, all of one table.
pub(crate) fn records<R: Record>(
    rows: Result<Vec<SqliteRow>, sqlx::Error>,
    place: &DatabaseLocation,
) -> Result<Vec<R>, StoreError> {
    let rows = rows.map_err(|error| place.sql(error))?;
    rows.iter().map(|row| record(row, 0)).collect()
}

/// The statements for rows of a run.
pub(crate) fn runs() -> String {
    rows_of::<RunRow>("ORDER BY x.id DESC")
}

pub(crate) fn iterations(pick: Pick) -> String {
    rows_of::<Iteration>(match pick {
        Pick::All => "WHERE x.run_id = $1 ORDER BY x.iteration_index",
        Pick::Index(_) => "WHERE x.run_id = $1 AND x.iteration_index = $2",
        Pick::Last => "WHERE x.run_id = $1 ORDER BY x.iteration_index DESC LIMIT 1",
    })
}

pub(crate) fn calls() -> String {
    rows_of::<CallRow>("WHERE x.run_id = $1 ORDER BY x.id")
}

pub(crate) fn calls_of_iteration() -> String {
    rows_of::<CallRow>("WHERE x.run_id = $1 AND x.iteration_id = $2 ORDER BY x.id")
}
