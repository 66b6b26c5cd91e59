//! The rows that are stored in one transaction: the plan of an iteration, a group of decisions.

use std::collections::{BTreeMap, BTreeSet};

use popper_discovery::store::{
    CounterexampleRow, DecisionRow, EvaluationRow, IterationPlan, LawRow, LawStatus, ProvedClaim,
    StoreError, VerdictKey,
};
use popper_harness::decide::Status;

use crate::counts::{CountChanges, affected_laws};
use crate::driver::Driver;
use crate::sql;
use crate::statement::Statement;
use crate::table::{Fields, Keys, Record as _, Table, signed, word};

/// Stores the plan of an iteration.
pub(crate) async fn store_plan(
    db: &mut impl Driver,
    plan: &IterationPlan,
) -> Result<(), StoreError> {
    let ids = db.next_ids(LawRow::TABLE.name, plan.laws.len()).await?;
    let mut changes = CountChanges::default();
    let mut changed: BTreeSet<i64> = plan.moved.iter().map(|(id, _)| *id).collect();
    changes.remove(db, &changed).await?;
    changed.extend(&ids);
    let keys = ids.into_iter().map(|id| Keys { id, link: None });
    let laws: Vec<(Keys, &LawRow)> = keys.zip(&plan.laws).collect();
    sql::insert(db, &laws, "").await?;
    move_laws(db, plan.moved.iter().copied()).await?;
    sql::insert_keys(db, &plan.keys).await?;
    changes.insert(db, &changed).await?;
    changes.store(db).await?;
    let planned = Statement::new(sql::PLANNED)
        .bind(&plan.prompt_hash)
        .bind(&plan.summary_json)
        .bind(plan.iteration_id);
    db.execute(planned).await?;
    Ok(())
}

/// Gives each law the last status of the list.
async fn move_laws(
    db: &mut impl Driver,
    moved: impl Iterator<Item = (i64, LawStatus)>,
) -> Result<(), StoreError> {
    let last: BTreeMap<i64, LawStatus> = moved.collect();
    let mut by_status: BTreeMap<LawStatus, Vec<i64>> = BTreeMap::new();
    for (id, status) in last {
        by_status.entry(status).or_default().push(id);
    }
    for (status, ids) in by_status {
        sql::move_laws(db, word(status), &ids).await?;
    }
    Ok(())
}

/// The artifacts of an attempt with the same run, law, configuration and seed.
pub(crate) async fn stored_attempt(
    db: &mut impl Driver,
    evaluation: &EvaluationRow,
) -> Result<Option<String>, StoreError> {
    let statement = Statement::new(sql::STORED_ATTEMPT)
        .bind(evaluation.run_id)
        .bind(evaluation.law_id)
        .bind(&evaluation.harness_config_hash)
        .bind(signed(evaluation.seed));
    let rows = db.fetch(statement).await?;
    let mut fields = rows.first().map(|row| Fields::new(row, STORED, 0));
    fields.as_mut().map(Fields::get).transpose()
}

const STORED: Table = Table {
    name: "law_evaluations",
    columns: &["artifacts_json"],
};

/// Stores new decisions. `false` if one is stored already, or if two are equal: the transaction must then be rolled back.
pub(crate) async fn store_new(
    db: &mut impl Driver,
    decisions: &[DecisionRow],
) -> Result<bool, StoreError> {
    let affected = affected_laws(db, decisions).await?;
    let mut changes = CountChanges::default();
    changes.remove(db, &affected).await?;
    let refuted = decisions
        .iter()
        .filter(|decision| decision.counterexample.is_some());
    let next = db.next_ids(CounterexampleRow::TABLE.name, refuted.count());
    let mut next = next.await?.into_iter();
    let ids = db
        .next_ids(EvaluationRow::TABLE.name, decisions.len())
        .await?;
    let mut evaluations = Vec::new();
    let mut counterexamples = Vec::new();
    let mut keys = LastKeys::default();
    let mut claims = SmallestClaims::default();
    for (id, decision) in ids.into_iter().zip(decisions) {
        let mut link = None;
        if let Some(row) = &decision.counterexample {
            link = next.next();
            let own = Keys {
                id: link.unwrap_or_default(),
                link: Some(id),
            };
            counterexamples.push((own, row));
        }
        evaluations.push((Keys { id, link }, &decision.evaluation));
        changes.attempt(decision.evaluation.run_id);
        if let Some(key) = &decision.key {
            keys.add(key, id, decision.evaluation.status);
        }
        if let Some(claim) = &decision.claim {
            claims.add(claim, id);
        }
    }
    let inserted = sql::insert(db, &evaluations, sql::SKIP_ATTEMPT).await?;
    if inserted != evaluations.len() as u64 {
        return Ok(false);
    }
    sql::insert(db, &counterexamples, "").await?;
    let moved = decisions
        .iter()
        .map(|decision| (decision.evaluation.law_id, decision.law_status));
    move_laws(db, moved).await?;
    sql::insert_keys(db, &keys.rows()).await?;
    sql::insert_claims(db, &claims.rows()).await?;
    changes.insert(db, &affected).await?;
    changes.store(db).await?;
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

/// The row of each proved claim after a group: the first proof with the smallest H.
#[derive(Default)]
struct SmallestClaims<'a>(BTreeMap<(&'a str, &'a str, &'a str), (&'a ProvedClaim, i64)>);

impl<'a> SmallestClaims<'a> {
    fn add(&mut self, claim: &'a ProvedClaim, id: i64) {
        let triple = (
            claim.claim_fingerprint.as_str(),
            claim.harness_config_hash.as_str(),
            claim.sim_hash.as_str(),
        );
        let first = self.0.entry(triple).or_insert((claim, id));
        if claim.proved_h < first.0.proved_h {
            *first = (claim, id);
        }
    }

    fn rows(&self) -> Vec<ProvedClaim> {
        let row = |(claim, id): &(&ProvedClaim, i64)| ProvedClaim {
            evaluation_id: *id,
            ..(*claim).clone()
        };
        self.0.values().map(row).collect()
    }
}
