//! S5: who may open the socket, and who may stay.

use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::http::PATIENCE;
use super::security_headers::check_headers;
use super::stand::{GatedBrain, Session, Setting, Stand, face};

/// Puts a header in the place of another, or takes it away; then the server must refuse.
async fn refused(stand: &Stand, name: &'static str, value: Option<&str>) {
    let mut request = stand.handshake().await;
    match value {
        Some(value) => request.headers_mut().insert(name, value.parse().unwrap()),
        None => request.headers_mut().remove(name),
    };
    let opened = timeout(PATIENCE, connect_async(request)).await.unwrap();
    let Err(Error::Http(answer)) = opened else {
        panic!("{name}: {value:?} was let in");
    };
    assert_eq!(answer.status(), 403, "{name}: {value:?}");
}

#[tokio::test]
async fn an_upgrade_needs_our_origin_our_host_and_the_cookie() {
    let brain = GatedBrain::new(9, [face("1")]);
    let stand = Setting::default().open(brain.clone()).await;
    let Session { cookie, token } = stand.session().await;
    let (name, _) = cookie.split_once('=').unwrap();
    for origin in [
        None,
        Some("null"),
        Some("http://evil.test"),
        Some("http://127.0.0.1:1"),
        Some(""),
    ] {
        refused(&stand, "origin", origin).await;
    }
    for host in ["evil.test", "127.0.0.1:1"] {
        refused(&stand, "host", Some(host)).await;
    }
    let wrong = format!("{name}=AAAAAAAAAAAAAAAAAAAAAA");
    let swapped = format!("{name}={token}");
    for cookie in [
        None,
        Some(wrong.as_str()),
        Some(swapped.as_str()),
        Some("x=y"),
    ] {
        refused(&stand, "cookie", cookie).await;
    }
    assert!(brain.asked().is_empty());
    // Two origins are none.
    let mut two = stand.handshake().await;
    two.headers_mut()
        .append("origin", "http://evil.test".parse().unwrap());
    assert!(matches!(connect_async(two).await, Err(Error::Http(answer)) if answer.status() == 403));
    // No upgrade at all.
    let plain = stand
        .bare("GET", "/ws")
        .header("Cookie", &cookie)
        .send(stand.addr)
        .await;
    assert_eq!(plain.status, 426);
    check_headers(&plain, "no upgrade");
    stand.end().await;
}

#[tokio::test]
async fn the_first_message_must_bring_the_token() {
    let brain = GatedBrain::new(9, [face("1")]);
    let stand = Setting::default().open(brain.clone()).await;
    let session = stand.session().await;
    let hello = |token: Value| Message::text(json!({"type": "hello", "token": token}).to_string());
    let cut = &session.token[..21];
    let (_, cookie) = session.cookie.split_once('=').unwrap();
    let call = json!({"type": "call", "id": 1, "frame": null, "method": "usage", "args": []});
    for (what, message) in [
        ("a wrong token", hello(json!("AAAAAAAAAAAAAAAAAAAAAA"))),
        ("a part of it", hello(json!(cut))),
        ("the cookie", hello(json!(cookie))),
        ("the one-time token", hello(json!(stand.once))),
        ("nothing", hello(json!(""))),
        ("null", hello(Value::Null)),
        ("a number", hello(json!(7))),
        ("no token", Message::text(r#"{"type": "hello"}"#)),
        ("a call first", Message::text(call.to_string())),
        ("no message", Message::text("hello")),
        ("an empty one", Message::text("")),
        ("bytes", Message::binary(Stand::hello(&session).to_string())),
        (
            "a deep one",
            Message::text(format!("{}{}", "[".repeat(5_000), "]".repeat(5_000))),
        ),
    ] {
        let mut page = stand.knock().await;
        futures_util::SinkExt::send(&mut page.socket, message)
            .await
            .unwrap();
        page.closed().await;
        assert!(
            page.unread().is_empty(),
            "{what} was answered with {:?}",
            page.unread()
        );
    }
    assert_eq!(stand.get("/health").await.json()["pages"], 0);
    assert!(brain.asked().is_empty(), "nobody was let in");
    stand.end().await;
}

/// The server waits two seconds, in real time.
#[tokio::test]
async fn who_says_nothing_is_cut_off() {
    let stand = Stand::script([face("1")]).await;
    let mut silent = stand.knock().await;
    silent.closed().await;
    assert!(silent.unread().is_empty());
    stand.end().await;
}
