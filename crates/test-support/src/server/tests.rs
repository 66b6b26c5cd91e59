use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;

const POST: &str = "POST /a?b=1 HTTP/1.1\r\nHost: x\r\nX-One: 1\r\nContent-Length: 2\r\n\r\n{}";

async fn connect(server: &FaultServer) -> TcpStream {
    TcpStream::connect(server.address()).await.unwrap()
}

/// Reads until `end` was read.
async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        text.push(char::from(byte[0]));
    }
    text
}

#[tokio::test]
async fn requests_are_recorded_and_the_last_answer_is_repeated() {
    let server = FaultServer::replies([Answer::json(429, "no"), Answer::json(200, "yes")]);
    let mut stream = connect(&server).await;
    for expected in ["no", "yes", "yes"] {
        stream.write_all(POST.as_bytes()).await.unwrap();
        let text = read_until(&mut stream, expected).await;
        assert!(text.contains(&format!("content-length: {}", expected.len())));
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].number, 2);
    assert_eq!(requests[2].connection, 0);
    assert_eq!(requests[0].method, "POST");
    assert_eq!(requests[0].path, "/a?b=1");
    assert_eq!(requests[0].header("x-one"), Some("1"));
    assert_eq!(requests[0].text(), "{}");
    drop(stream);
    server.wait_closed(1).await;
    assert_eq!(
        (server.open(), server.accepted(), server.in_flight()),
        (0, 1, 0)
    );
}

#[test]
fn a_request_of_a_client_that_is_gone_is_answered_before_the_server_has_settled() {
    let server = FaultServer::replies([Answer::json(200, "{}")]);
    for gone in 1..=50 {
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        std::io::Write::write_all(&mut stream, POST.as_bytes()).unwrap();
        drop(stream);
        server.settle();
        assert_eq!(server.requests().len(), gone);
    }
}

#[tokio::test]
async fn a_chunked_request_is_read_whole() {
    let server = FaultServer::play(|received| Answer::json(200, received.text()));
    let mut stream = connect(&server).await;
    let request =
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    read_until(&mut stream, "\r\n\r\nabcde").await;
}

#[tokio::test]
async fn steps_wait_for_signals_and_tell_how_far_they_got() {
    let (go, reached) = (Signal::new(), Signal::new());
    let answer = Answer::events()
        .chunk("one")
        .fire(&reached)
        .wait(&go)
        .dribble_chunks("tw")
        .end_with_trailers(&["x: y"]);
    let server = FaultServer::replies([answer]);
    let mut stream = connect(&server).await;
    stream.write_all(POST.as_bytes()).await.unwrap();
    read_until(&mut stream, "3\r\none\r\n").await;
    reached.wait().await;
    assert_eq!(server.in_flight(), 1);
    go.fire();
    read_until(&mut stream, "1\r\nt\r\n1\r\nw\r\n0\r\nx: y\r\n\r\n").await;
}

#[tokio::test]
async fn an_answer_after_a_signal_writes_nothing_before_it() {
    let go = Signal::new();
    let slow = Answer::raw().wait(&go).pause(Duration::from_millis(1));
    let server = FaultServer::replies([Answer::json(200, "late").after(slow)]);
    let (mut first, mut second) = (connect(&server).await, connect(&server).await);
    for (number, stream) in [&mut first, &mut second].into_iter().enumerate() {
        stream.write_all(POST.as_bytes()).await.unwrap();
        server.wait_requests(number + 1).await;
    }
    let kind = first.try_read(&mut [0]).unwrap_err().kind();
    assert_eq!(kind, io::ErrorKind::WouldBlock);
    go.fire();
    read_until(&mut first, "late").await;
    read_until(&mut second, "late").await;
    let in_flight: Vec<_> = server.requests().iter().map(|one| one.in_flight).collect();
    assert_eq!(in_flight, [1, 2]);
}

#[tokio::test]
async fn a_reset_is_a_reset_and_a_close_is_a_close() {
    let server = FaultServer::replies([Answer::raw().reset(), Answer::raw().close()]);
    let mut first = connect(&server).await;
    first.write_all(POST.as_bytes()).await.unwrap();
    let error = first.read_u8().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    let mut second = connect(&server).await;
    second.write_all(POST.as_bytes()).await.unwrap();
    let error = second.read_u8().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    server.wait_open(0).await;
    assert_eq!(server.closed_by_peer(), 0);
}

#[tokio::test]
async fn a_client_that_leaves_a_stalled_answer_is_noticed() {
    let server = FaultServer::replies([Answer::head(200, "text/plain").stall()]);
    let mut stream = connect(&server).await;
    stream.write_all(POST.as_bytes()).await.unwrap();
    server.wait_requests(1).await;
    drop(stream);
    server.wait_closed(1).await;
}

#[tokio::test]
async fn nobody_listens_on_a_closed_port() {
    let (address, _guard) = closed_port();
    let error = TcpStream::connect(address).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
}
