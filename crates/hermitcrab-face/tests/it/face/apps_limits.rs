//! M4: hosts that are old, silent or obedient.

use hermitcrab_face::Runtime;
use serde_json::{Value, json};
use test_support::browser::{self, Browser};

use super::apps_host::{FACE, McpHost, document_text, enter, press, said};
use super::home::Home;

#[test]
fn a_browser_without_trusted_types_shows_no_face() {
    browser::run(async |browser| {
        let host = McpHost::with(FACE, &Runtime::builtin(), true).await;
        host.open_as(browser, "old").await;
        let shown = document_text(browser, "Trusted Types").await;
        assert!(shown.starts_with("This browser lacks "), "{shown}");

        let home = Home::with_face("function App() { return <p>first</p>; }").await;
        let source = json!({"source": "delete window.trustedTypes"});
        let script = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source);
        let script = script.await;
        browser.open(&home.url).await;
        browser
            .wait_for_text(".wake", "This browser lacks Trusted Types")
            .await;
        // The address was not used.
        let address = browser.eval("location.href").await;
        assert_eq!(address, home.url.as_str());
        (browser.devtools("Page.removeScriptToEvaluateOnNewDocument", script)).await;
        browser.open("about:blank").await;
        browser.open(&home.url).await;
        browser.wait_for(super::home::FACE).await;
        home.close().await;
    });
}

#[test]
fn a_host_that_does_not_answer_is_waited_for_half_a_minute() {
    browser::run(async |browser| {
        let host = McpHost::with(FACE, &Runtime::builtin(), true).await;
        host.open_as(browser, "silent-hasty").await;
        let shown = document_text(browser, "did not answer").await;
        let said =
            "The host did not let the face in: the host did not answer ui/initialize in 30 seconds";
        assert_eq!(shown, said);

        host.open_as(browser, "mute-hasty").await;
        let read = press(browser, "read").await;
        assert_eq!(
            read,
            "timeout: the host did not answer tools/call in 30 seconds"
        );
        // The answer that is late belongs to no call.
        browser
            .js("say({ id: 2, result: { content: [{ type: 'text', text: '1' }] } })")
            .await;
        let write = press(browser, "write").await;
        assert!(write.starts_with("timeout: "), "{write}");
    });
}

#[test]
fn sixteen_calls_wait_for_a_host_at_most() {
    browser::run(async |browser| {
        let jsx = "
            function App(props) {
              const [seen, setSeen] = React.useState('mounted');
              const run = async () => {
                const calls = Array.from({ length: 20 }, () => props.blockList());
                const ends = (await Promise.allSettled(calls)).map(({ reason }) => reason.error);
                const again = await props.blockList().catch(({ error }) => error);
                setSeen(['too_many', 'timeout'].map((kind) => ends.filter((one) => one === kind).length) + ' ' + again);
              };
              return <button id='run' onClick={run}>{seen}</button>;
            }";
        let host = McpHost::with(jsx, &Runtime::builtin(), true).await;
        host.open_as(browser, "mute-hasty").await;
        enter(browser).await;
        browser.click("#run").await;
        browser.wait_for_text("#run", "4,16 timeout").await;
        browser.leave_frame().await;
        assert_eq!(said(browser, "tools/call").await.len(), 17);
    });
}

/// The heights that the host was asked for.
async fn heights(browser: &Browser) -> Vec<Value> {
    let sizes = said(browser, "ui/notifications/size-changed").await;
    sizes.iter().map(|size| size["height"].clone()).collect()
}

async fn until_height(browser: &Browser, height: u32) {
    let last = "said.findLast(({ method }) => method === 'ui/notifications/size-changed')";
    browser
        .wait_until(&format!("{last}.params.height === {height}"))
        .await;
}

#[test]
fn the_last_of_many_heights_arrives() {
    browser::run(async |browser| {
        let jsx = "
            function App() {
              const [height, setHeight] = React.useState(500);
              React.useEffect(() => {
                requestAnimationFrame(() => setHeight(height < 600 ? height + 1 : 777));
              }, [height]);
              return <main style={{ height: height + 'px' }}>high</main>;
            }";
        let host = McpHost::with(jsx, &Runtime::builtin(), false).await;
        host.open_as(browser, "obedient").await;
        until_height(browser, 777).await;
        let count = heights(browser).await.len();
        assert!(count < 70, "{count} messages");
    });
}

#[test]
fn a_face_of_the_height_of_its_window_and_more_grows_to_4000_pixels() {
    browser::run(async |browser| {
        let jsx = "
            function App() {
              return <main style={{ height: '100vh', paddingBottom: '900px' }}>high</main>;
            }";
        let host = McpHost::with(jsx, &Runtime::builtin(), false).await;
        host.open_as(browser, "obedient").await;
        until_height(browser, 4_000).await;
    });
}
