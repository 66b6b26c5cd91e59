//! The grants of the person, and the search server that the person names.

use super::*;

#[tokio::test]
async fn more_than_get_needs_a_grant() {
    let server = FaultServer::replies([page("done")]);
    let web = open_to(&server);
    let url = server.url("/");
    let none = BTreeMap::new();
    for method in ["POST", "put", "PATCH", "DELETE", "HEAD", "OPTIONS"] {
        let fault = web.request(method, &url, None, &none).await.unwrap_err();
        assert_eq!(fault.kind, "needs_grant", "{method}");
    }
    assert_eq!(server.accepted(), 0);
    // A grant of the host is one for the ports of the web; this server's has to be named.
    web.allow_host("127.0.0.1").unwrap();
    let fault = web.request("POST", &url, None, &none).await.unwrap_err();
    assert_eq!(fault.kind, "needs_grant");
    web.allow_host(&server.address().to_string()).unwrap();
    let headers = [("Content-Type", "application/json"), ("X-Mine", "1")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let page = web
        .request("post", &url, Some("{\"a\":1}"), &headers.into())
        .await
        .unwrap();
    assert_eq!(page.text, "done");
    let request = &server.requests()[0];
    assert_eq!(
        (request.method.as_str(), request.json()),
        ("POST", json!({"a": 1}))
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-mine"), Some("1"));
    for name in ["cookie", "authorization", "referer"] {
        assert_eq!(request.header(name), None);
    }
}

/// A person who allows a host does not open a special address.
#[tokio::test]
async fn an_allowed_host_is_still_checked() {
    let mut policy = WebPolicy::default();
    policy.allow_hosts = vec!["intern.test:8080".to_owned(), "localhost".to_owned()];
    let web = web(&policy, FakeResolver::new(&[&["10.0.0.1"]]));
    assert_eq!(kind(&web, "http://intern.test:8080/").await, "refused");
    assert_eq!(kind(&web, "http://localhost/").await, "refused");
}

#[tokio::test]
async fn a_redirect_takes_a_post_to_no_other_host() {
    let other = FaultServer::replies([page("other")]);
    let there = other.url("/");
    let server = FaultServer::replies([redirect(307, &there), redirect(303, &there)]);
    let mut policy = WebPolicy::default();
    policy.allow_hosts = vec![server.address().to_string()];
    policy.granted = vec![server.address(), other.address()];
    let web = web(&policy, FakeResolver::new(&[]));
    let secret = [("X-Token".to_owned(), "mine".to_owned())].into();
    let url = server.url("/");
    let fault = web.request("POST", &url, Some("b"), &secret).await;
    assert_eq!(fault.unwrap_err().kind, "needs_grant");
    assert_eq!(other.accepted(), 0);
    // As a GET it may go there, without body and the headers that were meant for the first.
    let page = web.request("POST", &url, Some("b"), &secret).await.unwrap();
    assert_eq!(page.url, there);
    let request = &other.requests()[0];
    assert_eq!(
        (request.method.as_str(), request.text()),
        ("GET", String::new())
    );
    assert_eq!(request.header("x-token"), None);
}

#[tokio::test]
async fn headers_that_are_not_the_models_are_refused() {
    let server = FaultServer::replies([page("never")]);
    let web = open_to(&server);
    for (name, value, kind) in [
        ("Host", "evil.test", "refused"),
        ("authorization", "Bearer x", "refused"),
        ("COOKIE", "a=b", "refused"),
        ("Proxy-Authorization", "x", "refused"),
        ("Proxy-Anything", "x", "refused"),
        ("Connection", "close", "refused"),
        ("Transfer-Encoding", "chunked", "refused"),
        ("Content-Length", "1", "refused"),
        ("Upgrade", "h2c", "refused"),
        ("TE", "trailers", "refused"),
        ("X-HTTP-Method-Override", "DELETE", "refused"),
        ("Accept-Encoding", "br", "refused"),
        ("X-A", "a\r\nHost: evil.test", "bad_arguments"),
        ("X-A\r\nHost", "evil.test", "bad_arguments"),
        ("X A", "x", "bad_arguments"),
        ("", "x", "bad_arguments"),
        ("X-A", "a\0b", "bad_arguments"),
    ] {
        let headers = [(name.to_owned(), value.to_owned())].into();
        let fault = web.request("GET", &server.url("/"), None, &headers).await;
        assert_eq!(fault.unwrap_err().kind, kind, "{name}: {value}");
    }
    let none = BTreeMap::new();
    for (method, body) in [
        ("CONNECT", None),
        ("TRACE", None),
        ("GE T", None),
        ("GET", Some("b")),
    ] {
        let fault = web.request(method, &server.url("/"), body, &none).await;
        assert_eq!(fault.unwrap_err().kind, "bad_arguments", "{method}");
    }
    assert_eq!(server.accepted(), 0);
}

/// A server may run them on any of its threads.
#[test]
fn requests_can_move_between_threads() {
    fn can_move(_: &impl Send) {}
    let web = closed();
    let none = BTreeMap::new();
    can_move(&web.fetch("http://a.test/"));
    can_move(&web.request("GET", "http://a.test/", None, &none));
    can_move(&web.search("a"));
}

#[tokio::test]
async fn nothing_is_kept_between_requests() {
    let server =
        FaultServer::replies([page("one").header("set-cookie", "a=b; Path=/"), page("two")]);
    let web = open_to(&server);
    assert_eq!(kind(&web, &server.url("/")).await, "read one");
    assert_eq!(kind(&web, &server.url("/")).await, "read two");
    assert_eq!(server.requests()[1].header("cookie"), None);
    assert_eq!(server.accepted(), 2, "a connection of its own for each");
}

#[tokio::test]
async fn hosts_of_a_grant_are_hosts() {
    let web = closed();
    for host in [
        "",
        "http://a.test",
        "a.test/x",
        "user@a.test",
        "a b",
        "a.test:x",
    ] {
        assert_eq!(
            web.allow_host(host).unwrap_err().kind,
            "bad_host",
            "{host:?}"
        );
    }
    for host in [
        "a.test",
        "a.test:80",
        "A.test:8080",
        "[2606:4700::1]:443",
        "bücher.test",
    ] {
        web.allow_host(host).unwrap();
    }
}

#[tokio::test]
async fn without_a_server_search_is_unavailable() {
    let fault = closed().search("anything").await.unwrap_err();
    assert_eq!(fault.kind, "unavailable");
    assert!(fault.hint.is_some());
}

#[tokio::test]
async fn search_asks_the_persons_server() {
    let hit = |n: usize| json!({"url": format!("https://a.test/{n}"), "title": " T ", "content": "c".repeat(900), "engine": "e"});
    let mut hits: Vec<_> = (0..9).map(hit).collect();
    hits.insert(0, json!({"url": "javascript:alert(1)", "title": "bad"}));
    hits.insert(1, json!({"url": "https://b.test/", "title": null}));
    let server = FaultServer::replies([
        Answer::json(200, json!({"results": hits}).to_string()),
        Answer::json(200, "{}"),
        redirect(302, "http://169.254.169.254/"),
    ]);
    // It is loopback, and no grant is needed: the person configured it.
    let mut policy = WebPolicy::default();
    policy.searxng = Some(server.url("/searx"));
    let web = web(&policy, FakeResolver::new(&[]));
    let found = web.search("two words & more").await.unwrap();
    let path = &server.requests()[0].path;
    assert_eq!(path, "/searx/search?q=two+words+%26+more&format=json");
    let urls: Vec<_> = found.results.iter().map(|hit| hit.url.as_str()).collect();
    let expected = [
        "https://b.test/",
        "https://a.test/0",
        "https://a.test/1",
        "https://a.test/2",
    ];
    assert_eq!(urls[..4], expected);
    assert_eq!(urls.len(), 5);
    assert_eq!(
        (found.results[1].title.as_str(), found.results[1].text.len()),
        ("T", 500)
    );
    for _ in 0..2 {
        assert_eq!(web.search("x").await.unwrap_err().kind, "bad_reply");
    }
    for query in ["", "  ", &"x".repeat(401)] {
        assert_eq!(web.search(query).await.unwrap_err().kind, "bad_arguments");
    }
}
