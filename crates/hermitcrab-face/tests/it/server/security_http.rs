//! S4: who may ask for what. Every answer says the same of itself.

use serde_json::{Value, json};

use super::http::{Answer, Request, raw};
use super::stand::{Session, Stand, face};

/// What every answer says.
fn check_headers(answer: &Answer, what: &str) {
    let of = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    assert_eq!(of("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(of("referrer-policy"), "no-referrer", "{what}");
    assert_eq!(of("cache-control"), "no-store", "{what}");
    assert_eq!(of("cross-origin-opener-policy"), "same-origin", "{what}");
    let policy = of("cross-origin-resource-policy");
    assert!(
        ["same-origin", "cross-origin"].contains(&policy.as_str()),
        "{what}: {policy}"
    );
    if answer.status != 200 {
        assert_eq!(policy, "same-origin", "{what}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{what}");
    }
}

/// A request, what it is, and the status and kind of its refusal.
type Attempt = (&'static str, Request, u16, &'static str);

async fn attempts(stand: &Stand) -> Vec<Attempt> {
    let Session { cookie, token } = stand.session().await;
    let undo = || {
        let request = stand.bare("POST", "/api/undo");
        let request = request
            .header("Cookie", &cookie)
            .header("X-Hermitcrab-Token", &token);
        request.json(&json!({"name": "memory"}))
    };
    let read = || {
        let request = stand.bare("GET", "/api/blocks").without("Origin");
        request
            .header("Cookie", &cookie)
            .header("X-Hermitcrab-Token", &token)
    };
    let put = |body: &Value| {
        let request = stand.bare("PUT", "/api/blocks/memory").json(body);
        request
            .header("Cookie", &cookie)
            .header("X-Hermitcrab-Token", &token)
    };
    let node = json!({"path": "0.1", "content": "x"});
    let session = |body: &Value| stand.bare("POST", "/session").json(body);
    let port = stand.addr.port();
    let local = format!("localhost:{port}");
    vec![
        // Origins.
        (
            "another origin",
            undo().with("Origin", "http://evil.test"),
            403,
            "origin",
        ),
        (
            "another scheme",
            undo().with("Origin", &format!("https://127.0.0.1:{port}")),
            403,
            "origin",
        ),
        (
            "another port",
            undo().with("Origin", "http://127.0.0.1:1"),
            403,
            "origin",
        ),
        (
            "a longer origin",
            undo().with("Origin", &format!("{}.evil.test", stand.origin())),
            403,
            "origin",
        ),
        ("origin null", undo().with("Origin", "null"), 403, "origin"),
        ("no origin", undo().without("Origin"), 403, "origin"),
        (
            "two origins",
            undo().header("Origin", "http://evil.test"),
            403,
            "origin",
        ),
        (
            "no origin at the session",
            session(&json!({"token": stand.once})).without("Origin"),
            403,
            "origin",
        ),
        // Hosts.
        (
            "another host",
            read().with("Host", "evil.test"),
            403,
            "host",
        ),
        (
            "another host with the port",
            read().with("Host", &format!("evil.test:{port}")),
            403,
            "host",
        ),
        ("two hosts", read().header("Host", "evil.test"), 403, "host"),
        (
            "the same host twice",
            read().header("Host", &stand.addr.to_string()),
            403,
            "host",
        ),
        (
            "another port",
            read().with("Host", "127.0.0.1:1"),
            403,
            "host",
        ),
        ("no port", read().with("Host", "127.0.0.1"), 403, "host"),
        ("no host", read().without("Host"), 403, "host"),
        (
            "another address of this machine",
            read().with("Host", &format!("127.0.0.2:{port}")),
            403,
            "host",
        ),
        (
            "a name that ends so",
            read().with("Host", &format!("evil.test@127.0.0.1:{port}")),
            403,
            "host",
        ),
        // Tokens.
        (
            "no tokens",
            read().without("Cookie").without("X-Hermitcrab-Token"),
            403,
            "session",
        ),
        (
            "the cookie alone",
            read().without("X-Hermitcrab-Token"),
            403,
            "session",
        ),
        ("the token alone", read().without("Cookie"), 403, "session"),
        (
            "a wrong token",
            read().with("X-Hermitcrab-Token", "AAAAAAAAAAAAAAAAAAAAAA"),
            403,
            "session",
        ),
        (
            "a short token",
            read().with("X-Hermitcrab-Token", &token[..21]),
            403,
            "session",
        ),
        (
            "an empty token",
            read().with("X-Hermitcrab-Token", ""),
            403,
            "session",
        ),
        (
            "the one-time token as token",
            read().with("X-Hermitcrab-Token", &stand.once),
            403,
            "session",
        ),
        (
            "a wrong cookie",
            read().with(
                "Cookie",
                &format!("hermitcrab_{port}=AAAAAAAAAAAAAAAAAAAAAA"),
            ),
            403,
            "session",
        ),
        (
            "the cookie of another server",
            read().with("Cookie", &cookie.replace(&port.to_string(), "1")),
            403,
            "session",
        ),
        (
            "the token as cookie",
            read().with("Cookie", &format!("hermitcrab_{port}={token}")),
            403,
            "session",
        ),
        (
            "a post without tokens",
            undo().without("Cookie").without("X-Hermitcrab-Token"),
            403,
            "session",
        ),
        // Sessions: the one-time token was used.
        (
            "an old one-time token",
            session(&json!({"token": stand.once})),
            403,
            "session",
        ),
        (
            "a wrong one-time token",
            session(&json!({"token": "AAAAAAAAAAAAAAAAAAAAAA"})),
            403,
            "session",
        ),
        (
            "no token for a session",
            session(&json!({})),
            403,
            "session",
        ),
        // Methods.
        (
            "GET for a POST",
            read_of(stand, "/api/undo", &cookie, &token),
            405,
            "method",
        ),
        (
            "GET for a session",
            stand.bare("GET", "/session"),
            405,
            "method",
        ),
        (
            "POST for a GET",
            with_tokens(stand.bare("POST", "/api/blocks"), &cookie, &token).json(&json!({})),
            405,
            "method",
        ),
        (
            "DELETE of a block",
            with_tokens(stand.bare("DELETE", "/api/blocks/memory"), &cookie, &token)
                .json(&json!({})),
            405,
            "method",
        ),
        (
            "OPTIONS from elsewhere",
            undo_options(stand).with("Origin", "http://evil.test"),
            403,
            "origin",
        ),
        ("OPTIONS", undo_options(stand), 415, "content_type"),
        (
            "TRACE",
            stand.bare("TRACE", "/").without("Origin"),
            403,
            "origin",
        ),
        // Kinds and sizes of bodies.
        (
            "a plain text",
            undo().with("Content-Type", "text/plain"),
            415,
            "content_type",
        ),
        (
            "a form",
            undo().with("Content-Type", "application/x-www-form-urlencoded"),
            415,
            "content_type",
        ),
        (
            "no type",
            undo().without("Content-Type"),
            415,
            "content_type",
        ),
        (
            "two types",
            undo().header("Content-Type", "text/plain"),
            415,
            "content_type",
        ),
        ("no JSON", undo().body("{"), 400, "bad_arguments"),
        ("an empty body", undo().body(""), 400, "bad_arguments"),
        (
            "5 MiB",
            undo().with("Content-Length", &(5 << 20).to_string()),
            413,
            "bad_arguments",
        ),
        (
            "5 MiB of a block",
            put(&node)
                .header("If-Match", "1")
                .with("Content-Length", &(5 << 20).to_string()),
            413,
            "bad_arguments",
        ),
        // Revisions.
        ("no revision", put(&node), 428, "revision"),
        (
            "no number",
            put(&node).header("If-Match", "*"),
            428,
            "revision",
        ),
        (
            "another revision",
            put(&node).header("If-Match", "99"),
            412,
            "revision",
        ),
        (
            "another revision of a whole block",
            put(&json!({"decimal": 1, "tree": {"_": "x"}})).header("If-Match", "99"),
            412,
            "revision",
        ),
        // Names and paths.
        (
            "a name with dots",
            read_of(stand, "/api/blocks/..%2fx", &cookie, &token),
            400,
            "bad_name",
        ),
        (
            "a put to a name with dots",
            put_to(stand, "/api/blocks/..%2fx", &cookie, &token),
            400,
            "bad_name",
        ),
        (
            "a name that is no text",
            read_of(stand, "/api/blocks/%ff", &cookie, &token),
            400,
            "bad_arguments",
        ),
        (
            "an unknown block",
            read_of(stand, "/api/blocks/nowhere", &cookie, &token),
            404,
            "no_block",
        ),
        (
            "a bad path",
            read_of(stand, "/api/blocks/memory?path=0..1", &cookie, &token),
            400,
            "bad_path",
        ),
        (
            "a bad view",
            read_of(stand, "/api/blocks/memory?path=0&view=x", &cookie, &token),
            400,
            "bad_arguments",
        ),
        (
            "a bad limit",
            read_of(stand, "/api/log?limit=x", &cookie, &token),
            400,
            "bad_arguments",
        ),
        (
            "a log of a bad name",
            read_of(stand, "/api/log?name=..%2fx", &cookie, &token),
            400,
            "bad_name",
        ),
        // What is not there.
        (
            "an unknown place",
            stand.bare("GET", "/nowhere"),
            404,
            "not_found",
        ),
        (
            "an unknown place of the api",
            read_of(stand, "/api/nowhere", &cookie, &token),
            404,
            "not_found",
        ),
        (
            "an unknown frame",
            stand.bare("GET", "/face/AAAAAAAAAAAAAAAAAAAAAA/"),
            404,
            "not_found",
        ),
        (
            "a script of an unknown frame",
            stand.bare("GET", "/face/AAAAAAAAAAAAAAAAAAAAAA/shell/1.js"),
            404,
            "not_found",
        ),
        (
            "an asset above",
            stand.bare("GET", "/assets/..%2f..%2fCargo.toml"),
            404,
            "not_found",
        ),
        (
            "an asset above, plain",
            stand.bare("GET", "/assets/../../Cargo.toml"),
            404,
            "not_found",
        ),
        (
            "an asset with a zero",
            stand.bare("GET", "/assets/main.js%00"),
            404,
            "not_found",
        ),
        // The target says another host than the header.
        (
            "an absolute target elsewhere",
            Request::new("GET", "http://evil.test/health").header("Host", &local),
            403,
            "host",
        ),
    ]
}

fn with_tokens(request: Request, cookie: &str, token: &str) -> Request {
    request
        .header("Cookie", cookie)
        .header("X-Hermitcrab-Token", token)
}

fn read_of(stand: &Stand, target: &str, cookie: &str, token: &str) -> Request {
    with_tokens(stand.bare("GET", target), cookie, token)
}

fn put_to(stand: &Stand, target: &str, cookie: &str, token: &str) -> Request {
    let request = with_tokens(stand.bare("PUT", target), cookie, token);
    request
        .json(&json!({"path": "0", "content": "x"}))
        .header("If-Match", "1")
}

fn undo_options(stand: &Stand) -> Request {
    stand
        .bare("OPTIONS", "/api/undo")
        .header("Access-Control-Request-Method", "POST")
}

#[tokio::test]
async fn what_is_wrong_is_refused() {
    let stand = Stand::script([face("1")]).await;
    drop(stand.booted().await);
    let session = stand.session().await;
    let before = stand.get("/api/blocks").await.json();
    for (what, request, status, error) in attempts(&stand).await {
        let answer = request.send(stand.addr).await;
        assert_eq!(
            (answer.status, answer.error().as_str()),
            (status, error),
            "{what}: {answer:?}"
        );
        check_headers(&answer, what);
        for secret in [&session.token, &session.cookie, &stand.once] {
            assert!(
                !format!("{answer:?}").contains(secret.as_str()),
                "{what} echoes a secret"
            );
        }
    }
    assert_eq!(
        stand.get("/api/blocks").await.json(),
        before,
        "nothing was changed"
    );
    stand.end().await;
}

#[tokio::test]
async fn what_is_right_is_answered() {
    let stand = Stand::script([face("1")]).await;
    let page = stand.booted().await;
    let frame = page.frame.clone().unwrap();
    let local = format!("localhost:{}", stand.addr.port());
    let session = stand.session().await;
    let undo = stand
        .request("POST", "/api/undo")
        .await
        .json(&json!({"name": "memory"}));
    let charset = undo
        .clone()
        .with("Content-Type", "application/json; charset=utf-8");
    let reload = stand.bare("POST", "/session").json(&json!({}));
    let absolute = Request::new("GET", &format!("http://{local}/health")).header("Host", &local);
    let right = [
        ("the page", stand.bare("GET", "/"), 200),
        (
            "the page by name",
            Request::new("GET", "/").header("Host", &local),
            200,
        ),
        ("its head", stand.bare("HEAD", "/").without("Origin"), 200),
        ("health", stand.bare("GET", "/health"), 200),
        ("an absolute target", absolute, 200),
        (
            "a frame",
            stand.bare("GET", &format!("/face/{frame}/")),
            200,
        ),
        (
            "its script",
            stand.bare("GET", &format!("/face/{frame}/shell/1.js")),
            200,
        ),
        (
            "the script of another face",
            stand.bare("GET", &format!("/face/{frame}/shell/2.js")),
            404,
        ),
        (
            "a script by no number",
            stand.bare("GET", &format!("/face/{frame}/shell/x.js")),
            404,
        ),
        (
            "no script",
            stand.bare("GET", &format!("/face/{frame}/shell/1")),
            404,
        ),
        ("the bridge", stand.bare("GET", "/face/bridge.js"), 200),
        ("the runtime", stand.bare("GET", "/face/react.js"), 200),
        ("a reload", reload.header("Cookie", &session.cookie), 200),
        // Nothing is to be undone, but the request came through.
        ("JSON with a charset", charset, 400),
        (
            "the origin by name",
            undo.with("Origin", &format!("http://{local}")),
            400,
        ),
    ];
    for (what, request, status) in right {
        let answer = request.send(stand.addr).await;
        assert_eq!(answer.status, status, "{what}: {answer:?}");
        check_headers(&answer, what);
        assert!(
            !answer.body.contains(&session.cookie[5..]),
            "{what} echoes the cookie"
        );
        let is_script =
            answer.status == 200 && ["its script", "the bridge", "the runtime"].contains(&what);
        let allowed = answer.header("access-control-allow-origin");
        assert_eq!(allowed, is_script.then_some("*"), "{what}");
        let is_frame = is_script || what == "a frame";
        let policy = answer.header("cross-origin-resource-policy").unwrap();
        assert_eq!(policy == "cross-origin", is_frame, "{what}: {policy}");
        if is_script {
            assert_eq!(
                answer.header("content-type"),
                Some("text/javascript; charset=utf-8")
            );
        }
    }
    // A frame dies with its page.
    drop(page);
    stand.deserted().await;
    let gone = stand
        .bare("GET", &format!("/face/{frame}/"))
        .send(stand.addr)
        .await;
    assert_eq!(gone.status, 404);
    stand.end().await;
}

/// Section 9, letter by letter.
#[tokio::test]
async fn policies_are_those_of_the_specification() {
    let stand = Stand::script([face("1")]).await;
    let page = stand.booted().await;
    let origin = stand.origin();
    let host = stand.bare("GET", "/").send(stand.addr).await;
    let policy = host.header("content-security-policy").unwrap();
    let face = format!("{origin}/face/");
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data: blob:",
        &format!("frame-src {face}"),
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(has(policy, part), "{part} is not in {policy}");
    }
    let frame = format!("/face/{}/", page.frame.clone().unwrap());
    let frame = stand.bare("GET", &frame).send(stand.addr).await;
    let policy = frame.header("content-security-policy").unwrap();
    for part in [
        "sandbox allow-scripts",
        "default-src 'none'",
        &format!("script-src {face}"),
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "font-src data:",
        "media-src blob: data:",
        "connect-src 'none'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-src 'none'",
        "worker-src 'none'",
        "webrtc 'block'",
        &format!("frame-ancestors {origin}"),
    ] {
        assert!(has(policy, part), "{part} is not in {policy}");
    }
    assert!(!policy.contains("unsafe-eval"), "{policy}");
    stand.end().await;
}

fn has(policy: &str, part: &str) -> bool {
    policy.split(';').any(|own| own.trim() == part)
}

#[tokio::test]
async fn the_cookie_is_for_this_server_and_no_script() {
    let stand = Stand::script([]).await;
    let answer = stand.open_session().await;
    let cookie = answer.header("set-cookie").unwrap();
    let name = format!("hermitcrab_{}=", stand.addr.port());
    assert!(cookie.starts_with(&name), "{cookie}");
    let marks: Vec<_> = cookie.split("; ").skip(1).collect();
    assert_eq!(marks, ["HttpOnly", "SameSite=Strict", "Path=/"]);
    check_headers(&answer, "the session");
    let Session { cookie, token } = Session::of(&answer);
    assert!(!cookie.contains(&token) && !cookie.contains(&stand.once) && token != stand.once);
    stand.end().await;
}

/// Bodies that are refused as JSON are not repeated: a token or a key may stand in them.
#[tokio::test]
async fn no_refusal_repeats_a_secret() {
    let stand = Stand::script([]).await;
    let once = json!(stand.once);
    for body in [
        once.clone(),
        json!([once]),
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
        key.clone(),
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
async fn what_is_no_http_is_answered_by_nothing_that_helps() {
    let stand = Stand::script([]).await;
    for text in [
        "\r\n\r\n",
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
