//! The answers of the queries that do not select whole rows.

use popper_discovery::store::{
    Attempt, CounterexampleRow, EvaluationRow, LawRow, ProvedClaim, StoreError, TestedLaw,
    VerdictKey,
};

use crate::driver::Row;
use crate::table::{Fields, Record as _, Table, record};

const KEYS: Table = Table {
    name: "verdict_keys",
    columns: &["law_fingerprint", "evaluation_id", "verdict_digest"],
};
const CLAIMS: Table = Table {
    name: "proved_claims",
    columns: &[
        "claim_fingerprint",
        "proved_h",
        "evaluation_id",
        "verdict_digest",
    ],
};
const FINGERPRINTS: Table = Table {
    name: "laws",
    columns: &["law_fingerprint"],
};
const ATTEMPTS: Table = Table {
    name: "law_evaluations",
    columns: &["id", "law_id", "seed", "status"],
};

/// Reads a row of [`KNOWN_FINGERPRINTS_HEAD`](crate::sql::KNOWN_FINGERPRINTS_HEAD).
pub(crate) fn fingerprint(row: &Row) -> Result<String, StoreError> {
    Fields::new(row, FINGERPRINTS, 0).get()
}

/// Reads a row of [`KNOWN_HEAD`](crate::sql::KNOWN_HEAD) with these hashes.
pub(crate) fn key(
    row: &Row,
    harness_config_hash: &str,
    sim_hash: &str,
) -> Result<VerdictKey, StoreError> {
    let mut fields = Fields::new(row, KEYS, 0);
    Ok(VerdictKey {
        law_fingerprint: fields.get()?,
        harness_config_hash: harness_config_hash.to_owned(),
        sim_hash: sim_hash.to_owned(),
        evaluation_id: fields.get()?,
        verdict_digest: fields.get()?,
    })
}

/// Reads a row of [`PROVED_HEAD`](crate::sql::PROVED_HEAD) with these hashes.
pub(crate) fn proved_claim(
    row: &Row,
    harness_config_hash: &str,
    sim_hash: &str,
) -> Result<ProvedClaim, StoreError> {
    let mut fields = Fields::new(row, CLAIMS, 0);
    Ok(ProvedClaim {
        claim_fingerprint: fields.get()?,
        harness_config_hash: harness_config_hash.to_owned(),
        sim_hash: sim_hash.to_owned(),
        proved_h: fields.get()?,
        evaluation_id: fields.get()?,
        verdict_digest: fields.get()?,
    })
}

/// Reads an attempt with its key.
pub(crate) fn attempt(row: &Row) -> Result<(i64, Attempt), StoreError> {
    let mut fields = Fields::new(row, ATTEMPTS, 0);
    let id = fields.key()?;
    let attempt = Attempt {
        law_id: fields.get()?,
        seed: fields.get()?,
        status: fields.get()?,
    };
    Ok((id, attempt))
}

/// Reads a row of the SELECT for findings.
pub(crate) fn finding(row: &Row) -> Result<TestedLaw, StoreError> {
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
