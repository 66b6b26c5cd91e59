//! Interruptions: nothing that was answered is asked again, and what is asked is what would have been asked.

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use llm_client::{Budget, Client, Error as ClientError, ErrorKind};
use popper_discovery::llm::{LlmOptions, LlmProposer};
use popper_discovery::store::IterationStatus;
use popper_discovery::{
    Error, Event, LoopConfig, MemoryStore, Observer, ProposeError, RunEnd, Unobserved,
};
use serde_json::{Value, json};

use super::{Does, Model, blind_law, open, reply};

/// Three turns, the second of which needs a repair.
fn script() -> Vec<String> {
    let x = &[("x", "count('X')")][..];
    let laws = |claims: &[&str]| -> Vec<Value> {
        let law =
            |(index, claim): (usize, &&str)| blind_law(&format!("law_{index}"), "bound", x, claim);
        claims.iter().enumerate().map(law).collect()
    };
    vec![
        reply("first", &laws(&["x(t) <= 1", "x(t) <= 2", "x(t) >= 0"])),
        "I think that a law is broken here: {\"candidate_laws\": [{\"law_id\": oops}]}".to_owned(),
        reply("second", &laws(&["x(t) <= 3", "2*x(t) <= grid_length"])),
        reply(
            "third",
            &[blind_law(
                "s",
                "symmetry_commutation",
                &[],
                "commutes(mirror_swap)",
            )],
        ),
    ]
}

/// The store after a run to this number of iterations.
async fn continued(store: MemoryStore, model: &Model, iterations: u32) -> MemoryStore {
    let mut discovery = open(store, LoopConfig::default()).await;
    let proposer = model.proposer(LlmOptions::default());
    let watch = &mut Unobserved;
    let ended = discovery.run_to(iterations, &proposer, watch).await;
    assert_eq!(ended.unwrap(), RunEnd::Completed);
    discovery.store().clone()
}

/// The run that nothing interrupts: its store and its requests.
async fn uninterrupted() -> (MemoryStore, Vec<Value>) {
    let model = Model::saying(script());
    let store = continued(MemoryStore::default(), &model, 3).await;
    (store, model.bodies())
}

#[tokio::test]
async fn a_provider_that_is_down_loses_nothing() {
    let (whole, asked) = uninterrupted().await;
    assert_eq!((asked.len(), whole.calls.len()), (4, 4));
    for good in 0..4 {
        let replies = script().into_iter().take(good).map(Does::Says);
        let model = Model::new(replies.chain([Does::Fails(529)]));
        let mut discovery = open(MemoryStore::default(), LoopConfig::default()).await;
        let proposer = model.proposer(LlmOptions::default());
        let error = discovery
            .run_to(3, &proposer, &mut Unobserved)
            .await
            .unwrap_err();
        assert!(
            matches!(error, Error::Propose(ProposeError::Unavailable(_))),
            "{error:?}"
        );
        let store = discovery.store().clone();
        assert_eq!(
            store.iterations.last().unwrap().status,
            IterationStatus::Running
        );
        assert_eq!(store.calls, whole.calls[..good]);
        // The next process goes on, and asks what this one would have asked.
        let next = Model::saying(script().into_iter().skip(good));
        assert_eq!(continued(store, &next, 3).await, whole);
        let mut all = model.bodies();
        all.pop();
        all.extend(next.bodies());
        assert_eq!(all, asked);
    }
}

/// Stops at once.
struct Stops;

impl Observer for Stops {
    fn stopped(&self) -> BoxFuture<'static, ()> {
        ready(()).boxed()
    }
}

#[tokio::test]
async fn a_stop_while_the_model_thinks_gives_the_answer_up() {
    let (whole, _) = uninterrupted().await;
    let model = Model::new([Does::Hangs]);
    let mut discovery = open(MemoryStore::default(), LoopConfig::default()).await;
    let proposer = model.proposer(LlmOptions::default());
    let ended = discovery.run_to(3, &proposer, &mut Stops).await.unwrap();
    assert_eq!((ended, model.transport.running()), (RunEnd::Stopped, 0));
    let store = discovery.store().clone();
    assert_eq!(store.iterations[0].status, IterationStatus::Aborted);
    assert!(store.calls.is_empty());
    let next = Model::saying(script());
    assert_eq!(continued(store, &next, 3).await, whole);
}

#[tokio::test]
async fn an_answer_that_was_stored_before_a_kill_is_not_paid_twice() {
    let (whole, _) = uninterrupted().await;
    let mut killed = whole.clone();
    // What is in the store at the instant between the first call and the plan.
    killed.iterations.truncate(1);
    killed.calls.truncate(1);
    let iteration = &mut killed.iterations[0];
    iteration.status = IterationStatus::Running;
    (
        iteration.completed_at,
        iteration.prompt_hash,
        iteration.summary_json,
    ) = (None, None, None);
    (killed.laws, killed.evaluations, killed.counterexamples) = (vec![], vec![], vec![]);
    killed.keys.clear();
    killed.claims.clear();
    let silent = Model::new([]);
    let planned = continued(killed, &silent, 1).await;
    assert!(silent.bodies().is_empty());
    let next = Model::saying(script().into_iter().skip(1));
    assert_eq!(continued(planned, &next, 3).await, whole);
}

#[tokio::test]
async fn calls_say_what_was_sent_and_what_it_took() {
    let (store, asked) = uninterrupted().await;
    for (row, body) in store.calls.iter().zip(&asked) {
        let call = &row.call;
        assert_eq!(
            serde_json::from_str::<Value>(&call.request_json).unwrap(),
            *body
        );
        assert_eq!(call.model_id, LlmProposer::DEFAULT_MODEL);
        let usage: Value = serde_json::from_str(&call.usage_json).unwrap();
        // 1000 tokens at 4 dollars a million and 200 at 20.
        assert_eq!(
            usage,
            json!({"input_tokens": 1000, "output_tokens": 200, "nano_usd": 8_000_000})
        );
    }
    assert_eq!(
        store.calls.iter().map(|row| row.turn).collect::<Vec<_>>(),
        [0, 0, 1, 0]
    );
    // The prompt of an iteration is its first request.
    let hashes: Vec<_> = store
        .iterations
        .iter()
        .map(|row| row.prompt_hash.clone())
        .collect();
    let first = [0, 1, 3].map(|call: usize| Some(store.calls[call].call.prompt_hash.clone()));
    assert_eq!(hashes, first);
    // A repair is the same conversation, one exchange longer.
    let messages = |index: usize| asked[index]["messages"].as_array().unwrap().clone();
    assert_eq!(messages(2)[..1], messages(1)[..]);
    assert_eq!(messages(2)[1]["content"], script()[1]);
    let complaint = messages(2)[2]["content"].as_str().unwrap().to_owned();
    insta::assert_snapshot!("complaint", complaint);
}

/// An observer that counts replies.
#[derive(Default)]
struct Counts(usize);

impl Observer for Counts {
    fn event(&mut self, event: Event<'_>) {
        self.0 += usize::from(matches!(event, Event::Called(_)));
    }
}

#[tokio::test]
async fn a_used_up_budget_and_a_refused_request_say_so() {
    let model = Model::saying(script());
    let budget = Budget::default().calls(Some(1));
    let client = model.client().budget(budget).build().unwrap();
    let proposer = LlmProposer::new(client, LlmProposer::DEFAULT_MODEL, LlmOptions::default());
    let mut discovery = open(MemoryStore::default(), LoopConfig::default()).await;
    let mut counts = Counts::default();
    let error = discovery
        .run_to(3, &proposer, &mut counts)
        .await
        .unwrap_err();
    let Error::Propose(ProposeError::Budget(source)) = error else {
        panic!("{error:?}");
    };
    let source = source.downcast_ref::<ClientError>().unwrap();
    assert!(
        matches!(source.kind(), ErrorKind::BudgetExceeded { .. }),
        "{source}"
    );
    assert_eq!(counts.0, 1);

    let client: Client = model.client().build().unwrap();
    let nameless = LlmProposer::new(client, "", LlmOptions::default());
    let error = discovery
        .run_to(3, &nameless, &mut Unobserved)
        .await
        .unwrap_err();
    assert!(
        matches!(error, Error::Propose(ProposeError::Refused(_))),
        "{error:?}"
    );
}
