//! S4: who may ask for what. What is wrong is refused, and changes nothing.

use serde_json::{Value, json};

use super::http::{Request, raw};
use super::security_headers::check_headers;
use super::stand::{Stand, face};

const WRONG: &str = "AAAAAAAAAAAAAAAAAAAAAA";

/// The expectations of a test about requests.
struct Refused {
    stand: Stand,
    secrets: Vec<String>,
    /// All blocks, as they can be imported.
    bundle: Value,
}

impl Refused {
    async fn new() -> Self {
        let stand = Stand::script([face("1")]).await;
        drop(stand.booted().await);
        let session = stand.session().await;
        let secrets = vec![session.token, session.cookie, stand.once.clone()];
        let bundle = stand.get("/api/export").await.json();
        Self {
            stand,
            secrets,
            bundle,
        }
    }

    async fn get(&self, target: &str) -> Request {
        self.stand.request("GET", target).await
    }

    /// A request that would be answered with 200 and bring blocks.
    async fn import(&self) -> Request {
        let request = self.stand.request("POST", "/api/import").await;
        request.json(&self.bundle)
    }

    async fn is(&self, what: &str, request: Request, status: u16, error: &str) {
        let answer = request.send(self.stand.addr).await;
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (status, error),
            "{what}: {answer:?}"
        );
        check_headers(&answer, what);
        for secret in &self.secrets {
            assert!(
                !format!("{answer:?}").contains(secret),
                "{what} echoes a secret"
            );
        }
    }

    /// Checks that no block was changed.
    async fn end(self) {
        let log = self.stand.page().await.bar("log", json!([])).await.unwrap();
        let by_kernel = |row: &Value| row["by"] == "kernel";
        assert!(log.as_array().unwrap().iter().all(by_kernel), "{log}");
        self.stand.end().await;
    }
}

#[tokio::test]
async fn other_origins() {
    let refused = Refused::new().await;
    let port = refused.stand.addr.port();
    for origin in [
        "http://evil.test",
        "null",
        "",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        &format!("https://127.0.0.1:{port}"),
        &format!("http://127.0.0.1:{port}.evil.test"),
        &format!("http://127.0.0.1:{port}/"),
        &format!("HTTP://127.0.0.1:{port}"),
    ] {
        let request = refused.import().await.with("Origin", origin);
        refused
            .is(&format!("origin {origin:?}"), request, 403, "origin")
            .await;
    }
    let none = refused.import().await.without("Origin");
    refused.is("no origin", none, 403, "origin").await;
    let two = refused.import().await.header("Origin", "http://evil.test");
    refused.is("two origins", two, 403, "origin").await;
    let session = refused.stand.bare("POST", "/session").json(&json!({}));
    refused
        .is(
            "no origin at the session",
            session.without("Origin"),
            403,
            "origin",
        )
        .await;
    let asks = refused
        .stand
        .bare("OPTIONS", "/api/import")
        .with("Origin", "http://evil.test");
    refused
        .is("OPTIONS from elsewhere", asks, 403, "origin")
        .await;
    refused.end().await;
}

#[tokio::test]
async fn a_wrong_address_is_said_to_be_wrong_and_nothing_more() {
    let stand = Stand::script([]).await;
    stand.session().await;
    for token in [stand.once.as_str(), WRONG] {
        let ask = stand.bare("POST", "/session");
        let answer = ask.json(&json!({"token": token})).send(stand.addr).await;
        assert_eq!(answer.status, 403);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        let wrong =
            "this address is not valid: it was used before, or the server was started again; ";
        assert!(detail.starts_with(wrong), "{detail}");
    }
    stand.end().await;
}

#[tokio::test]
async fn other_hosts() {
    let refused = Refused::new().await;
    let port = refused.stand.addr.port();
    for host in [
        "evil.test",
        "",
        "127.0.0.1",
        "127.0.0.1:1",
        &format!("evil.test:{port}"),
        &format!("127.0.0.2:{port}"),
        &format!("evil.test@127.0.0.1:{port}"),
        &format!("127.0.0.1:{port}.evil.test"),
        &format!("[::1]:{port}"),
        &format!("0.0.0.0:{port}"),
        &format!("2130706433:{port}"),
    ] {
        for target in ["/", "/health", "/api/export", "/face/bridge.js", "/nowhere"] {
            let request = refused.get(target).await.with("Host", host);
            refused
                .is(&format!("host {host:?} for {target}"), request, 403, "host")
                .await;
        }
    }
    let own = refused.stand.addr.to_string();
    for (what, request) in [
        ("no host", refused.get("/").await.without("Host")),
        (
            "two hosts",
            refused.get("/").await.header("Host", "evil.test"),
        ),
        (
            "its own host twice",
            refused.get("/").await.header("Host", &own),
        ),
        (
            "a target elsewhere",
            Request::new("GET", "http://evil.test/health").header("Host", &own),
        ),
        (
            "a target at home for another host",
            refused
                .get(&format!("http://{own}/"))
                .await
                .with("Host", "evil.test"),
        ),
    ] {
        refused.is(what, request, 403, "host").await;
    }
    refused.end().await;
}

#[tokio::test]
async fn other_tokens() {
    const TOKEN: &str = "X-Hermitcrab-Token";
    let refused = Refused::new().await;
    let port = refused.stand.addr.port();
    let [token, cookie, once] = refused.secrets.as_slice() else {
        panic!()
    };
    let cookie_of = |value: &str| format!("hermitcrab_{port}={value}");
    let get = refused.get("/api/export").await;
    for (what, request) in [
        ("no tokens", get.clone().without(TOKEN).without("Cookie")),
        ("the cookie alone", get.clone().without(TOKEN)),
        ("the token alone", get.clone().without("Cookie")),
        ("a wrong token", get.clone().with(TOKEN, WRONG)),
        ("a short token", get.clone().with(TOKEN, &token[..21])),
        (
            "a long token",
            get.clone().with(TOKEN, &format!("{token}A")),
        ),
        ("an empty token", get.clone().with(TOKEN, "")),
        ("the one-time token", get.clone().with(TOKEN, once)),
        (
            "a wrong cookie",
            get.clone().with("Cookie", &cookie_of(WRONG)),
        ),
        (
            "an empty cookie",
            get.clone().with("Cookie", &cookie_of("")),
        ),
        (
            "the token as cookie",
            get.clone().with("Cookie", &cookie_of(token)),
        ),
        (
            "the cookie of another server",
            get.clone()
                .with("Cookie", &cookie.replace(&port.to_string(), "1")),
        ),
    ] {
        refused.is(what, request, 403, "session").await;
    }
    for target in ["/api/import", "/api/key"] {
        let post = refused.stand.bare("POST", target).json(&json!({}));
        refused
            .is(&format!("no tokens for {target}"), post, 403, "session")
            .await;
    }
    for body in [
        json!({"token": once}),
        json!({"token": WRONG}),
        json!({"token": ""}),
        json!({"token": token}),
        json!({}),
    ] {
        let request = refused.stand.bare("POST", "/session").json(&body);
        refused
            .is(&format!("a session for {body}"), request, 403, "session")
            .await;
    }
    refused.end().await;
}

#[tokio::test]
async fn other_methods_and_bodies() {
    let refused = Refused::new().await;
    let stand = &refused.stand;
    for (method, target) in [
        ("GET", "/api/import"),
        ("GET", "/api/key"),
        ("HEAD", "/api/import"),
        ("GET", "/session"),
        ("PUT", "/api/import"),
        ("DELETE", "/api/export"),
        ("PATCH", "/api/key"),
        ("POST", "/api/export"),
        ("POST", "/"),
        ("POST", "/health"),
        ("POST", "/ws"),
        ("OPTIONS", "/api/import"),
        ("TRACE", "/"),
    ] {
        let mut request = stand.request(method, target).await;
        if !matches!(method, "GET" | "HEAD") {
            request = request.json(&json!({}));
        }
        if method == "HEAD" {
            let answer = request.send(stand.addr).await;
            assert_eq!(answer.status, 405);
            continue;
        }
        refused
            .is(&format!("{method} {target}"), request, 405, "method")
            .await;
    }
    let import = refused.import().await;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonx",
        "",
        "text/plain; application/json",
    ] {
        let request = import.clone().with("Content-Type", kind);
        refused
            .is(&format!("a body of {kind:?}"), request, 415, "content_type")
            .await;
    }
    let none = import.clone().without("Content-Type");
    refused.is("no type", none, 415, "content_type").await;
    let two = import.clone().header("Content-Type", "text/plain");
    refused.is("two types", two, 415, "content_type").await;
    let key = stand.request("POST", "/api/key").await.json(&json!({}));
    for body in ["", "{", "[", "\u{0}", &"[".repeat(10_000)] {
        refused
            .is("no JSON", key.clone().body(body), 400, "bad_arguments")
            .await;
    }
    // What is too large is refused by its announcement: nothing of it is read.
    for (target, limit) in [
        ("/api/import", 64 << 20),
        ("/api/key", 4 << 20),
        ("/session", 4 << 20),
    ] {
        let post = stand.request("POST", target).await.json(&json!({}));
        let length = limit + 1;
        let large = post.with("Content-Length", &length.to_string());
        let told = large.clone().send(stand.addr).await.json();
        let detail = format!("the body has {length} bytes, more than {limit} bytes");
        assert_eq!(told["detail"], detail, "{target}");
        refused
            .is(
                &format!("{length} bytes for {target}"),
                large,
                413,
                "too_large",
            )
            .await;
    }
    refused.end().await;
}

#[tokio::test]
async fn other_places() {
    let refused = Refused::new().await;
    for (target, status, error) in [
        // The socket has these.
        ("/api/blocks", 404, "not_found"),
        ("/api/blocks/memory", 404, "not_found"),
        ("/api/log", 404, "not_found"),
        ("/api/undo", 404, "not_found"),
        ("/nowhere", 404, "not_found"),
        ("/api/nowhere", 404, "not_found"),
        ("/face/AAAAAAAAAAAAAAAAAAAAAA/", 404, "not_found"),
        ("/face/%ff/", 400, "bad_arguments"),
        ("/face/AAAAAAAAAAAAAAAAAAAAAA/shell/1.js", 404, "not_found"),
        ("/assets/..%2f..%2fCargo.toml", 404, "not_found"),
        ("/assets/../../Cargo.toml", 404, "not_found"),
        ("/assets/..", 404, "not_found"),
        ("/assets/main.js%00", 404, "not_found"),
        ("/assets//etc/passwd", 404, "not_found"),
    ] {
        refused
            .is(target, refused.get(target).await, status, error)
            .await;
    }
    refused.end().await;
}

/// Bodies that are refused are not repeated: a token or a key may stand in them.
#[tokio::test]
async fn no_refusal_repeats_a_secret() {
    let stand = Stand::script([]).await;
    let once = json!(stand.once);
    for body in [
        json!(once),
        json!({"token": [once]}),
        json!({"token": {"x": once}}),
    ] {
        let answer = stand
            .bare("POST", "/session")
            .json(&body)
            .send(stand.addr)
            .await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(!answer.body.contains(&stand.once), "{answer:?}");
    }
    let key = json!("sk-ant-a-marker");
    for body in [
        json!(key),
        json!([key]),
        json!({"key": [key]}),
        json!({"kex": key}),
    ] {
        let answer = stand.post("/api/key", body).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(!answer.body.contains("marker"), "{answer:?}");
    }
    stand.end().await;
}

#[tokio::test]
async fn what_is_no_http_gets_nothing() {
    let stand = Stand::script([]).await;
    for text in [
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
    ] {
        let answer = raw(stand.addr, text.as_bytes()).await;
        assert!(answer.status >= 400 && answer.body.is_empty(), "{answer:?}");
    }
    let old = raw(stand.addr, b"GET / HTTP/1.0\r\n\r\n").await;
    assert_eq!((old.status, old.error().as_str()), (403, "host"));
    stand.end().await;
}
