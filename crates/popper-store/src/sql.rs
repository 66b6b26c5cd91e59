//! The statements for rows, for both databases. What differs between them is in `driver`, and the tables are in `migrations`.

use popper_discovery::store::{
    CallRow, CounterexampleRow, EvaluationRow, Iteration, LawRow, Pick, ProvedClaim, RunRow,
    StoreError, VerdictKey,
};

use crate::driver::{Driver, Row};
use crate::statement::Statement;
use crate::table::{Keys, Record, record, signed};

/// Rows in one INSERT, and values in one list. Smaller rests are cut into powers of two, so that few statements are prepared.
const CHUNK: usize = 128;

pub(crate) const KNOWN_HEAD: &str = "SELECT law_fingerprint, evaluation_id, verdict_digest FROM verdict_keys \
     WHERE harness_config_hash = $1 AND sim_hash = $2 AND law_fingerprint IN ";
pub(crate) const PROVED_HEAD: &str = "SELECT claim_fingerprint, proved_h, evaluation_id, verdict_digest FROM proved_claims \
     WHERE harness_config_hash = $1 AND sim_hash = $2 AND claim_fingerprint IN ";
pub(crate) const ATTEMPTS_OF_HEAD: &str = "SELECT e.id, e.law_id, e.seed, e.status FROM law_evaluations e \
     WHERE e.run_id = $1 AND e.harness_config_hash = $2 AND e.law_id IN ";
/// The laws of a condition by run, status, verdict and reason, with their number.
pub(crate) const COUNTED_HEAD: &str = "SELECT l.run_id, l.status, e.status, e.reason_code, COUNT(*) FROM laws l \
     JOIN runs r ON r.id = l.run_id \
     LEFT JOIN verdict_keys k ON l.status = 'tested' AND k.law_fingerprint = l.law_fingerprint \
     AND k.harness_config_hash = r.harness_hash AND k.sim_hash = r.sim_hash \
     LEFT JOIN law_evaluations e ON e.id = k.evaluation_id WHERE ";
pub(crate) const COUNTED_TAIL: &str = " GROUP BY l.run_id, l.status, e.status, e.reason_code";
/// The first schema with the table `run_counts`.
pub(crate) const COUNTS_SCHEMA: i64 = 2;
pub(crate) const COUNTS: &str =
    "SELECT run_id, status, reason, n FROM run_counts WHERE run_id = $1";
pub(crate) const ADD_COUNTS_HEAD: &str = "INSERT INTO run_counts (run_id, status, reason, n) ";
pub(crate) const ADD_COUNTS_TAIL: &str =
    " ON CONFLICT (run_id, status, reason) DO UPDATE SET n = run_counts.n + excluded.n";
/// Run by run, since laws have no index by fingerprint alone. Their status is not asked for: by its index all tested laws of a run
/// would be gone through.
pub(crate) const LAWS_AT_HEAD: &str = "SELECT l.id FROM runs r CROSS JOIN laws l \
     WHERE r.harness_hash = $1 AND r.sim_hash = $2 AND l.run_id = r.id AND l.law_fingerprint IN ";
pub(crate) const EVALUATIONS_TALLY: &str = "SELECT COUNT(*) FROM law_evaluations WHERE run_id = $1";
pub(crate) const KNOWN_FINGERPRINTS_HEAD: &str =
    "SELECT law_fingerprint FROM laws WHERE run_id = $1 AND law_fingerprint IN ";
/// Run by run, each by its indexes: an ORDER BY here would make `SQLite` go through all attempts, which are in that order already.
pub(crate) const ATTEMPTS_AT: &str = "SELECT e.id, e.law_id, e.seed, e.status FROM runs r \
     CROSS JOIN laws l CROSS JOIN law_evaluations e \
     WHERE r.sim_hash = $3 AND l.run_id = r.id AND l.law_fingerprint = $1 \
     AND e.run_id = r.id AND e.law_id = l.id AND e.harness_config_hash = $2";
pub(crate) const STORED_ATTEMPT: &str = "SELECT artifacts_json FROM law_evaluations \
     WHERE run_id = $1 AND law_id = $2 AND harness_config_hash = $3 AND seed = $4";
/// A FAIL is kept; any other verdict is replaced.
const REPLACE_KEY: &str = " ON CONFLICT (law_fingerprint, harness_config_hash, sim_hash) DO UPDATE SET \
     evaluation_id = excluded.evaluation_id, verdict_digest = excluded.verdict_digest \
     WHERE NOT EXISTS (SELECT 1 FROM law_evaluations e WHERE e.id = verdict_keys.evaluation_id AND e.status = 'FAIL')";
/// A proof with a smaller H replaces one with a greater H.
const REPLACE_CLAIM: &str = " ON CONFLICT (claim_fingerprint, harness_config_hash, sim_hash) DO UPDATE SET \
     proved_h = excluded.proved_h, evaluation_id = excluded.evaluation_id, verdict_digest = excluded.verdict_digest \
     WHERE excluded.proved_h < proved_claims.proved_h";
pub(crate) const SKIP_ATTEMPT: &str =
    " ON CONFLICT (run_id, law_id, harness_config_hash, seed) DO NOTHING";
pub(crate) const SET_RUN_CONFIG: &str = "UPDATE runs SET config_json = $1 WHERE id = $2";
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
    let ending = if with_status {
        " AND e.status = $5 ORDER BY l.id DESC LIMIT $4"
    } else {
        " ORDER BY l.id DESC LIMIT $4"
    };
    tested("laws l", ending)
}

/// The SELECT for findings with a rare verdict, which has the same values and answer as [`findings`]. It takes the attempts with the
/// verdict from their index, and their keys from another one that only [`RARE_SCHEMA`] has, where the other one reads laws until it
/// has found enough.
pub(crate) fn rare_findings() -> String {
    let picked = "(SELECT l.id FROM runs r CROSS JOIN law_evaluations e CROSS JOIN verdict_keys k CROSS JOIN laws l \
         WHERE r.harness_hash = $1 AND r.sim_hash = $2 AND e.run_id = r.id AND e.status = $5 \
         AND k.evaluation_id = e.id AND k.harness_config_hash = $1 AND k.sim_hash = $2 \
         AND l.run_id = $3 AND l.law_fingerprint = k.law_fingerprint \
         AND l.status = 'tested' ORDER BY l.id DESC LIMIT $4) p CROSS JOIN laws l";
    tested(picked, " AND l.id = p.id ORDER BY l.id DESC")
}

/// The first schema with an index of keys by attempt.
pub(crate) const RARE_SCHEMA: i64 = 3;

/// The SELECT for a page of the findings.
pub(crate) fn tested_page() -> String {
    tested("laws l", " AND l.id > $4 ORDER BY l.id LIMIT $5")
}

/// The SELECT for findings with this source of laws and this ending.
fn tested(laws: &str, ending: &str) -> String {
    format!(
        "SELECT {}, {}, {} FROM {laws} \
         JOIN verdict_keys k ON k.law_fingerprint = l.law_fingerprint AND k.harness_config_hash = $1 AND k.sim_hash = $2 \
         JOIN law_evaluations e ON e.id = k.evaluation_id \
         LEFT JOIN counterexamples c ON c.id = e.counterexample_id \
         WHERE l.run_id = $3 AND l.status = 'tested'{ending}",
        LawRow::TABLE.select("l"),
        EvaluationRow::TABLE.select("e"),
        CounterexampleRow::TABLE.select("c"),
    )
}

/// The SELECT for the attempts of a run, a page at a time. The `+` keeps the databases from collecting and sorting all rows of the run
/// for each page.
pub(crate) fn evaluations() -> String {
    format!(
        "SELECT {}, {}, {} FROM law_evaluations e \
         JOIN laws l ON l.id = e.law_id \
         LEFT JOIN counterexamples c ON c.id = e.counterexample_id \
         WHERE +e.run_id = $1 AND e.id > $2 ORDER BY e.id LIMIT $3",
        LawRow::TABLE.select("l"),
        EvaluationRow::TABLE.select("e"),
        CounterexampleRow::TABLE.select("c"),
    )
}

/// The SELECT for a page of the laws of a run, with a `+` as in [`evaluations`].
pub(crate) fn law_page() -> String {
    rows_of::<LawRow>("WHERE +x.run_id = $1 AND x.id > $2 ORDER BY x.id LIMIT $3")
}

/// The SELECT for a page of the calls of a run.
pub(crate) fn call_page() -> String {
    rows_of::<CallRow>("WHERE x.run_id = $1 AND x.id > $2 ORDER BY x.id LIMIT $3")
}

/// The SELECT for a page of the iterations of a run, whose numbers are the keys.
pub(crate) fn iteration_page() -> String {
    rows_of::<Iteration>(
        "WHERE x.run_id = $1 AND x.iteration_index > $2 ORDER BY x.iteration_index LIMIT $3",
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
pub(crate) async fn insert<R: Record + Sync>(
    db: &mut impl Driver,
    rows: &[(Keys, &R)],
    ending: &str,
) -> Result<u64, StoreError> {
    let mut inserted = 0;
    for piece in pieces(rows) {
        let values = piece.iter().map(|(keys, row)| row.values(*keys));
        let statement = Statement::new(R::TABLE.insert()).push_rows(values);
        inserted += db.execute(statement.push(ending)).await?;
    }
    Ok(inserted)
}

/// Inserts one row under the next key and returns the key.
pub(crate) async fn insert_next<R: Record + Sync>(
    db: &mut impl Driver,
    row: &R,
    link: Option<i64>,
) -> Result<i64, StoreError> {
    let ids = db.next_ids(R::TABLE.name, 1).await?;
    let id = ids.first().copied().unwrap_or_default();
    insert(db, &[(Keys { id, link }, row)], "").await?;
    Ok(id)
}

/// Inserts keys, or moves them. No key may come twice.
pub(crate) async fn insert_keys(
    db: &mut impl Driver,
    keys: &[VerdictKey],
) -> Result<(), StoreError> {
    for piece in pieces(keys) {
        let values = piece.iter().map(|key| {
            vec![
                (&key.law_fingerprint).into(),
                (&key.harness_config_hash).into(),
                (&key.sim_hash).into(),
                key.evaluation_id.into(),
                (&key.verdict_digest).into(),
            ]
        });
        let statement = Statement::new(
            "INSERT INTO verdict_keys \
             (law_fingerprint, harness_config_hash, sim_hash, evaluation_id, verdict_digest) ",
        );
        let statement = statement.push_rows(values).push(REPLACE_KEY);
        db.execute(statement).await?;
    }
    Ok(())
}

/// Inserts proved claims, or moves them to a proof with a smaller H. No claim may come twice.
pub(crate) async fn insert_claims(
    db: &mut impl Driver,
    claims: &[ProvedClaim],
) -> Result<(), StoreError> {
    for piece in pieces(claims) {
        let values = piece.iter().map(|claim| {
            vec![
                (&claim.claim_fingerprint).into(),
                (&claim.harness_config_hash).into(),
                (&claim.sim_hash).into(),
                signed(claim.proved_h).into(),
                claim.evaluation_id.into(),
                (&claim.verdict_digest).into(),
            ]
        });
        let statement = Statement::new(
            "INSERT INTO proved_claims \
             (claim_fingerprint, harness_config_hash, sim_hash, proved_h, evaluation_id, verdict_digest) ",
        );
        let statement = statement.push_rows(values).push(REPLACE_CLAIM);
        db.execute(statement).await?;
    }
    Ok(())
}

/// Gives laws a status.
pub(crate) async fn move_laws(
    db: &mut impl Driver,
    status: &'static str,
    ids: &[i64],
) -> Result<(), StoreError> {
    for piece in pieces(ids) {
        let statement = Statement::new("UPDATE laws SET status = $1 WHERE id IN ").bind(status);
        db.execute(statement.push_list(piece.iter().copied()))
            .await?;
    }
    Ok(())
}

/// The rows of an answer, all of one table.
pub(crate) fn records<R: Record>(rows: &[Row]) -> Result<Vec<R>, StoreError> {
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
