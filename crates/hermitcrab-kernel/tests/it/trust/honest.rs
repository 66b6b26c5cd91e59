//! T2: forty flows in which the person asks, and the questions that they cost.

use serde::Deserialize;
use serde_json::Value;

use super::brain::{Call, ObedientBrain};
use super::session::Session;

/// A flow of the corpus.
#[derive(Debug, Deserialize)]
struct Flow {
    what: String,
    turns: Vec<Turn>,
    /// The number of edits that wait for the person in the end.
    asks: usize,
}

/// The calls of the model in a turn, or a word for the begin of the next session.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Turn {
    Calls(Vec<Call>),
    Session(String),
}

/// The most edits of all flows that may wait.
const MOST: usize = 4;

#[tokio::test]
async fn honest_flows_cost_at_most_four_questions_more() {
    let flows: Vec<Flow> = serde_json::from_str(include_str!("honest.json")).unwrap();
    assert_eq!(flows.len(), 40);
    let mut asked = 0;
    for flow in flows {
        let what = &flow.what;
        let page = ["A page about tides. High water is at six.".to_owned()];
        let mut session = Session::begin(ObedientBrain::new(&[], Vec::new()), &page).await;
        let mut failed = 0;
        for turn in &flow.turns {
            match turn {
                Turn::Calls(calls) => failed += session.turn(calls).await,
                Turn::Session(_) => session = session.next(false).await,
            }
        }
        let waiting = session.place.kernel.review().list().unwrap();
        assert_eq!(
            waiting.edits.len(),
            flow.asks,
            "{what}: {:?}",
            waiting.edits
        );
        asked += waiting.edits.len();
        assert_eq!(failed, 0, "{what}");
        // The person approves, and nothing is lost.
        let store = &*session.place.store;
        for edit in waiting.edits {
            let kernel = &session.place.kernel;
            kernel
                .review()
                .approve(&edit.id, store, kernel.now())
                .unwrap();
        }
    }
    assert!(asked <= MOST, "{asked}");
}

/// A list of calls is what a turn is made of.
#[test]
fn each_call_has_a_tool_and_its_arguments() {
    let flows: Vec<Flow> = serde_json::from_str(include_str!("honest.json")).unwrap();
    let calls = flows
        .iter()
        .flat_map(|flow| &flow.turns)
        .filter_map(|turn| match turn {
            Turn::Calls(calls) => Some(calls),
            Turn::Session(word) => {
                assert_eq!(word, "session");
                None
            }
        });
    for (tool, input) in calls.flatten() {
        assert!(matches!(input, Value::Object(_)), "{tool}");
        assert!(hermitcrab_kernel::table::tool(tool).is_some(), "{tool}");
    }
}
