//! `--execute`: whether the decoded instruction still gives its result.

use test_support::{CompressionStub, StubMode, StubRole};

use crate::program::{Place, column};

#[test]
fn a_third_agent_carries_out_the_decoded_text() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let results = place
        .asking(&stub, &["run", "--all", "--execute"])
        .exits(0)
        .results();
    let statuses = ["not_run", "not_run", "not_run", "pass"];
    assert_eq!(column(&results, "/procedural/status"), statuses);
    assert_eq!(
        results[3]["procedural"]["answer"],
        "U:essence reveals Compression"
    );
    assert_eq!(results[3]["metadata"]["totalApiCalls"], 7);
    let calls = stub.calls();
    let asked: Vec<_> = calls
        .iter()
        .filter(|call| call.role == StubRole::Executor)
        .collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].body["max_tokens"], 1024);
    assert_eq!(
        asked[0].body["messages"][0]["content"],
        results[3]["decodedText"]
    );
}

#[test]
fn no_program_carries_out_an_instruction_offline() {
    let arguments = ["run", "--all", "--execute", "--provider", "offline"];
    let results = Place::new().alone(&arguments).exits(0).results();
    assert_eq!(column(&results, "/procedural/status"), ["not_run"; 4]);
}
