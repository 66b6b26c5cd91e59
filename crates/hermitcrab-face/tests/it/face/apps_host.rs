//! An MCP host for the tests: its page, and the proxy of another origin with the policy of the specification.

use hermitcrab_face::jsx::compile_shell;
use hermitcrab_face::{Runtime, mcp_app_document};
use hermitcrab_kernel::faces::Shell;
use serde_json::Value;
use test_support::browser::{Browser, Served, Site};

/// The policy of a host for an app that declares no domain.
const POLICY: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'";

const SCRIPT: &str = include_str!("apps_host.js");

/// A face with a button for each call; the result of the last one is its text.
pub const FACE: &str = "
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
pub struct McpHost([Site; 2]);

impl McpHost {
    pub async fn with(jsx: &str, runtime: &Runtime, can_write: bool) -> Self {
        Self::bridged(jsx, runtime, can_write, "").await
    }

    /// With a script that may define `startBridge`, in place of the host that the tests have.
    pub async fn bridged(jsx: &str, runtime: &Runtime, can_write: bool, bridge: &str) -> Self {
        let compiled = compile_shell(jsx).unwrap();
        let html = mcp_app_document(
            &Shell { rev: 3, compiled },
            runtime,
            "0.0.0-test",
            can_write,
        );
        let files = |page: Served| {
            let bridge = Served::script(bridge);
            [
                ("/", page),
                ("/bridge.js", bridge),
                ("/host.js", Served::script(SCRIPT)),
            ]
        };
        let proxy = "<!doctype html><body><script src=/host.js></script>";
        let proxy = Site::new(files(Served::html(proxy).under(POLICY))).await;
        let page = format!(
            "<!doctype html><meta charset=utf-8><body data-proxy='{}'><script src=/bridge.js></script><script src=/host.js></script>",
            proxy.url("/")
        );
        let app = ("/app.html", Served::html(html));
        let page = Site::new(files(Served::html(page)).into_iter().chain([app])).await;
        Self([page, proxy])
    }

    /// The address of its page.
    pub fn url(&self) -> String {
        self.0[0].url("/")
    }

    pub async fn open(&self, browser: &Browser) {
        browser.open(&self.url()).await;
    }

    /// Opens a host that is special in some way, such as `old` or `mute-hasty` (`apps_host.js`).
    pub async fn open_as(&self, browser: &Browser, kind: &str) {
        browser.open(&format!("{}?{kind}", self.url())).await;
    }
}

/// Enters the document of the app: host, proxy, document.
pub async fn enter_document(browser: &Browser) {
    for _ in 0..2 {
        browser.enter_frame("iframe").await;
    }
}

/// Enters the frame of the face: host, proxy, document, face.
pub async fn enter(browser: &Browser) {
    enter_document(browser).await;
    browser.enter_frame("iframe").await;
}

/// The messages that the host got with this method.
pub async fn said(browser: &Browser, method: &str) -> Vec<Value> {
    let of = format!(
        "said.filter(({{ method }}) => method === {method:?}).map(({{ params }}) => params)"
    );
    browser.eval(&of).await.as_array().unwrap().clone()
}

/// Presses a button of the face and returns the result.
pub async fn press(browser: &Browser, button: &str) -> String {
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
pub async fn speak(browser: &Browser) -> String {
    loop {
        let said = press(browser, "say").await;
        if !said.starts_with("denied: ") {
            return said;
        }
    }
}

/// The text of the app's document in place of a face, once it has these words.
pub async fn document_text(browser: &Browser, words: &str) -> String {
    enter_document(browser).await;
    // The text content has that of the scripts in it.
    let has = format!("document.body.innerText.includes({words:?}) && document.body.innerText");
    let text = browser.wait_until(&has).await;
    let frames = browser.eval("document.querySelectorAll('iframe').length");
    assert_eq!(frames.await, 0);
    browser.leave_frame().await;
    text.as_str().unwrap().to_owned()
}
