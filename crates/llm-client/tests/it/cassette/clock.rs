//! The clock of a replay, and a call that was cancelled and made again.

use std::time::{Duration, SystemTime};

use llm_client::{Clock as _, ReplayClock};
use test_support::program::with_fixed_times;

use super::*;

/// The seconds since 1970 of 2031-05-06T07:00:00Z.
const START: u64 = 1_935_817_200;

fn seconds(clock: &ReplayClock) -> u64 {
    let since = clock.now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap().as_secs()
}

fn asked(n: u32) -> Request {
    Request::new("model-1", format!("question {n}"))
}

#[tokio::test]
async fn it_shows_the_latest_line_that_answered_and_before_any_call_the_first() {
    let tape = Tape::new();
    let recording = tape
        .recording(WIRE, &saying(WIRE, &CannedReply::text("Yes.")))
        .build()
        .unwrap();
    for n in 0..3 {
        recording.complete(&asked(n)).await.unwrap();
    }
    drop(recording);
    fs::write(&tape.path, with_fixed_times(&tape.text())).unwrap();
    let clock = ReplayClock::open(&tape.cassette()).unwrap();
    assert_eq!(seconds(&clock), START);
    let client = Client::builder(
        WIRE.provider_at("http://127.0.0.1:9"),
        Arc::new(clock.clone()),
    );
    let client = client.replay(tape.cassette()).build().unwrap();
    let begun = clock.elapsed();
    assert_eq!(seconds(&clock), START);
    client.complete(&asked(2)).await.unwrap();
    assert_eq!(seconds(&clock), START + 2);
    // It never goes back, and the elapsed time follows it.
    client.complete(&asked(1)).await.unwrap();
    assert_eq!(seconds(&clock), START + 2);
    assert_eq!(clock.elapsed(), begun + Duration::from_secs(2));
    // A miss changes nothing.
    client.complete(&asked(3)).await.unwrap_err();
    assert_eq!(seconds(&clock), START + 2);
}

#[test]
fn a_cassette_without_lines_is_of_1970_and_one_that_is_none_is_an_error() {
    let tape = Tape::new();
    assert!(ReplayClock::open(&tape.cassette()).is_err());
    fs::write(&tape.path, "").unwrap();
    let clock = ReplayClock::open(&tape.cassette()).unwrap();
    assert_eq!(clock.now(), SystemTime::UNIX_EPOCH);
    fs::write(&tape.path, "no cassette\n").unwrap();
    let error = ReplayClock::open(&tape.cassette()).unwrap_err();
    assert!(error.to_string().contains("line 1"), "{error}");
}

#[tokio::test]
async fn a_call_that_was_cancelled_and_made_again_has_the_second_answer() {
    let tape = Tape::new();
    let recording = tape
        .recording(WIRE, &saying(WIRE, &CannedReply::text("Yes.")))
        .build()
        .unwrap();
    recording.complete(&asked(0)).await.unwrap();
    drop(recording);
    let answered = tape.text();
    let mut cancelled = tape.lines().remove(0);
    cancelled.as_object_mut().unwrap().remove("response");
    cancelled["error"] = serde_json::json!({"kind": "cancelled"});
    let second = answered.replacen("\"n\":0", "\"n\":1", 1);
    fs::write(&tape.path, format!("{cancelled}\n{second}")).unwrap();
    let replaying = tape.replaying(WIRE);
    assert_eq!(replaying.complete(&asked(0)).await.unwrap().text(), "Yes.");
}
