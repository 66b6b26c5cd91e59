//! The headers of every answer, and the policies of the two kinds of pages.

use serde_json::json;

use super::http::{Answer, Request};
use super::stand::{Session, Stand, face};

/// Section 9: in every answer.
pub fn check_headers(answer: &Answer, what: &str) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{what}");
    }
    let policy = answer.header("cross-origin-resource-policy").unwrap();
    assert!(
        ["same-origin", "cross-origin"].contains(&policy),
        "{what}: {policy}"
    );
    let cors = answer
        .headers
        .iter()
        .filter(|(name, _)| name.starts_with("access-control"));
    let cors: Vec<_> = cors.collect();
    if answer.status == 200 {
        assert!(
            cors.iter()
                .all(|(name, value)| name == "access-control-allow-origin" && value == "*"),
            "{what}"
        );
    } else {
        assert_eq!((policy, cors.len()), ("same-origin", 0), "{what}");
    }
}

#[tokio::test]
async fn what_is_right_is_answered() {
    let stand = Stand::script([face("1")]).await;
    let page = stand.booted().await;
    let frame = page.frame.clone().unwrap();
    let local = format!("localhost:{}", stand.addr.port());
    let session = stand.session().await;
    let key = stand.request("POST", "/api/key").await;
    let key = key.json(&json!({"offline": true}));
    let charset = key
        .clone()
        .with("Content-Type", "application/json; charset=utf-8");
    let reload = stand.bare("POST", "/session").json(&json!({}));
    let absolute = Request::new("GET", &format!("http://{local}/health")).header("Host", &local);
    let get = |target: &str| Request::new("GET", target).header("Host", &local);
    let of_frame = |rest: &str| get(&format!("/face/{frame}/{rest}"));
    for (what, request, status) in [
        ("the page", get("/"), 200),
        ("its script", get("/assets/main.js"), 200),
        ("health", get("/health"), 200),
        ("an absolute target", absolute, 200),
        ("the frame", of_frame(""), 200),
        ("the shell", of_frame("shell/1.js"), 200),
        ("the shell of another revision", of_frame("shell/2.js"), 404),
        ("a shell by no number", of_frame("shell/x.js"), 404),
        ("a shell without its ending", of_frame("shell/1"), 404),
        ("the bridge", of_frame("bridge.js"), 200),
        ("the runtime", of_frame("react.js"), 200),
        ("the bridge without a frame", get("/face/bridge.js"), 404),
        ("the runtime without a frame", get("/face/react.js"), 404),
        (
            "the bridge of a frame that never was",
            get("/face/AAAAAAAAAAAAAAAAAAAAAA/bridge.js"),
            404,
        ),
        ("a reload", reload.header("Cookie", &session.cookie), 200),
        ("JSON with a charset", charset, 200),
        (
            "the origin by name",
            key.with("Origin", &format!("http://{local}")),
            200,
        ),
        ("the export", stand.request("GET", "/api/export").await, 200),
    ] {
        let answer = request.send(stand.addr).await;
        assert_eq!(answer.status, status, "{what}: {answer:?}");
        check_headers(&answer, what);
        let (_, secret) = session.cookie.split_once('=').unwrap();
        assert!(!answer.body.contains(secret), "{what} echoes the cookie");
        let is_script = ["the shell", "the bridge", "the runtime"].contains(&what);
        let allowed = answer.header("access-control-allow-origin");
        assert_eq!(allowed, is_script.then_some("*"), "{what}");
        let policy = answer.header("cross-origin-resource-policy").unwrap();
        let is_of_frame = is_script || what == "the frame";
        assert_eq!(policy == "cross-origin", is_of_frame, "{what}: {policy}");
        if is_script {
            assert_eq!(
                answer.header("content-type"),
                Some("text/javascript; charset=utf-8")
            );
        }
    }
    // The head of a page, without the page.
    let head = Request::new("HEAD", "/")
        .header("Host", &local)
        .send(stand.addr)
        .await;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    check_headers(&head, "a head");
    // A frame dies with its page.
    drop(page);
    stand.deserted().await;
    assert_eq!(of_frame("").send(stand.addr).await.status, 404);
    for file in ["shell/1.js", "bridge.js", "react.js"] {
        let answer = of_frame(file).send(stand.addr).await;
        assert_eq!(answer.status, 404, "{file}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{file}");
    }
    stand.end().await;
}

/// Section 9, letter by letter.
#[tokio::test]
async fn policies_are_those_of_the_specification() {
    let stand = Stand::script([face("1")]).await;
    let page = stand.booted().await;
    let origin = stand.origin();
    let face = format!("{origin}/face/");
    let frame = format!("/face/{}/", page.frame.clone().unwrap());
    let host_parts = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
         frame-src {face}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    );
    let frame_parts = format!(
        "sandbox allow-scripts; default-src 'none'; script-src {face}; style-src 'unsafe-inline'; img-src data: blob:; \
         font-src data:; media-src blob: data:; connect-src 'none'; form-action 'none'; base-uri 'none'; \
         frame-src 'none'; worker-src 'none'; webrtc 'block'; frame-ancestors {origin}"
    );
    for (target, parts) in [("/", host_parts), (frame.as_str(), frame_parts)] {
        let answer = stand.bare("GET", target).send(stand.addr).await;
        let policy = answer.header("content-security-policy").unwrap();
        for part in parts.split("; ") {
            assert!(
                policy.split(';').any(|own| own.trim() == part),
                "{part} is not in {policy}"
            );
        }
        assert!(!policy.contains("unsafe-eval"), "{policy}");
    }
    stand.end().await;
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
