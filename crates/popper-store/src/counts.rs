//! The table `run_counts`: the numbers of laws and attempts of each run.
//!
//! A change of laws or keys counts the laws before and after it, and stores the differences in the same transaction.

use std::collections::{BTreeMap, BTreeSet};

use popper_discovery::store::{DecisionRow, LawStatus, RunRow, StoreError, VerdictCounts};
use popper_harness::decide::Status;

use crate::driver::{Driver, Row};
use crate::sql::{self, pieces};
use crate::statement::Statement;
use crate::table::{Fields, Table, from_word, word};

/// The `status` of the row with the number of attempts.
const ATTEMPTS: &str = "attempts";

/// A run, a status and a reason: the key of a row.
type CountKey = (i64, String, String);

/// Changes of rows of `run_counts`.
#[derive(Debug, Default)]
pub(crate) struct CountChanges(BTreeMap<CountKey, i64>);

impl CountChanges {
    /// Takes laws out of the counts as they are now, before they change.
    pub(crate) async fn remove(
        &mut self,
        db: &mut impl Driver,
        law_ids: &BTreeSet<i64>,
    ) -> Result<(), StoreError> {
        self.laws(db, law_ids, -1).await
    }

    /// Puts laws into the counts as they are now, after they changed.
    pub(crate) async fn insert(
        &mut self,
        db: &mut impl Driver,
        law_ids: &BTreeSet<i64>,
    ) -> Result<(), StoreError> {
        self.laws(db, law_ids, 1).await
    }

    async fn laws(
        &mut self,
        db: &mut impl Driver,
        law_ids: &BTreeSet<i64>,
        sign: i64,
    ) -> Result<(), StoreError> {
        let ids: Vec<i64> = law_ids.iter().copied().collect();
        for piece in pieces(&ids) {
            let query = Statement::new(sql::COUNTED_HEAD)
                .push("l.id IN ")
                .push_list(piece.iter().copied())
                .push(sql::COUNTED_TAIL);
            self.add(&db.fetch(query).await?, sign)?;
        }
        Ok(())
    }

    /// Counts an attempt of a run.
    pub(crate) fn attempt(&mut self, run_id: i64) {
        self.change((run_id, ATTEMPTS.into(), String::new()), 1);
    }

    /// Adds the rows of [`sql::COUNTED_HEAD`].
    fn add(&mut self, rows: &[Row], sign: i64) -> Result<(), StoreError> {
        for row in rows {
            let mut fields = Fields::new(row, COUNTED, 0);
            let run_id: i64 = fields.get()?;
            let status: String = fields.get()?;
            let verdict: Option<String> = fields.get()?;
            let reason: Option<String> = fields.get()?;
            let n = sign * fields.get::<i64>()?;
            self.change((run_id, status, String::new()), n);
            if let Some(verdict) = verdict {
                self.change((run_id, verdict, reason.unwrap_or_default()), n);
            }
        }
        Ok(())
    }

    fn change(&mut self, key: CountKey, n: i64) {
        *self.0.entry(key).or_default() += n;
    }

    /// Stores the changes.
    pub(crate) async fn store(self, db: &mut impl Driver) -> Result<(), StoreError> {
        let changed: Vec<(CountKey, i64)> = self.0.into_iter().filter(|(_, n)| *n != 0).collect();
        for piece in pieces(&changed) {
            let values = piece.iter().map(|((run_id, status, reason), n)| {
                vec![(*run_id).into(), status.into(), reason.into(), (*n).into()]
            });
            let statement = Statement::new(sql::ADD_COUNTS_HEAD).push_rows(values);
            db.execute(statement.push(sql::ADD_COUNTS_TAIL)).await?;
        }
        Ok(())
    }
}

/// The laws that decisions may move from one count to another: their own, and those of other runs with the same keys.
pub(crate) async fn affected_laws(
    db: &mut impl Driver,
    decisions: &[DecisionRow],
) -> Result<BTreeSet<i64>, StoreError> {
    let own = decisions.iter().map(|decision| decision.evaluation.law_id);
    let mut affected: BTreeSet<i64> = own.collect();
    let mut keys: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for key in decisions
        .iter()
        .filter_map(|decision| decision.key.as_ref())
    {
        let hashes = (key.harness_config_hash.as_str(), key.sim_hash.as_str());
        keys.entry(hashes).or_default().insert(&key.law_fingerprint);
    }
    for ((config, universe), fingerprints) in keys {
        let fingerprints: Vec<&str> = fingerprints.into_iter().collect();
        for piece in pieces(&fingerprints) {
            let query = Statement::new(sql::LAWS_AT_HEAD)
                .bind(config)
                .bind(universe)
                .push_list(piece.iter().copied());
            for row in db.fetch(query).await? {
                affected.insert(Fields::new(&row, AFFECTED, 0).get()?);
            }
        }
    }
    Ok(affected)
}

/// The counts of a run.
pub(crate) async fn read(db: &mut impl Driver, run: &RunRow) -> Result<VerdictCounts, StoreError> {
    let mut counts = VerdictCounts::default();
    if db.schema() < sql::COUNTS_SCHEMA {
        return count(db, run).await;
    }
    let rows = db.fetch(Statement::new(sql::COUNTS).bind(run.id)).await?;
    for row in rows {
        let mut fields = Fields::new(&row, COUNTS, 0);
        fields.key()?;
        let status: String = fields.get()?;
        let reason: String = fields.get()?;
        let n: u64 = fields.get()?;
        enter(&mut counts, &status, reason, n);
    }
    Ok(counts)
}

/// The counts of a run in a database of schema 1, which has no table of them.
async fn count(db: &mut impl Driver, run: &RunRow) -> Result<VerdictCounts, StoreError> {
    let mut changes = CountChanges::default();
    let query = Statement::new(sql::COUNTED_HEAD)
        .push("l.run_id = ")
        .push_bind(run.id)
        .push(sql::COUNTED_TAIL);
    changes.add(&db.fetch(query).await?, 1)?;
    let mut counts = VerdictCounts::default();
    for ((_, status, reason), n) in changes.0 {
        enter(&mut counts, &status, reason, n.cast_unsigned());
    }
    let attempts = Statement::new(sql::EVALUATIONS_TALLY).bind(run.id);
    for row in db.fetch(attempts).await? {
        counts.evaluations = Fields::new(&row, ATTEMPTS_TALLY, 0).get()?;
    }
    Ok(counts)
}

fn enter(counts: &mut VerdictCounts, status: &str, reason: String, n: u64) {
    if n == 0 {
        return;
    }
    if let Some(status) = from_word::<LawStatus>(status) {
        counts.laws.insert(status, n);
    } else if let Some(status) = from_word::<Status>(status) {
        let reason = (!reason.is_empty()).then_some(reason);
        counts.verdicts.insert((word(status).to_owned(), reason), n);
    } else if status == ATTEMPTS {
        counts.evaluations = n;
    }
}

const COUNTED: Table = Table {
    name: "laws",
    columns: &["run_id", "status", "verdict", "reason_code", "count"],
};
const AFFECTED: Table = Table {
    name: "laws",
    columns: &["id"],
};
const COUNTS: Table = Table {
    name: "run_counts",
    columns: &["run_id", "status", "reason", "n"],
};
const ATTEMPTS_TALLY: Table = Table {
    name: "law_evaluations",
    columns: &["count"],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Mode;
    use crate::driver::sqlite::{Access, Sqlite, Tuning};

    const PLAN: Table = Table {
        name: "plan",
        columns: &["id", "parent", "notused", "detail"],
    };

    #[tokio::test]
    async fn laws_of_a_key_are_found_by_their_fingerprints() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("popper.db");
        let opened = Sqlite::open(&path, Access::Write, Tuning::default()).await;
        let mut database = opened.unwrap();
        database.begin(Mode::Read).await.unwrap();
        let query = Statement::new(format!("EXPLAIN QUERY PLAN {}", sql::LAWS_AT_HEAD))
            .bind("config")
            .bind("universe")
            .push_list(["a", "b"]);
        let mut details = Vec::new();
        for row in database.fetch(query).await.unwrap() {
            let mut fields = Fields::new(&row, PLAN, 0);
            for _ in 0..3 {
                fields.get::<i64>().unwrap();
            }
            details.push(fields.get::<String>().unwrap());
        }
        assert!(
            details
                .iter()
                .any(|detail| detail.contains("(run_id=? AND law_fingerprint=?)")),
            "{details:?}"
        );
    }
}
