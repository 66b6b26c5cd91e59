//! The rows of a run do not depend on the evaluator, or on the order of its answers.

use std::pin::pin;

use futures_util::future::{self, BoxFuture};
use futures_util::stream::{self, Stream, StreamExt as _};
use popper_discovery::evaluator::{Batch, Evaluated, Evaluator, LocalEvaluator, Outcome};
use popper_discovery::store::{LawStatus, Query, Store as _};
use popper_discovery::{
    Error, EvaluatorError, LoopConfig, MemoryStore, Observer, RunEnd, RunSelector, Unobserved,
};
use popper_harness::decide::Status;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use crate::scripted::{Scripted, open, quick};

fn config() -> LoopConfig {
    let mut config = LoopConfig::default();
    config.test = 6;
    config
}

/// The rows of three iterations.
async fn rows(evaluator: impl Evaluator) -> Result<MemoryStore, Error> {
    let store = MemoryStore::default();
    let discovery = open(store, quick(), &config(), RunSelector::Latest).await?;
    let mut discovery = discovery.with_evaluator(evaluator);
    let ended = discovery
        .run_to(3, &Scripted::mixed(), &mut Unobserved)
        .await?;
    assert_eq!(ended, RunEnd::Completed);
    Ok(discovery.into_store())
}

/// Gives the outcomes in a random order.
struct Shuffled(ChaCha20Rng);

impl Evaluator for Shuffled {
    fn evaluate<'a>(
        &'a mut self,
        batch: Batch<'a>,
    ) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + 'a {
        stream::once(async move {
            let mut local = LocalEvaluator::default();
            let mut all: Vec<_> = pin!(local.evaluate(batch)).collect().await;
            for last in (1..all.len()).rev() {
                all.swap(last, self.0.next_u32() as usize % (last + 1));
            }
            stream::iter(all)
        })
        .flatten()
    }
}

#[tokio::test]
async fn an_evaluator_that_answers_in_any_order_changes_no_byte() {
    let expected = rows(LocalEvaluator::default()).await.unwrap();
    assert!(expected.evaluations.len() >= 15);
    for seed in 0..5 {
        let shuffled = Shuffled(ChaCha20Rng::seed_from_u64(seed));
        assert_eq!(rows(shuffled).await.unwrap(), expected, "{seed}");
    }
}

#[tokio::test]
async fn threads_change_no_byte() {
    let expected = rows(LocalEvaluator::default()).await.unwrap();
    for threads in [1, 2, 8] {
        let found = rows(LocalEvaluator::with_threads(threads)).await.unwrap();
        assert_eq!(found, expected, "{threads}");
    }
}

/// Answers as the other does, but one law of each batch is set aside, or is where the answers end.
struct Failing {
    index: usize,
    is_set_aside: bool,
}

impl Evaluator for Failing {
    fn evaluate<'a>(
        &'a mut self,
        batch: Batch<'a>,
    ) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + 'a {
        let index = self.index;
        let laws = if self.is_set_aside {
            batch.laws.len()
        } else {
            index.min(batch.laws.len())
        };
        stream::iter(0..laws).then(move |at| async move {
            if at == index {
                let problem = "its evaluation ended the worker 5 times".to_owned();
                return Ok(Evaluated::new(at, Outcome::SetAside { problem }));
            }
            let mut local = LocalEvaluator::default();
            let mut all = pin!(local.evaluate(batch));
            while let Some(evaluated) = all.next().await {
                let evaluated = evaluated?;
                if evaluated.index == at {
                    return Ok(evaluated);
                }
            }
            Err(EvaluatorError::Incomplete {
                outcomes: at,
                laws: batch.laws.len(),
            })
        })
    }
}

#[tokio::test]
async fn a_law_that_was_set_aside_is_an_attempt_that_does_not_count() {
    let mut found = rows(Failing {
        index: 2,
        is_set_aside: true,
    })
    .await
    .unwrap();
    let aside: Vec<_> = (found.evaluations.iter())
        .filter(|row| row.notes.contains("ended the worker"))
        .cloned()
        .collect();
    assert_eq!(aside.len(), 3, "one an iteration");
    for row in &aside {
        assert_eq!(row.status, Status::Unknown);
        assert_eq!(row.reason_code.as_deref(), Some("resource_limit"));
        assert_eq!(row.notes, r#"["its evaluation ended the worker 5 times"]"#);
        assert!(found.keys.values().all(|key| key.evaluation_id != row.id));
    }
    let waits = (found.laws.iter()).any(|law| law.status == LawStatus::Proposed);
    assert!(waits, "the law waits for the next attempt");
    let run = found.runs[0].clone();
    let tested = found.findings(Query::all(&run)).await.unwrap();
    assert_eq!(tested.len() + aside.len(), found.evaluations.len());
}

#[tokio::test]
async fn an_evaluator_that_ends_too_early_keeps_what_it_gave() {
    let expected = rows(LocalEvaluator::default()).await.unwrap();
    let store = MemoryStore::default();
    let discovery = open(store, quick(), &config(), RunSelector::Latest).await;
    let mut discovery = discovery.unwrap().with_evaluator(Failing {
        index: 2,
        is_set_aside: false,
    });
    let ended = discovery
        .run_to(3, &Scripted::mixed(), &mut Unobserved)
        .await;
    assert_eq!(
        ended.unwrap_err().to_string(),
        "the evaluations ended after 2 of 6 laws"
    );
    let mut discovery = discovery.with_evaluator(LocalEvaluator::with_threads(2));
    discovery
        .run_to(3, &Scripted::mixed(), &mut Unobserved)
        .await
        .unwrap();
    assert_eq!(discovery.into_store(), expected);
}

/// An evaluator that never answers.
struct Silent;

impl Evaluator for Silent {
    fn evaluate<'a>(
        &'a mut self,
        _: Batch<'a>,
    ) -> impl Stream<Item = Result<Evaluated, EvaluatorError>> + Send + 'a {
        stream::pending()
    }
}

/// Stops a run that waits.
struct StopsWaiting;

impl Observer for StopsWaiting {
    fn stopped(&self) -> BoxFuture<'static, ()> {
        Box::pin(future::ready(()))
    }
}

#[tokio::test]
async fn a_run_that_waits_for_an_evaluator_can_be_stopped() {
    let store = MemoryStore::default();
    let discovery = open(store, quick(), &config(), RunSelector::Latest).await;
    let mut discovery = discovery.unwrap();
    // The first call of the proposer must not be stopped, so the plan is made before.
    let planned = discovery
        .run_to(1, &Scripted::mixed(), &mut Unobserved)
        .await;
    assert_eq!(planned.unwrap(), RunEnd::Completed);
    let failing = Failing {
        index: 0,
        is_set_aside: false,
    };
    let mut discovery = discovery.with_evaluator(failing);
    let ended = discovery
        .run_to(2, &Scripted::mixed(), &mut Unobserved)
        .await;
    assert!(ended.is_err());
    let mut discovery = discovery.with_evaluator(Silent);
    let ended = discovery
        .run_to(2, &Scripted::mixed(), &mut StopsWaiting)
        .await;
    assert_eq!(ended.unwrap(), RunEnd::Stopped);
}
