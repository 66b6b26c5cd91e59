//! Clients that say half of what they want, or nothing: acceptance row H8.

use std::sync::Arc;
use std::time::Duration;

use hermitcrab_kernel::ScriptBrain;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::http::PATIENCE;
use super::stand::{Setting, Stand};

/// The limits of a test in which only one limit acts.
const NEVER: Duration = Duration::from_hours(1);
const SOON: Duration = Duration::from_millis(100);

async fn with(head: Duration, body: Duration) -> Stand {
    let mut setting = Setting::default();
    setting.patience.head = head;
    setting.patience.body = body;
    setting.patience.answer = NEVER;
    setting.open(Arc::new(ScriptBrain::new([]))).await
}

async fn connected(stand: &Stand, said: &str) -> TcpStream {
    let mut stream = TcpStream::connect(stand.addr).await.unwrap();
    stream.write_all(said.as_bytes()).await.unwrap();
    stream
}

/// The text of the server until it closes.
async fn answered(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    // A connection that is closed before all was read may be reset.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut said))
        .await
        .unwrap();
    String::from_utf8(said).unwrap()
}

#[tokio::test]
async fn h8_half_a_head_and_silence_are_closed() {
    let stand = with(SOON, NEVER).await;
    for said in ["", "GET / HTTP/1.1\r\nHost: "] {
        answered(&mut connected(&stand, said).await).await;
    }
    // So is a connection that was used and is not any longer.
    let get = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", stand.addr);
    let said = answered(&mut connected(&stand, &get).await).await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    stand.end().await;
}

#[tokio::test]
async fn h8_a_body_that_does_not_come_is_refused() {
    let stand = with(NEVER, SOON).await;
    let half = format!(
        "POST /session HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{\"token\":",
        stand.addr
    );
    let said = answered(&mut connected(&stand, &half).await).await;
    assert!(said.starts_with("HTTP/1.1 4"), "{said}");
    // A socket has no body, and stays.
    let mut page = stand.page().await;
    tokio::time::sleep(SOON * 2).await;
    page.bar("usage", serde_json::json!([])).await.unwrap();
    stand.end().await;
}

#[tokio::test]
async fn h8_an_answer_that_is_not_read_is_given_up() {
    let mut setting = Setting::default();
    setting.patience.head = NEVER;
    setting.patience.body = NEVER;
    setting.patience.answer = SOON;
    let stand = setting.open(Arc::new(ScriptBrain::new([]))).await;
    let get = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", stand.addr);
    let mut stream = TcpStream::connect(stand.addr).await.unwrap();
    // Requests without end, and no answer is read: the server closes, or it would hold the place for ever.
    let asking = async { while stream.write_all(get.as_bytes()).await.is_ok() {} };
    timeout(PATIENCE, asking).await.unwrap();
    stand.end().await;
}

#[tokio::test]
async fn h8_more_than_256_connections_are_closed_and_a_page_goes_on() {
    let stand = with(NEVER, NEVER).await;
    let mut page = stand.page().await;
    let mut silent = Vec::new();
    for _ in 0..256 {
        silent.push(connected(&stand, "").await);
    }
    answered(&mut connected(&stand, "").await).await;
    let waited = timeout(SOON, silent[0].read(&mut [0])).await;
    assert!(waited.is_err(), "the first one was closed, too");
    page.bar("usage", serde_json::json!([])).await.unwrap();
    // One that goes leaves room.
    silent.truncate(100);
    assert_eq!(stand.get("/health").await.status, 200);
    stand.cancel.cancel();
    drop(silent);
    stand.end().await;
}
