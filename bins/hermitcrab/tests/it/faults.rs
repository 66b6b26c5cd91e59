//! Models that fail or answer wrongly. The person sees one line, nothing is stored in part, and the next line of the pipe is
//! answered.

use serde_json::json;
use test_support::{Answer, CannedReply, closed_port};

use crate::model::{
    GREETING, KEY, Talk, VARIABLE, assert_paired, calls, fails, says, streamed, texts,
};
use crate::program::{Place, Ran, feed};

/// Returns the lines of stderr that are neither logs nor notes about a turn.
fn lines(ran: &Ran) -> Vec<&str> {
    (ran.stderr.lines())
        .filter(|line| {
            let besides = [
                "retrying in ",
                "first start: ",
                "hermitcrab: requests go to ",
            ];
            !line.contains(" · ") && !besides.iter().any(|start| line.starts_with(start))
        })
        .collect()
}

/// Fails the test unless the first turn ends with this one line and the second one is answered without the first.
#[track_caller]
fn passes(talk: &Talk, words: &str) -> Ran {
    let ran = talk.say("first\nsecond\n").exits(3);
    assert_eq!(ran.stdout, format!("{GREETING}\nhere\n"), "{}", ran.stderr);
    let told = lines(&ran);
    assert!(told.len() == 1 && told[0].contains(words), "{told:#?}");
    let last = talk.asked().pop().unwrap();
    assert_paired(&last);
    assert!(
        !last["messages"].to_string().contains("first"),
        "{:#}",
        last["messages"]
    );
    let kept = talk.place.read("data/conversation.jsonl");
    assert!(!kept.contains("first") && kept.contains("second"), "{kept}");
    ran
}

/// Returns a model that gives `answer` to the first turn and its repetitions, and answers the second turn.
fn once(answer: Answer) -> Talk {
    Talk::by(move |received, _| {
        let body = received.json();
        let last = body["messages"].as_array().unwrap().last().unwrap();
        if texts(last).iter().any(|text| text == "first") {
            answer.clone()
        } else {
            says("here")
        }
    })
}

/// Returns models of which the first one always fails with this error.
fn without_first_model(status: u16, kind: &'static str) -> Talk {
    Talk::by(move |received, _| match received.json()["model"].as_str() {
        Some("claude-opus-5-5") => fails(status, kind),
        _ => says("here"),
    })
}

#[test]
fn a_refused_key() {
    let talk = once(fails(401, "authentication_error"));
    let ran = passes(&talk, "key refused (HTTP 401)");
    assert!(!ran.stderr.contains(KEY));
    let sent = talk.server.requests().remove(0);
    assert!(sent.headers.iter().any(|(_, value)| value.contains(KEY)));
    // No other model is asked, and none twice.
    assert_eq!(talk.models(), ["claude-opus-5-5"; 2]);
}

#[test]
fn errors_that_ask_no_other_model() {
    // The last number is that of all calls: an error that may pass is tried three times.
    for (status, kind, words, calls) in [
        (403, "permission_error", "HTTP 403", 2),
        (402, "billing_error", "HTTP 402", 2),
        (
            400,
            "invalid_request_error",
            "the request was refused: HTTP 400",
            2,
        ),
        (429, "rate_limit_error", "too many requests (HTTP 429)", 4),
        (500, "api_error", "the provider failed (HTTP 500)", 4),
    ] {
        let talk = once(fails(status, kind));
        passes(&talk, words);
        assert_eq!(talk.models(), vec!["claude-opus-5-5"; calls], "{status}");
    }
}

#[test]
fn a_model_that_is_not_served_is_followed_by_the_next() {
    let talk = without_first_model(404, "not_found_error");
    let ran = talk.say("first\nsecond\n").exits(0);
    assert_eq!(ran.stdout, format!("{GREETING}\nhere\nhere\n"));
    assert_eq!(
        lines(&ran),
        [
            "  claude-opus-5 answers now, not claude-opus-5-5: claude-opus-5-5 is not served here (HTTP 404)"
        ]
    );
    let asked = ["claude-opus-5-5", "claude-opus-5", "claude-opus-5"];
    assert_eq!(talk.models(), asked);
    // The line after a turn says who answered.
    ran.tells(&["claude-opus-5 · 1 round ·"]);
}

#[test]
fn an_overloaded_model_is_followed_by_the_next_after_retries() {
    let talk = without_first_model(529, "overloaded_error");
    let ran = talk.say("first\n").exits(0);
    assert_eq!(ran.stdout, format!("{GREETING}\nhere\n"));
    let asked = ["claude-opus-5-5"; 3];
    let asked: Vec<_> = asked.into_iter().chain(["claude-opus-5"]).collect();
    assert_eq!(talk.models(), asked);
    ran.tells(&["claude-opus-5 answers now", "overloaded (HTTP 529)"]);
}

#[test]
fn all_models_overloaded() {
    let talk = once(fails(529, "overloaded_error"));
    let ran = talk.say("first\nsecond\n").exits(3);
    assert_eq!(ran.stdout, format!("{GREETING}\nhere\n"));
    assert_eq!(talk.models().len(), 3 * 3 + 1);
    let told = lines(&ran);
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(
        told[2].contains("claude-sonnet-5-5 is overloaded (HTTP 529)"),
        "{told:#?}"
    );
}

#[test]
fn too_many_requests_for_a_moment_are_not_told() {
    let talk = Talk::of([fails(429, "rate_limit_error"), says("here")]);
    let ran = talk.say("first\n").exits(0);
    assert_eq!(ran.stdout, format!("{GREETING}\nhere\n"));
    assert_eq!(lines(&ran), [""; 0]);
}

#[test]
fn a_stream_that_is_cut() {
    let events = CannedReply::text("half an answer, which is lost").anthropic_events();
    for cut in [1, 3, events.len() - 1] {
        let talk = once(Answer::events().pieces(&events[..cut]).close());
        let ran = talk.say("first\nsecond\n").exits(3);
        assert_eq!(ran.stdout, format!("{GREETING}\nhere\n"), "{cut}");
        let told = lines(&ran);
        assert_eq!(told.len(), 1, "{cut}: {told:#?}");
        assert!(told[0].contains("broke"), "{cut}: {told:#?}");
        let kept = talk.place.read("data/conversation.jsonl");
        assert!(!kept.contains("half") && !kept.contains("first"), "{kept}");
    }
}

#[test]
fn a_call_that_is_cut_is_not_run() {
    let whole = CannedReply::text("I note it.").call(
        "c1",
        "block_append",
        r#"{"name":"memory","content":"never"}"#,
    );
    let events = whole.anthropic_events();
    // All of the call but the reply's end.
    let talk = once(Answer::events().pieces(&events[..events.len() - 2]).reset());
    talk.say("first\nsecond\n").exits(3);
    let memory = talk.place.read("data/blocks/memory.json");
    assert!(!memory.contains("never"), "{memory}");
}

#[test]
fn replies_that_are_none() {
    for (answer, words) in [
        (
            Answer::whole(200, "text/html", "<html>Welcome to the hotel</html>"),
            "cannot be read",
        ),
        (Answer::json(200, "{\"type\": \"mess"), "cannot be read"),
        (Answer::sse(["event: what\ndata: {]\n\n"]), "cannot be read"),
        (Answer::raw().bytes("\u{1b}[31mno HTTP\r\n\r\n").close(), ""),
    ] {
        let ran = passes(&once(answer), words);
        assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
    }
}

#[test]
fn a_reply_of_ten_megabytes_is_taken_in_or_refused_in_one_line() {
    let mut events = CannedReply::text("x").anthropic_events();
    let piece = format!(
        "event: content_block_delta\ndata: {}\n\n",
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "long ".repeat(2_000)}})
    );
    let end = events.split_off(3);
    let answer = Answer::events()
        .pieces(&events)
        .repeat_chunk(piece, 1_000)
        .pieces(end)
        .end();
    let talk = once(answer);
    let ran = talk.say("first\nsecond\n");
    assert!(
        matches!(ran.code, Some(0 | 3)),
        "{:?} {}",
        ran.code,
        ran.stderr
    );
    assert!(ran.stdout.ends_with("here\n"), "{}", ran.stderr);
    assert!(lines(&ran).len() <= 1, "{}", ran.stderr);
    assert!(ran.stderr.len() < 3_000, "{}", ran.stderr);
    // What comes next is not sent ten megabytes.
    let last = talk.asked().pop().unwrap().to_string();
    assert!(last.len() < 200_000, "{}", last.len());
    talk.say("third\n").exits(0);
}

#[test]
fn an_error_of_ten_megabytes_is_one_line() {
    let body = format!(
        r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"{}"}}}}"#,
        "no ".repeat(3_000_000)
    );
    let talk = once(Answer::json(400, body));
    let ran = passes(&talk, "the request was refused: HTTP 400");
    assert!(ran.stderr.len() < 3_000, "{}", ran.stderr.len());
}

#[test]
fn between_rounds_what_is_whole_stays() {
    let append = json!({"name": "memory", "content": "kept"});
    let talk = Talk::of([
        calls("c1", "block_append", &append),
        fails(400, "invalid_request_error"),
        says("here"),
    ]);
    let ran = talk.say("first\nsecond\n").exits(3);
    assert_eq!(ran.stdout, format!("{GREETING}\nhere\n"));
    let last = talk.asked().pop().unwrap();
    assert_paired(&last);
    assert!(last.to_string().contains("c1"), "{:#}", last["messages"]);
    assert!(talk.place.read("data/blocks/memory.json").contains("kept"));
}

#[test]
fn nobody_listens() {
    let (address, _guard) = closed_port();
    let place = Place::new();
    let url = format!("http://{address}");
    let mut command = place.command(&["chat", "--provider", "anthropic", "--base-url", &url]);
    command.env(VARIABLE, KEY);
    let ran = feed(&mut command, b"first\n/blocks\n").exits(3);
    assert!(ran.stdout.contains("\nkeystone "), "{}", ran.stdout);
    let told = lines(&ran);
    assert_eq!(
        told.len(),
        2,
        "one for the start, one for the turn: {told:#?}"
    );
    for line in told {
        assert!(line.contains("no connection to the provider"), "{line}");
    }
}

#[test]
fn a_model_that_fails_at_the_start_is_woken_by_the_next_one() {
    let talk = Talk {
        place: Place::new(),
        server: test_support::FaultServer::replies([
            fails(401, "authentication_error"),
            says(GREETING),
            says("here"),
        ]),
    };
    let ran = talk.say("").exits(3).tells(&["key refused (HTTP 401)"]);
    assert_eq!(ran.stdout, "");
    let ran = talk.say("first\n").exits(0);
    assert_eq!(ran.stdout, format!("{GREETING}\nhere\n"));
    assert_paired(&talk.server.requests().last().unwrap().json());
}

#[test]
fn strange_replies_end_a_turn_in_order() {
    let empty = CannedReply::text("");
    let thought = CannedReply {
        thinking: Some("hm".to_owned()),
        ..CannedReply::text("")
    };
    let twice =
        CannedReply::text("")
            .call("same", "block_list", "{}")
            .call("same", "get_datetime", "{}");
    let broken = CannedReply::text("").call("c", "block_read", r#"{"name": "mem"#);
    let unknown = CannedReply::text("").call("c", "launch_rocket", "{}");
    for (first, code) in [
        // No model has answered the first line.
        (empty, 3),
        (thought, 3),
        (twice, 0),
        (broken, 0),
        (unknown, 0),
    ] {
        let talk = Talk::of([streamed(&first), says("here"), says("here")]);
        let ran = talk.say("first\nsecond\n").exits(code);
        assert!(ran.stdout.ends_with("here\n"), "{first:?} {}", ran.stdout);
        for body in talk.asked() {
            assert_paired(&body);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_signal_stops_a_turn_and_the_next_start_goes_on() {
    for name in ["-INT", "-TERM", "-HUP"] {
        stopped_in_a_turn(name);
    }
}

#[cfg(unix)]
fn stopped_in_a_turn(name: &str) {
    let talk = Talk::of([Answer::events().stall(), says("here")]);
    let child = crate::program::start(talk.command(&[]).stdin(std::process::Stdio::from(
        std::fs::File::open(talk.place.path(talk.place.file("lines", "first\nsecond\n"))).unwrap(),
    )));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    // The greeting's, and the turn's.
    runtime.block_on(talk.server.wait_requests(2));
    crate::program::signal(child.id(), name);
    runtime.block_on(talk.server.wait_closed(1));
    let ran = crate::program::finish(child).exits(130);
    assert_eq!(ran.stdout, format!("{GREETING}\n"), "{}", ran.stderr);
    let ran = talk.say("third\n").exits(0);
    assert!(ran.stdout.ends_with("here\n"), "{}", ran.stdout);
    let last = talk.asked().pop().unwrap();
    assert_paired(&last);
    assert!(
        !last["messages"].to_string().contains("first"),
        "{:#}",
        last["messages"]
    );
}

#[test]
fn what_a_model_said_is_on_record_once() {
    let talk = Talk::by(|_, _| says("the tide turns at six"));
    talk.say("When?\n").exits(0);
    let record = talk.place.read("data/conversation.jsonl");
    assert_eq!(
        record.matches("the tide turns at six").count(),
        1,
        "{record}"
    );
}
