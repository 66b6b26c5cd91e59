//! Long pages are read piece by piece.

use hermitcrab_kernel::ScriptStep;
use serde_json::{Value, json};
use test_support::{Answer, FaultServer};

use crate::place::{Setting, results};

/// The answers to these calls of `web_fetch` in one turn, and the number of requests at the server.
async fn fetched(page: &str, offsets: &[Option<usize>]) -> (Vec<(Value, bool)>, usize) {
    let server = FaultServer::replies([Answer::whole(200, "text/plain", page.to_owned())]);
    let url = server.url("/page");
    let mut setting = Setting::default();
    let address = url.strip_prefix("http://").unwrap().split('/').next();
    setting.config.web.granted = vec![address.unwrap().parse().unwrap()];
    let mut steps = vec![ScriptStep::tools(&[(
        "web",
        "set_tools",
        json!({"names": ["web"]}),
    )])];
    for (at, offset) in offsets.iter().enumerate() {
        let input = match offset {
            Some(offset) => json!({"url": url, "offset": offset}),
            None => json!({ "url": url }),
        };
        steps.push(ScriptStep::tools(&[(
            &format!("c{at}"),
            "web_fetch",
            input,
        )]));
    }
    steps.push(ScriptStep::text("Read."));
    let (place, brain) = setting.script(steps);
    place.say("Read it").await;
    let asked = brain.asked();
    let answers = asked[2..].iter().map(|request| {
        let (text, is_error) = results(request.messages.last().unwrap()).remove(0);
        (serde_json::from_str(&text).unwrap(), is_error)
    });
    (answers.collect(), server.requests().len())
}

/// Covers row H19.
#[tokio::test]
async fn a_long_page_is_fetched_once_and_read_in_pieces() {
    let page: String = (0..29_999_u32)
        .map(|at| char::from(b'a' + (at % 23) as u8))
        .collect();
    let offsets = [None, Some(12_000), Some(24_000), Some(29_999), Some(30_000)];
    let (answers, requests) = fetched(&page, &offsets).await;
    assert_eq!(requests, 1);
    let text = |at: usize| answers[at].0["text"].as_str().unwrap();
    assert_eq!(text(0).chars().count(), 12_000);
    assert_eq!([text(0), text(1), text(2)].concat(), page);
    assert_eq!(answers[0].0["next"], 12_000);
    assert_eq!(answers[1].0["next"], 24_000);
    for (answer, _) in &answers[..3] {
        assert_eq!(answer["length"], 29_999);
    }
    assert!(answers[2].0.get("next").is_none());
    assert_eq!(text(3), "");
    assert!(answers[4].1);
    assert_eq!(answers[4].0["error"], "bad_offset");
    assert_eq!(answers[4].0["detail"], "the page has 29999 characters");
}

#[tokio::test]
async fn a_short_page_is_one_piece() {
    let (answers, _) = fetched("tides", &[None]).await;
    let keys: Vec<_> = answers[0].0.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["content_type", "status", "text", "truncated", "url"]);
}

/// Quotation marks and line ends take two characters in JSON.
#[tokio::test]
async fn a_piece_is_short_as_json_too() {
    let page = "\"\n".repeat(10_000);
    let (answers, _) = fetched(&page, &[None, Some(7_000), Some(14_000)]).await;
    for (answer, _) in &answers[..2] {
        assert!(answer.to_string().len() < 15_000);
    }
    assert_eq!(answers[0].0["next"], 7_000);
    assert_eq!(answers[1].0["next"], 14_000);
}
