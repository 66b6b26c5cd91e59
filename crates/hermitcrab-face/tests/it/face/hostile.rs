//! S1: the attempts of hostile shells, all without effect.

use std::collections::{BTreeMap, BTreeSet};

use hermitcrab_face::Runtime;
use serde_json::Value;
use test_support::fixture;

use super::home::{FACE, Home};
use super::react::on_both;
use test_support::browser::{Browser, Listener, Served, Site};

/// The attempts of `family`, and what runs them: a shell, or a script of a plain page.
pub fn attempts(family: &str, runner: &str, listener: &Listener, own: &str) -> String {
    let read =
        |name: &str| std::fs::read_to_string(fixture("hermitcrab/hostile").join(name)).unwrap();
    format!(
        "const LISTENER = {:?};\nconst OWN = {own:?};\n{}\n{}",
        listener.place(),
        read(&format!("{family}.jsx")),
        read(runner),
    )
}

/// The attempts and gains in the page or frame that the browser is in.
pub async fn outcome(browser: &Browser) -> (BTreeSet<String>, BTreeMap<String, String>) {
    let told = browser.wait_until("document.body.dataset.gains").await;
    let tried = browser.eval("document.body.dataset.tried").await;
    let parse = |value: &Value| value.as_str().unwrap().to_owned();
    (
        serde_json::from_str(&parse(&tried)).unwrap(),
        serde_json::from_str(&parse(&told)).unwrap(),
    )
}

/// Gives what is still on its way time to arrive: a plain page in the same browser reaches another listener, with a
/// request and with a datagram.
pub async fn fence(browser: &Browser) {
    let listener = Listener::open().await;
    let page = format!(
        "<!doctype html><script>
        const c = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:{0}' }}] }});
        c.createDataChannel('x');
        c.createOffer().then((offer) => c.setLocalDescription(offer));
        fetch('http://{0}/fence');
        </script>",
        listener.place()
    );
    let site = Site::new([("/", Served::html(page))]).await;
    browser.open(&site.url("/")).await;
    browser
        .until("a request and a datagram", async || {
            let heard = listener.heard();
            let came = |mark: &str| heard.iter().any(|line| line == mark);
            (came("GET /fence") && came("udp")).then_some(())
        })
        .await;
}

/// Runs a family in the frame, where it must gain nothing and reach no server, then in a plain page, where it must.
async fn battery(browser: &Browser, runtime: &Runtime, family: &str, succeeds: &[&str]) {
    let listener = Listener::open().await;
    let home = Home::with_face_on(runtime, "function App() { return <p>first</p>; }").await;
    let own = home.addr.to_string();
    browser.open(&home.url).await;
    browser.wait_for(FACE).await;
    let jsx = attempts(family, "shell.jsx", &listener, &own);
    let shown = home.kernel.recompile(&jsx).await;
    assert!(!shown.is_error, "{}", shown.text());
    browser.enter_frame(FACE).await;
    let (tried, gains) = outcome(browser).await;
    browser.leave_frame().await;
    assert_eq!(
        gains,
        BTreeMap::new(),
        "{family} gained something; reached {:?}",
        listener.heard()
    );
    assert!(
        browser
            .eval("location.href")
            .await
            .as_str()
            .unwrap()
            .contains(&own),
        "the page was led away"
    );
    assert_eq!(browser.windows().await, 1, "a window was opened");
    fence(browser).await;
    assert_eq!(
        listener.heard(),
        Vec::<String>::new(),
        "{family} reached the listener"
    );
    home.close().await;

    let listener = Listener::open().await;
    let script = attempts(family, "page.js", &listener, &own);
    let site = Site::new([
        (
            "/",
            Served::html("<!doctype html><meta charset=utf-8><body><script src=/page.js></script>"),
        ),
        ("/page.js", Served::script(script)),
    ])
    .await;
    browser.open(&site.url("/")).await;
    let (also_tried, gains) = outcome(browser).await;
    assert_eq!(tried, also_tried);
    let heard = listener.heard();
    for name in succeeds {
        let needed = NEEDS.iter().find(|(way, _)| way == name);
        if let Some((_, condition)) = needed
            && browser.eval(condition).await != true
        {
            continue;
        }
        let reached = heard.iter().any(|line| line.ends_with(&format!("/{name}")));
        assert!(
            gains.contains_key(*name) || reached,
            "{name} does not even succeed where nothing stops it"
        );
    }
}

/// Browsers differ in what they make of a name with two colons.
const COLONS: &str =
    "document.createElementNS('http://www.w3.org/1999/xhtml', 'x:link:y').localName === 'link'";

/// Ways whose interface is not in every Chromium, and the condition on which it is.
const NEEDS: [(&str, &str); 6] = [
    ("create_colons", COLONS),
    ("create_link_colons", COLONS),
    ("safe_set_link", "'setHTML' in Element.prototype"),
    ("shadow_set", "'setHTML' in ShadowRoot.prototype"),
    ("parse_safe", "'parseHTML' in Document"),
    ("xslt", "'XSLTProcessor' in window"),
];

/// The sorts of requests that must reach the listener where nothing stops them.
const REQUESTS: [&str; 30] = [
    "fetch",
    "fetch_no_cors",
    "xhr",
    "xhr_sync",
    "beacon",
    "websocket",
    "event_source",
    "image",
    "image_object",
    "image_markup",
    "poster",
    "video",
    "audio",
    "source",
    "track",
    "svg_image",
    "css_background",
    "css_cursor",
    "css_import",
    "css_font",
    "font_face",
    "link_sheet",
    "link_prefetch",
    "link_preload",
    "link_module",
    "script",
    "worker_blob",
    "frame",
    "form",
    "ping",
];
const WAYS: [&str; 26] = [
    "create_colons",
    "create_link_colons",
    "own_window",
    "default_view",
    "create_element",
    "create_ns",
    "create_prefixed",
    "create_link",
    "create_elsewhere",
    "create_document",
    "custom_built_in",
    "custom_link",
    "inner",
    "inner_link",
    "unsafe",
    "safe_set_link",
    "shadow_set",
    "parse_safe",
    "parse_unsafe",
    "fragment",
    "template",
    "dom_parser",
    "xslt",
    "xml_long_prefix",
    "other_inner",
    "descriptor",
];
const REACHES: [&str; 20] = [
    "parent_document",
    "parent_location",
    "open",
    "link_blank",
    "navigation",
    "cookie",
    "local_storage",
    "session_storage",
    "indexed_db",
    "caches",
    "locks",
    "eval",
    "new_function",
    "timeout_text",
    "script_text",
    "handler_attribute",
    "javascript_link",
    "module_blob",
    "policy_own",
    "wasm",
];

async fn no_request_leaves_the_frame(browser: &Browser, runtime: &Runtime) {
    battery(browser, runtime, "network", &REQUESTS).await;
}

async fn no_way_leads_to_webrtc_or_to_a_child_frame(browser: &Browser, runtime: &Runtime) {
    battery(browser, runtime, "webrtc", &WAYS).await;
}

async fn nothing_around_the_frame_is_read_or_moved(browser: &Browser, runtime: &Runtime) {
    battery(browser, runtime, "reach", &REACHES).await;
}

/// Ways out of the frame's own page. `TO` is the address.
const WAYS_OUT: [&str; 10] = [
    "location = TO",
    "location.replace(TO)",
    "location.assign(TO)",
    "window.open(TO, '_self')",
    "Object.assign(document.createElement('a'), { href: TO }).click()",
    "Object.assign(document.createElement('a'), { href: TO, download: 'x' }).click()",
    "location = URL.createObjectURL(new Blob(['<script>1</script>'], { type: 'text/html' }))",
    "location = 'about:blank'",
    "location.reload()",
    // Each is cancelled before another document arrives.
    "setInterval(() => { location = TO; Promise.resolve().then(() => window.stop()); }, 10)",
];

async fn a_face_that_leaves_its_page_is_taken_away_and_arrives_nowhere(
    browser: &Browser,
    runtime: &Runtime,
) {
    let listener = Listener::open().await;
    let good = "function Good() { return <p id='good'>good</p>; }";
    let home = Home::with_face_on(runtime, good).await;
    let own = home.addr.to_string();
    browser.open(&home.url).await;
    browser.wait_for(FACE).await;
    for (at, way) in WAYS_OUT.iter().enumerate() {
        for to in [
            format!("http://{}/out/{at}", listener.place()),
            format!("http://{own}/api/export"),
        ] {
            // Blobs, blank pages and reloads go to no address.
            if !way.contains("TO") && to.contains("/out/") {
                continue;
            }
            let jsx = format!(
                "const TO = {to:?};\nfunction Bad() {{ React.useEffect(() => {{ setTimeout(() => {{ {way}; }}, 50); }}, []); return <p>bad</p>; }}"
            );
            // Ten shells are kept: the good one is always among them, and the newest before.
            let again = home.kernel.recompile(good).await;
            assert!(!again.is_error, "before {way}: {}", again.text());
            let shown = home.kernel.recompile(&jsx).await;
            assert!(!shown.is_error, "{way}: {}", shown.text());
            let rev = home.kernel.faces().shells().last().unwrap().rev;
            if way.contains("download") && to.contains("/api/") {
                // A download from the frame's own server is refused where it stands.
                continue;
            }
            browser
                .until(&format!("the end of a face by {way} to {to}"), async || {
                    home.kernel
                        .faces()
                        .shells()
                        .iter()
                        .find(|shell| shell.rev == rev && shell.deaths > 0)
                        .map(drop)
                })
                .await;
            browser
                .in_frame_until(FACE, "document.querySelector('#good')")
                .await;
        }
    }
    assert_eq!(browser.eval("location.host").await, own);
    fence(browser).await;
    // Chromium opens a connection for a navigation before it asks the page's policy, and no script of a sandboxed
    // frame can stop it: the first bytes on it never come.
    let heard = listener.heard();
    assert!(heard.len() < 50, "{heard:?}");
    assert!(heard.iter().all(|line| line == "tcp"), "{heard:?}");
    home.close().await;
}

async fn forged_messages_are_refused_and_the_port_is_not_stolen(
    browser: &Browser,
    runtime: &Runtime,
) {
    let listener = Listener::open().await;
    let home = Home::with_face_on(runtime, "function App() { return <p>first</p>; }").await;
    browser.open(&home.url).await;
    browser.wait_for(FACE).await;
    let jsx = attempts("messages", "shell.jsx", &listener, &home.addr.to_string());
    let shown = home.kernel.recompile(&jsx).await;
    assert!(!shown.is_error, "{}", shown.text());
    // From another window than the frame, here the page's own.
    browser.js("window.postMessage({ ready: 1 }, '*'); window.postMessage({ type: 'call', id: 1, method: 'stop', args: [] }, '*')").await;
    browser.enter_frame(FACE).await;
    let (tried, gains) = outcome(browser).await;
    browser.leave_frame().await;
    assert!(tried.len() > 10);
    assert_eq!(gains, BTreeMap::new());
    // It is still the face, and the page still answers it.
    browser
        .in_frame_until(FACE, "document.body.dataset.gains")
        .await;
    assert_eq!(home.kernel.faces().shells().last().unwrap().deaths, 0);
    home.close().await;
}

on_both!(
    no_request_leaves_the_frame,
    no_way_leads_to_webrtc_or_to_a_child_frame,
    nothing_around_the_frame_is_read_or_moved,
    a_face_that_leaves_its_page_is_taken_away_and_arrives_nowhere,
    forged_messages_are_refused_and_the_port_is_not_stolen,
);
