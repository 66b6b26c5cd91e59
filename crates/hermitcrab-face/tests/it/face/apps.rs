//! M4: the face in an MCP host, which has a proxy of another origin and the policy of the specification.

use std::collections::BTreeMap;

use hermitcrab_face::jsx::compile_shell;
use hermitcrab_face::{Runtime, mcp_app_document};
use hermitcrab_kernel::faces::Shell;
use serde_json::{Value, json};
use test_support::browser::{self, Browser, Listener, Served, Site};

use super::hostile::{attempts, fence, outcome};
use super::react::kept_react;

/// The policy of a host for an app that declares no domain.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'";

const SCRIPT: &str = include_str!("apps_host.js");

/// A face with a button for each call; the result of the last one is its text.
const FACE: &str = "
    function App(props) {
      const [seen, setSeen] = React.useState('mounted');
      const [done, setDone] = React.useState(0);
      const calls = {
        read: () => props.blockRead('yard', '0.1'),
        missing: () => props.blockRead('yrad'),
        list: () => props.blockList(),
        write: () => props.blockWrite('yard', '0.1', 'Oak'),
        say: () => props.send('hello </script>'),
        usage: () => props.usage(),
        wrong: () => props.blockRead(5),
      };
      const run = (call) => async () => {
        try {
          setSeen(JSON.stringify(await call()));
        } catch (error) {
          setSeen(error.error + ': ' + error.detail);
        }
        setDone((before) => before + 1);
      };
      return <main style={{ height: '700px' }}>
        {Object.keys(calls).map((name) => <button key={name} id={name} onClick={run(calls[name])}>{name}</button>)}
        <p id='seen' data-done={done}>{seen}</p>
      </main>;
    }";

/// The page and the proxy of a host with an app. Both serve until it is dropped.
struct McpHost([Site; 2]);

impl McpHost {
    async fn with(jsx: &str, runtime: &Runtime, can_write: bool) -> Self {
        let compiled = compile_shell(jsx).unwrap();
        let html = mcp_app_document(
            &Shell { rev: 3, compiled },
            runtime,
            "0.0.0-test",
            can_write,
        );
        let files = |page: Served| [("/", page), ("/host.js", Served::script(SCRIPT))];
        let proxy = "<!doctype html><body><script src=/host.js></script>";
        let proxy = Site::new(files(Served::html(proxy).under(POLICY))).await;
        let page = format!(
            "<!doctype html><meta charset=utf-8><body data-proxy='{}'><script src=/host.js></script>",
            proxy.url("/")
        );
        let app = ("/app.html", Served::html(html));
        let page = Site::new(files(Served::html(page)).into_iter().chain([app])).await;
        Self([page, proxy])
    }

    async fn open(&self, browser: &Browser) {
        browser.open(&self.0[0].url("/")).await;
    }
}

/// Enters the frame of the face: host, proxy, document, face.
async fn enter(browser: &Browser) {
    for _ in 0..3 {
        browser.enter_frame("iframe").await;
    }
}

/// The messages that the host got with this method.
async fn said(browser: &Browser, method: &str) -> Vec<Value> {
    let of = format!(
        "said.filter(({{ method }}) => method === {method:?}).map(({{ params }}) => params)"
    );
    browser.eval(&of).await.as_array().unwrap().clone()
}

/// Presses a button of the face and returns the result.
async fn press(browser: &Browser, button: &str) -> String {
    enter(browser).await;
    let seen = browser.wait_for("#seen").await;
    let before = seen.attr("data-done").await.unwrap().unwrap();
    browser.click(&format!("#{button}")).await;
    let after = format!("document.querySelector('#seen').dataset.done !== '{before}'");
    browser.wait_until(&after).await;
    let seen = browser
        .eval("document.querySelector('#seen').textContent")
        .await;
    browser.leave_frame().await;
    seen.as_str().unwrap().to_owned()
}

/// Says something in the face. Clicks that follow each other at once are one, and allow one message.
async fn speak(browser: &Browser) -> String {
    loop {
        let said = press(browser, "say").await;
        if !said.starts_with("denied: ") {
            return said;
        }
    }
}

/// The built-in runtime, and React if the build has it.
fn runtimes() -> Vec<Runtime> {
    [Runtime::builtin()]
        .into_iter()
        .chain(kept_react())
        .collect()
}

#[test]
fn a_host_shows_the_face_and_its_clicks_read_blocks() {
    browser::run(async |browser| {
        for runtime in runtimes() {
            let host = McpHost::with(FACE, &runtime, false).await;
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
    });
}

#[test]
fn the_face_writes_only_where_the_server_does_and_speaks_by_the_host() {
    browser::run(async |browser| {
        let host = McpHost::with(FACE, &Runtime::builtin(), true).await;
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
        // A host by the letter of the specification.
        browser.js("window.strict = true").await;
        assert_eq!(speak(browser).await, r#"{"sent":true}"#);
        let one = json!({"role": "user", "content": block});
        assert_eq!(said(browser, "ui/message").await, [list.clone(), list, one]);
    });
}

#[test]
fn the_host_greets_measures_and_ends_the_app() {
    browser::run(async |browser| {
        let host = McpHost::with(FACE, &Runtime::builtin(), false).await;
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
        browser.enter_frame("iframe").await;
        browser.enter_frame("iframe").await;
        assert_eq!(
            browser
                .eval("document.querySelectorAll('iframe').length")
                .await,
            0
        );
        browser.leave_frame().await;
    });
}

#[test]
fn a_face_that_throws_is_replaced_by_its_error() {
    browser::run(async |browser| {
        let jsx = "function App() { throw new Error('<b>broken</b>'); }";
        let host = McpHost::with(jsx, &Runtime::builtin(), false).await;
        host.open(browser).await;
        browser.enter_frame("iframe").await;
        browser.enter_frame("iframe").await;
        let shown = browser
            .wait_until("document.body.textContent.includes('failed') && document.body.textContent")
            .await;
        assert_eq!(shown, "Face 3 failed (render): Error: <b>broken</b>");
        browser.leave_frame().await;
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
    assert_eq!(at, host.0[0].url("/"), "the page was led away");
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
const WAYS_OUT: [&str; 4] = [
    "location = TO",
    "window.open(TO, '_self')",
    "location = URL.createObjectURL(new Blob(['<script>1</script>'], { type: 'text/html' }))",
    "Object.assign(document.createElement('a'), { href: TO, target: '_top' }).click()",
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
            browser.enter_frame("iframe").await;
            browser.enter_frame("iframe").await;
            if way.contains("_top") {
                browser.enter_frame("iframe").await;
                browser.wait_until("document.body.id === 'tried'").await;
            } else {
                browser
                    .wait_until("document.body.textContent.includes('left its page')")
                    .await;
            }
            browser.leave_frame().await;
            assert_eq!(
                browser.eval("location.href").await,
                host.0[0].url("/"),
                "{way}"
            );
        }
        fence(browser).await;
        // Chromium opens a connection for a navigation before it asks the policy; no byte comes on it.
        let heard = listener.heard();
        assert!(heard.iter().all(|line| line == "tcp"), "{heard:?}");
    });
}
