//! The order of the layers: a transport notes the work of each of them when a request reaches it.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::future::join;
use llm_client::{Budget, Cassette, Client, Limits, Request, Timeouts, Timer as _, Usd};
use tempfile::tempdir;
use test_support::{FakeClock, MemoryTransport};

use crate::faults::{SECOND, Wire, hello};
use crate::memory::{client, failed, nobody, whole};

const WIRE: Wire = Wire::Anthropic;
const HEADERS: Duration = Duration::from_secs(77);

/// The state of the layers while a request is at the server.
#[derive(Debug, Clone, PartialEq)]
struct Note {
    asked: &'static str,
    /// The calls with a reservation.
    reserved: Usd,
    /// The requests whose headers are waited for.
    timed: usize,
    /// The attempts in the cassette.
    recorded: usize,
}

fn question(text: &str) -> Request {
    let mut request = Request::new("claude-haiku-4-5", text);
    request.max_tokens = Some(100);
    request
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[tokio::test]
async fn a_call_passes_budget_retry_limiter_timeout_and_record_in_this_order() {
    let folder = tempdir().unwrap();
    let tape = folder.path().join("tape.jsonl");
    let clock = FakeClock::new();
    let notes = Arc::new(Mutex::new(Vec::new()));
    let asking: Arc<OnceLock<Client>> = Arc::default();
    let transport = {
        let (clock, notes) = (clock.clone(), notes.clone());
        let (asking, tape) = (asking.clone(), tape.clone());
        Arc::new(MemoryTransport::slow(move |request| {
            let (clock, notes) = (clock.clone(), notes.clone());
            let (asking, tape) = (asking.clone(), tape.clone());
            async move {
                clock.sleep(SECOND).await;
                let body = String::from_utf8_lossy(&request.body).into_owned();
                let sleepers = clock.sleepers();
                let mut notes = notes.lock().unwrap();
                notes.push(Note {
                    asked: if body.contains("first") {
                        "first"
                    } else {
                        "second"
                    },
                    reserved: asking.get().unwrap().spent().reserved,
                    timed: sleepers.iter().filter(|asked| **asked == HEADERS).count(),
                    recorded: lines(&tape),
                });
                // The first attempt of all fails.
                match notes.len() {
                    1 => Ok(failed(WIRE, 503, "busy")),
                    _ => Ok(whole(WIRE, &hello())),
                }
            }
        }))
    };
    let asked = client(WIRE, &transport, &clock)
        .budget(Budget::default().usd(Some(Usd(1_000_000_000))))
        .limits(Limits::default().concurrency(1))
        .timeouts(Timeouts::default().headers(Some(HEADERS)))
        .record(Cassette::new(&tape))
        .build()
        .unwrap();
    let asked = asking.get_or_init(|| asked);
    let (first, second) = (question("first"), question("other"));
    let both = join(asked.complete(&first), asked.complete(&second));
    let (one, other) = Box::pin(clock.run(both)).await;
    one.unwrap();
    other.unwrap();

    let notes = notes.lock().unwrap().clone();
    let whole = notes[0].reserved;
    let half = notes[2].reserved;
    assert_eq!(whole, Usd(half.0 * 2));
    let note = |asked, reserved, recorded| Note {
        asked,
        reserved,
        timed: 1,
        recorded,
    };
    let expected = [
        // The second call has its reservation, but no slot, so that no time runs for its headers.
        note("first", whole, 0),
        // The first call waits for its next attempt without a slot; what failed is recorded, and still reserved.
        note("second", whole, 1),
        note("first", half, 2),
    ];
    assert_eq!(notes, expected);
    assert_eq!(lines(&tape), 3);
    assert_eq!(asked.spent().calls, 2);

    // A replay is before all of them: with no budget left it answers without a transport.
    let replaying = client(WIRE, &nobody(), &clock)
        .budget(Budget::default().calls(Some(0)))
        .replay(Cassette::new(&tape))
        .build()
        .unwrap();
    replaying.complete(&first).await.unwrap();
    assert_eq!(replaying.spent().calls, 0);
}
