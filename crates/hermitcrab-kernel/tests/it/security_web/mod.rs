//! S6: what the web may not reach, and how long it may take.

mod grants;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hermitcrab_kernel::config::WebPolicy;
use hermitcrab_kernel::toolbox::{Resolve, Web};
use serde_json::json;
use test_support::{Answer, FakeClock, FaultServer, Signal};

/// Every way to write an address that is not of the public web.
const SPECIAL: [&str; 32] = [
    "127.0.0.1",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "sub.localhost",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "0",
    "0.0.0.0",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "１２７.0.0.1",
    "127.0.0.1.",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:101:101::80ff:fffe]",
    "169.254.169.254",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[fd00::1]",
    "[fe80::1]",
];

/// Answers each question with the next list; the last is repeated.
struct FakeResolver {
    answers: Mutex<Vec<Vec<SocketAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl FakeResolver {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let mut answers: Vec<_> = answers.iter().map(|list| addresses(list)).collect();
        answers.reverse();
        Arc::new(Self {
            answers: Mutex::new(answers),
            asked: Mutex::default(),
        })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn addresses(list: &[&str]) -> Vec<SocketAddr> {
    let one = |text: &&str| match text.parse() {
        Ok(address) => address,
        Err(_) => SocketAddr::new(text.parse().unwrap(), 0),
    };
    list.iter().map(one).collect()
}

#[async_trait]
impl Resolve for FakeResolver {
    async fn resolve(&self, host: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        self.asked.lock().unwrap().push(host.to_owned());
        if host.trim_end_matches('.').ends_with("localhost") {
            return Ok(addresses(&["127.0.0.1", "::1"]));
        }
        let mut answers = self.answers.lock().unwrap();
        match answers.len() {
            0 => Err(io::Error::other("no such name")),
            1 => Ok(answers[0].clone()),
            _ => Ok(answers.pop().unwrap()),
        }
    }
}

fn web(policy: &WebPolicy, resolver: Arc<dyn Resolve>) -> Web {
    Web::new(policy, resolver, Arc::new(FakeClock::new())).unwrap()
}

fn closed() -> Web {
    web(&WebPolicy::default(), FakeResolver::new(&[]))
}

/// A web in which `server` is a public one.
fn open_to(server: &FaultServer) -> Web {
    web(&granting(server), FakeResolver::new(&[]))
}

fn granting(server: &FaultServer) -> WebPolicy {
    let mut policy = WebPolicy::default();
    policy.granted = vec![server.address()];
    policy
}

fn page(text: &str) -> Answer {
    Answer::whole(200, "text/plain", text.to_owned())
}

fn redirect(status: u16, to: &str) -> Answer {
    Answer::whole(status, "text/plain", "moved").header("location", to)
}

async fn kind(web: &Web, url: &str) -> String {
    match web.fetch(url).await {
        Ok(page) => format!("read {}", page.text),
        Err(fault) => fault.kind.to_string(),
    }
}

#[tokio::test]
async fn no_spelling_reaches_a_special_address() {
    let web = closed();
    for host in SPECIAL {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}/");
            assert_eq!(kind(&web, &url).await, "refused", "{url}");
        }
    }
}

#[tokio::test]
async fn no_redirect_reaches_a_special_address() {
    for status in [301, 302, 303, 307, 308] {
        let server = FaultServer::play(move |received| {
            let host = SPECIAL[received.number % SPECIAL.len()];
            redirect(status, &format!("http://{host}/latest"))
        });
        let web = open_to(&server);
        for host in SPECIAL {
            assert_eq!(kind(&web, &server.url("/")).await, "refused", "{host}");
        }
        assert_eq!(server.requests().len(), SPECIAL.len());
    }
}

#[tokio::test]
async fn other_schemes_and_users_are_refused() {
    let server = FaultServer::replies([
        redirect(302, "file:///etc/passwd"),
        redirect(302, "gopher://127.0.0.1:70/"),
        redirect(302, "http://user:pass@example.org/"),
        redirect(302, "http://"),
    ]);
    let web = open_to(&server);
    for url in [
        "file:///etc/passwd",
        "gopher://example.org/",
        "ftp://example.org/",
        "data:text/html,hello",
        "javascript:alert(1)",
        "http://user@example.org/",
        "http://user:pass@example.org/",
        "http://",
        "//example.org/",
        "example.org",
        "",
        "http://exa mple.org/",
        "http://[::1",
        "http://example.org:99999/",
    ] {
        assert_eq!(kind(&web, url).await, "bad_url", "{url}");
    }
    for _ in 0..4 {
        assert_eq!(kind(&web, &server.url("/")).await, "bad_url");
    }
    let long = format!("http://example.org/{}", "x".repeat(9_000));
    assert_eq!(kind(&web, &long).await, "bad_url");
}

#[tokio::test]
async fn only_the_ports_of_the_web_are_open() {
    let resolver = FakeResolver::new(&[&["1.1.1.1"]]);
    let web = web(&WebPolicy::default(), resolver.clone());
    for port in [1, 22, 25, 6379, 8080, 65535] {
        let url = format!("http://example.org:{port}/");
        assert_eq!(kind(&web, &url).await, "refused", "{url}");
    }
    assert!(resolver.asked().is_empty(), "nothing had to be resolved");
}

#[tokio::test]
async fn a_granted_port_is_open_at_its_address_only() {
    let server = FaultServer::replies([page("granted")]);
    let port = server.address().port();
    let resolver = FakeResolver::new(&[&["1.1.1.1"]]);
    let web = web(&granting(&server), resolver);
    assert_eq!(kind(&web, &server.url("/")).await, "read granted");
    for host in ["example.org", "127.0.0.2", "[::1]"] {
        let url = format!("http://{host}:{port}/");
        assert_eq!(kind(&web, &url).await, "refused", "{url}");
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_own_port_is_refused_even_if_granted() {
    let server = FaultServer::replies([page("own")]);
    let port = server.address().port();
    let web = open_to(&server);
    web.listens_on(server.address());
    let urls = ["127.0.0.1", "[::ffff:127.0.0.1]", "127.0.0.1."];
    for host in urls {
        assert_eq!(
            kind(&web, &format!("http://{host}:{port}/")).await,
            "refused"
        );
    }
    let mut everywhere = granting(&server);
    everywhere.own = vec![SocketAddr::new([0, 0, 0, 0].into(), port)];
    let web = self::web(&everywhere, FakeResolver::new(&[]));
    assert_eq!(kind(&web, &server.url("/")).await, "refused");
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn one_bad_address_of_a_name_refuses_it() {
    for list in [
        ["1.1.1.1", "127.0.0.1"],
        ["10.0.0.1", "1.1.1.1"],
        ["2606:4700::1111", "fd00::1"],
        ["1.1.1.1", "::ffff:169.254.169.254"],
    ] {
        let web = web(&WebPolicy::default(), FakeResolver::new(&[&list]));
        assert_eq!(kind(&web, "http://both.test/").await, "refused", "{list:?}");
    }
}

/// The connection goes to what was checked: a second answer of the resolver is never asked for.
#[tokio::test]
async fn a_name_that_changes_its_mind_is_pinned() {
    let server = FaultServer::replies([page("checked")]);
    let victim = FaultServer::replies([page("victim")]);
    let (good, bad) = (server.address().to_string(), victim.address().to_string());
    let resolver = FakeResolver::new(&[&[&good], &[&bad]]);
    let web = web(&granting(&server), resolver.clone());
    let url = format!("http://rebind.test:{}/", server.address().port());
    assert_eq!(kind(&web, &url).await, "read checked");
    assert_eq!(resolver.asked(), ["rebind.test"]);
    assert_eq!(
        server.requests()[0].header("host"),
        Some(&url[7..url.len() - 1])
    );
    // The next request asks again, and sees what the name is by then.
    let resolver = FakeResolver::new(&[&[&good], &["127.0.0.2"]]);
    let web = self::web(&granting(&server), resolver.clone());
    assert_eq!(kind(&web, &url).await, "read checked");
    assert_eq!(kind(&web, &url).await, "refused");
    assert_eq!(victim.accepted(), 0);
}

#[tokio::test]
async fn each_hop_is_resolved_and_checked_again() {
    let server = FaultServer::replies([redirect(302, "/again")]);
    let good = server.address().to_string();
    let resolver = FakeResolver::new(&[&[&good], &["192.168.0.1"]]);
    let web = web(&granting(&server), resolver.clone());
    let url = format!("http://rebind.test:{}/", server.address().port());
    assert_eq!(kind(&web, &url).await, "refused");
    assert_eq!(resolver.asked().len(), 2);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn five_redirects_are_followed_and_no_sixth() {
    let server = FaultServer::play(|received| {
        let left: u32 = received.path[1..].parse().unwrap();
        match left {
            0 => page("there"),
            left => redirect(302, &format!("/{}", left - 1)),
        }
    });
    let web = open_to(&server);
    let there = web.fetch(&server.url("/5")).await.unwrap();
    assert_eq!(
        (there.text.as_str(), there.url),
        ("there", server.url("/0"))
    );
    assert_eq!(kind(&web, &server.url("/6")).await, "too_many_redirects");
}

#[tokio::test]
async fn a_slow_drip_ends_after_ten_seconds() {
    let dripped = Signal::new();
    let server = FaultServer::replies([Answer::chunked(200, "text/plain")
        .dribble_chunks("drip drip")
        .fire(&dripped)
        .stall()]);
    let clock = FakeClock::new();
    let web = Web::new(
        &granting(&server),
        FakeResolver::new(&[]),
        Arc::new(clock.clone()),
    )
    .unwrap();
    let url = server.url("/");
    let time = async {
        dripped.wait().await;
        clock.advance(Duration::from_secs(9));
        assert_eq!(clock.sleepers(), [Duration::from_secs(10)]);
        clock.advance(Duration::from_secs(1));
    };
    let (read, ()) = tokio::join!(web.fetch(&url), time);
    assert_eq!(read.unwrap_err().kind, "timeout");
    server.wait_closed(1).await;
}

/// The ten seconds are for names and all hops together.
#[tokio::test]
async fn a_resolver_that_never_answers_ends_after_ten_seconds() {
    struct Never;
    #[async_trait]
    impl Resolve for Never {
        async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
            std::future::pending().await
        }
    }
    let clock = FakeClock::new();
    let web = Web::new(
        &WebPolicy::default(),
        Arc::new(Never),
        Arc::new(clock.clone()),
    )
    .unwrap();
    let fault = clock
        .run(web.fetch("http://example.org/"))
        .await
        .unwrap_err();
    assert_eq!(fault.kind, "timeout");
    assert_eq!(clock.log(), [Duration::from_secs(10)]);
}

#[tokio::test]
async fn an_endless_body_is_read_to_two_mebibytes() {
    let server = FaultServer::replies([
        Answer::chunked(200, "text/plain").repeat_chunk("x".repeat(1 << 16), u64::MAX),
        Answer::head(200, "text/plain")
            .header("content-length", "99999999999")
            .repeat("é".repeat(1 << 15), u64::MAX),
    ]);
    let web = open_to(&server);
    for _ in 0..2 {
        let page = web.fetch(&server.url("/")).await.unwrap();
        assert!(page.truncated);
        assert_eq!(page.text.chars().count(), 200_000);
    }
    server.wait_closed(2).await;
}

#[tokio::test]
async fn text_is_cut_by_characters() {
    let server = FaultServer::replies([page(&"é".repeat(200_000)), page(&"é".repeat(200_001))]);
    let web = open_to(&server);
    let whole = web.fetch(&server.url("/")).await.unwrap();
    assert!(!whole.truncated && whole.text.chars().count() == 200_000);
    let cut = web.fetch(&server.url("/")).await.unwrap();
    assert!(cut.truncated && cut.text == whole.text);
}

#[tokio::test]
async fn a_page_is_labelled() {
    let html = "<html><title>T</title><body><h1>H</h1><p>Some <em>text</em>.</p></body></html>";
    let server = FaultServer::replies([
        redirect(301, "/there?q=1"),
        Answer::whole(404, "text/html; charset=utf-8", html),
    ]);
    let page = open_to(&server).fetch(&server.url("/here")).await.unwrap();
    assert_eq!(
        serde_json::to_value(page).unwrap(),
        json!({
            "url": server.url("/there?q=1"),
            "status": 404,
            "title": "T",
            "content_type": "text/html; charset=utf-8",
            "text": "# H\n\nSome *text*.",
            "truncated": false,
        })
    );
}

#[tokio::test]
async fn what_is_no_text_is_refused() {
    let server = FaultServer::replies([
        Answer::whole(200, "image/png", "PNG"),
        Answer::whole(200, "application/pdf", "%PDF"),
        Answer::whole(200, "application/octet-stream", "text"),
        Answer::whole(200, "text/plain", "a\0b"),
        Answer::whole(200, "application/problem+json", "{}"),
        Answer::whole(200, "text/html; charset=ISO-8859-1", b"caf\xe9".to_vec()),
        Answer::whole(200, "text/plain", b"\xff broken".to_vec()),
        Answer::raw().bytes("HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n<!DOCTYPE html><p>hi "),
    ]);
    let web = open_to(&server);
    let url = server.url("/");
    for _ in 0..4 {
        assert_eq!(kind(&web, &url).await, "binary");
    }
    assert_eq!(kind(&web, &url).await, "read {}");
    assert_eq!(kind(&web, &url).await, "read café");
    assert_eq!(kind(&web, &url).await, "read ÿ broken");
    assert_eq!(kind(&web, &url).await, "read hi");
}
