//! M4: the face in an MCP host, which has a proxy of another origin and the policy of the specification.

use std::collections::BTreeMap;

use hermitcrab_face::Runtime;
use serde_json::{Value, json};
use test_support::browser::{self, Browser, Listener, Served, Site};

use super::apps_host::{FACE, McpHost, document_text, enter, enter_document, press, said, speak};
use super::hostile::{attempts, fence, outcome};
use super::react::kept_react;

/// The built-in runtime, and React if the build has it.
fn runtimes() -> Vec<Runtime> {
    [Runtime::builtin()]
        .into_iter()
        .chain(kept_react())
        .collect()
}

/// The face is shown and its clicks read blocks, on both runtimes. `bridge` is that of the host ([`McpHost::bridged`]).
pub async fn shows_the_face_and_its_clicks_read_blocks(browser: &Browser, bridge: &str) {
    for runtime in runtimes() {
        let host = McpHost::bridged(FACE, &runtime, false, bridge).await;
        host.open(browser).await;
        assert_eq!(press(browser, "read").await, r#"{"content":"Larch"}"#);
        let calls = said(browser, "tools/call").await;
        let read = json!({"name": "block_read", "arguments": {"name": "yard", "path": "0.1"}});
        assert_eq!(calls, [read], "{}", runtime.name());

        let missing = press(browser, "missing").await;
        assert_eq!(missing, "no_block: no block yrad");
        let list = press(browser, "list").await;
        assert!(list.starts_with("too_large: "), "{list}");
        assert_eq!(said(browser, "tools/call").await.len(), 3);
        let wrong = press(browser, "wrong").await;
        assert!(wrong.starts_with("bad_arguments: "), "{wrong}");
        for button in ["write", "usage"] {
            let refused = press(browser, button).await;
            assert!(refused.starts_with("unavailable: "), "{button}: {refused}");
        }
        assert_eq!(said(browser, "tools/call").await.len(), 3);
    }
}

#[test]
fn a_host_shows_the_face_and_its_clicks_read_blocks() {
    browser::run(async |browser| shows_the_face_and_its_clicks_read_blocks(browser, "").await);
}

/// The face writes with `--write`, and a click in it speaks.
pub async fn writes_where_the_server_does_and_speaks(browser: &Browser, bridge: &str) {
    let host = McpHost::bridged(FACE, &Runtime::builtin(), true, bridge).await;
    host.open(browser).await;
    assert_eq!(press(browser, "write").await, r#"{"rev":2}"#);
    let calls = said(browser, "tools/call").await;
    let given = json!({"name": "yard", "path": "0.1", "content": "Oak"});
    assert_eq!(calls, [json!({"name": "block_write", "arguments": given})]);

    assert_eq!(speak(browser).await, r#"{"sent":true}"#);
    let block = json!({"type": "text", "text": "hello </script>"});
    let list = json!({"role": "user", "content": [block]});
    assert_eq!(
        said(browser, "ui/message").await,
        std::slice::from_ref(&list)
    );
}

#[test]
fn the_face_writes_only_where_the_server_does_and_speaks_by_the_host() {
    browser::run(async |browser| {
        writes_where_the_server_does_and_speaks(browser, "").await;
        // A host by the letter of the specification.
        browser.js("window.strict = true").await;
        assert_eq!(speak(browser).await, r#"{"sent":true}"#);
        let block = json!({"type": "text", "text": "hello </script>"});
        let list = json!({"role": "user", "content": [block]});
        let one = json!({"role": "user", "content": block});
        assert_eq!(said(browser, "ui/message").await, [list.clone(), list, one]);
    });
}

/// The host greets the app, gets its size, and ends it.
pub async fn greets_measures_and_ends(browser: &Browser, bridge: &str) {
    let host = McpHost::bridged(FACE, &Runtime::builtin(), false, bridge).await;
    host.open(browser).await;
    let size = "said.find(({ method, params }) => method === 'ui/notifications/size-changed' && params.height === 700)";
    browser.wait_until(size).await;
    let methods = browser
        .eval("said.slice(0, 2).map(({ method }) => method)")
        .await;
    assert_eq!(
        methods,
        json!(["ui/initialize", "ui/notifications/initialized"])
    );
    let hello = json!({
        "protocolVersion": "2026-01-26",
        "appInfo": {"name": "hermitcrab", "version": "0.0.0-test"},
        "appCapabilities": {},
    });
    assert_eq!(said(browser, "ui/initialize").await, [hello]);

    browser
        .js("say({ id: 'p', method: 'ping' }); say({ id: 'x', method: 'ui/no-such' })")
        .await;
    let answer =
        |id: &str| format!("said.find((message) => message.id === '{id}' && !message.method)");
    assert_eq!(browser.wait_until(&answer("p")).await["result"], json!({}));
    let unknown = browser.wait_until(&answer("x")).await;
    assert_eq!(unknown["error"]["code"], -32_601);

    browser
        .js("say({ id: 't', method: 'ui/resource-teardown', params: { reason: 'test' } })")
        .await;
    assert_eq!(browser.wait_until(&answer("t")).await["result"], json!({}));
    enter_document(browser).await;
    assert_eq!(
        browser
            .eval("document.querySelectorAll('iframe').length")
            .await,
        0
    );
    browser.leave_frame().await;
}

#[test]
fn the_host_greets_measures_and_ends_the_app() {
    browser::run(async |browser| greets_measures_and_ends(browser, "").await);
}

#[test]
fn a_face_that_throws_is_replaced_by_its_error() {
    browser::run(async |browser| {
        let jsx = "function App() { throw new Error('<b>broken</b>'); }";
        let host = McpHost::with(jsx, &Runtime::builtin(), false).await;
        host.open(browser).await;
        let shown = document_text(browser, "failed").await;
        assert_eq!(shown, "Face 3 failed (render): Error: <b>broken</b>");
        let log = browser
            .wait_until("said.find(({ method }) => method === 'notifications/message')")
            .await;
        assert_eq!(log["params"]["level"], "error");
    });
}

/// Runs a family of attempts in an app: it gains nothing, and nothing arrives at the listener.
async fn battery(browser: &Browser, family: &str) {
    let listener = Listener::open().await;
    let own = Site::new([("/health", Served::html("own"))]).await;
    let own = own.url("").trim_start_matches("http://").to_owned();
    let jsx = attempts(family, "shell.jsx", &listener, &own);
    let host = McpHost::with(&jsx, &Runtime::builtin(), true).await;
    host.open(browser).await;
    enter(browser).await;
    let (tried, gains) = outcome(browser).await;
    browser.leave_frame().await;
    assert!(tried.len() > 10);
    let heard = listener.heard();
    assert_eq!(gains, BTreeMap::new(), "{family} gained; reached {heard:?}");
    let at = browser.eval("location.href").await;
    assert_eq!(at, host.url(), "the page was led away");
    assert_eq!(browser.windows().await, 1, "a window was opened");
    for method in ["tools/call", "ui/message", "ui/open-link"] {
        assert_eq!(said(browser, method).await, Vec::<Value>::new());
    }
    fence(browser).await;
    assert_eq!(
        listener.heard(),
        Vec::<String>::new(),
        "{family} reached the listener"
    );
}

#[test]
fn no_request_leaves_the_app() {
    browser::run(async |browser| battery(browser, "network").await);
}

#[test]
fn no_way_leads_from_the_app_to_webrtc_or_to_a_child_frame() {
    browser::run(async |browser| battery(browser, "webrtc").await);
}

#[test]
fn nothing_around_the_app_is_read_or_moved() {
    browser::run(async |browser| battery(browser, "reach").await);
}

#[test]
fn the_host_takes_no_message_of_a_shell() {
    browser::run(async |browser| {
        let jsx = "
            function App(props) {
              const [seen, setSeen] = React.useState('mounted');
              React.useEffect(() => {
                const around = [window.parent, window.parent.parent, window.top, window.top[0], window.top[0][0]];
                for (const one of around) {
                  for (const method of ['tools/call', 'ui/message', 'ui/open-link', 'ui/initialize']) {
                    one.postMessage({ jsonrpc: '2.0', id: 'forged', method, params: { name: 'block_write' } }, '*');
                  }
                  one.postMessage({ jsonrpc: '2.0', id: 1, result: {} }, '*');
                  one.postMessage({ jsonrpc: '2.0', method: 'ui/resource-teardown', id: 'forged' }, '*');
                }
                // Without a click of the person.
                props.send('x').then(() => setSeen('sent'), (error) => setSeen(error.error));
              }, []);
              return <p id='seen'>{seen}</p>;
            }";
        let host = McpHost::with(jsx, &Runtime::builtin(), true).await;
        host.open(browser).await;
        enter(browser).await;
        browser
            .wait_until("document.querySelector('#seen').textContent === 'denied'")
            .await;
        browser.leave_frame().await;
        // What was sent before this is there when it is.
        browser.js("say({ id: 'p', method: 'ping' })").await;
        browser
            .wait_until("said.find(({ id }) => id === 'p')")
            .await;
        let forged = "said.filter(({ id, method }) => id === 'forged' || method === 'ui/message')";
        assert_eq!(browser.eval(forged).await, json!([]));
        assert_eq!(said(browser, "ui/initialize").await.len(), 1);
    });
}

/// Ways out of the frame's own page. `TO` is the address.
const WAYS_OUT: [&str; 5] = [
    "location = TO",
    "window.open(TO, '_self')",
    "location = URL.createObjectURL(new Blob(['<script>1</script>'], { type: 'text/html' }))",
    "Object.assign(document.createElement('a'), { href: TO, target: '_top' }).click()",
    // Each is cancelled before another document arrives.
    "let n = 0; setInterval(() => { n += 1; location = TO.replace('127.0.0.1', `n${n}.localhost`); Promise.resolve().then(() => window.stop()); }, 10)",
];

#[test]
fn a_face_that_leaves_its_document_arrives_nowhere() {
    browser::run(async |browser| {
        let listener = Listener::open().await;
        for (at, way) in WAYS_OUT.iter().enumerate() {
            let to = format!("http://{}/out/{at}", listener.place());
            let jsx = format!(
                "const TO = {to:?};\nfunction Bad() {{ React.useEffect(() => {{ setTimeout(() => {{ {way}; document.body.id = 'tried'; }}, 50); }}, []); return <p>bad</p>; }}"
            );
            let host = McpHost::with(&jsx, &Runtime::builtin(), false).await;
            host.open(browser).await;
            if way.contains("_top") {
                enter(browser).await;
                browser.wait_until("document.body.id === 'tried'").await;
                browser.leave_frame().await;
            } else {
                document_text(browser, "left its page").await;
            }
            assert_eq!(browser.eval("location.href").await, host.url(), "{way}");
        }
        fence(browser).await;
        // Chromium opens a connection for a navigation before it asks the policy; no byte comes on it, and few are opened.
        let heard = listener.heard();
        assert!(heard.len() < 50, "{heard:?}");
        assert!(heard.iter().all(|line| line == "tcp"), "{heard:?}");
    });
}
