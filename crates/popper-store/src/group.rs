//! The rows that are stored in one transaction: the plan of an iteration, a group of decisions.

use std::collections::BTreeMap;

use popper_discovery::store::{
    CounterexampleRow, DecisionRow, EvaluationRow, IterationPlan, LawRow, LawStatus, VerdictKey,
};
use popper_harness::decide::Status;
use sqlx::sqlite::SqliteConnection;

use crate::sql;
use crate::table::{Keys, signed, word};

/// Stores the plan of an iteration.
pub(crate) async fn store_plan(
    conn: &mut SqliteConnection,
    plan: &IterationPlan,
) -> Result<(), sqlx::Error> {
    let first = sql::last_id::<LawRow>(&mut *conn).await? + 1;
    let laws: Vec<(Keys, &LawRow)> = (first..)
        .map(|id| Keys { id, link: None })
        .zip(&plan.laws)
        .collect();
    sql::insert(&mut *conn, &laws, "").await?;
    move_laws(&mut *conn, plan.moved.iter().copied()).await?;
    sqlx::query(sql::PLANNED)
        .bind(&plan.prompt_hash)
        .bind(&plan.summary_json)
        .bind(plan.iteration_id)
        .execute(conn)
        .await?;
    Ok(())
}

/// Gives each law the last status of the list.
async fn move_laws(
    conn: &mut SqliteConnection,
    moved: impl Iterator<Item = (i64, LawStatus)>,
) -> Result<(), sqlx::Error> {
    let last: BTreeMap<i64, LawStatus> = moved.collect();
    let mut by_status: BTreeMap<LawStatus, Vec<i64>> = BTreeMap::new();
    for (id, status) in last {
        by_status.entry(status).or_default().push(id);
    }
    for (status, ids) in by_status {
        sql::move_laws(&mut *conn, word(status), &ids).await?;
    }
    Ok(())
}

/// The artifacts of an attempt with the same run, law, configuration and seed.
pub(crate) async fn stored_attempt(
    conn: &mut SqliteConnection,
    evaluation: &EvaluationRow,
) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar(sql::STORED_ATTEMPT)
        .bind(evaluation.run_id)
        .bind(evaluation.law_id)
        .bind(&evaluation.harness_config_hash)
        .bind(signed(evaluation.seed))
        .fetch_optional(conn)
        .await
}

/// Stores new decisions. `false` if one is stored already, or if two are equal: the transaction must then be rolled back.
pub(crate) async fn store_new(
    conn: &mut SqliteConnection,
    decisions: &[DecisionRow],
) -> Result<bool, sqlx::Error> {
    let first = sql::last_id::<EvaluationRow>(&mut *conn).await? + 1;
    let mut next = sql::last_id::<CounterexampleRow>(&mut *conn).await? + 1;
    let mut evaluations = Vec::new();
    let mut counterexamples = Vec::new();
    let mut keys = LastKeys::default();
    for (id, decision) in (first..).zip(decisions) {
        let mut link = None;
        if let Some(row) = &decision.counterexample {
            let own = Keys {
                id: next,
                link: Some(id),
            };
            counterexamples.push((own, row));
            link = Some(next);
            next += 1;
        }
        evaluations.push((Keys { id, link }, &decision.evaluation));
        if let Some(key) = &decision.key {
            keys.add(key, id, decision.evaluation.status);
        }
    }
    let inserted = sql::insert(&mut *conn, &evaluations, sql::SKIP_ATTEMPT).await?;
    if inserted != evaluations.len() as u64 {
        return Ok(false);
    }
    sql::insert(&mut *conn, &counterexamples, "").await?;
    let moved = decisions
        .iter()
        .map(|decision| (decision.evaluation.law_id, decision.law_status));
    move_laws(&mut *conn, moved).await?;
    sql::insert_keys(conn, &keys.rows()).await?;
    Ok(true)
}

/// The row of each key after a group: the first FAIL, else the last attempt.
#[derive(Default)]
struct LastKeys<'a>(BTreeMap<(&'a str, &'a str, &'a str), (&'a VerdictKey, i64, Status)>);

impl<'a> LastKeys<'a> {
    fn add(&mut self, key: &'a VerdictKey, id: i64, status: Status) {
        let triple = (
            key.law_fingerprint.as_str(),
            key.harness_config_hash.as_str(),
            key.sim_hash.as_str(),
        );
        let stands = self
            .0
            .get(&triple)
            .is_some_and(|(_, _, status)| *status == Status::Fail);
        if !stands {
            self.0.insert(triple, (key, id, status));
        }
    }

    fn rows(&self) -> Vec<VerdictKey> {
        let row = |(key, id, _): &(&VerdictKey, i64, Status)| VerdictKey {
            evaluation_id: *id,
            ..(*key).clone()
        };
        self.0.values().map(row).collect()
    }
}
