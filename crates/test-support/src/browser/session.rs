//! A tab of a browser, and the actions of a test in it. Every wait polls and times out after 30 s.

use std::fmt::Display;
use std::time::Duration;

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fantoccini::elements::Element;
use fantoccini::wd::{WebDriverCompatibleCommand, WindowHandle};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::{ParseError, Url};

use super::driver::Driver;
use super::site::{Served, Site};

/// The timeout of every wait.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(25);
/// The width and height of the page and of every picture, in pixels.
const SIZE: (u32, u32) = (1280, 800);

/// A tab, 1280 x 800 pixels.
pub struct Browser {
    client: Client,
}

impl Browser {
    pub(super) async fn connect(driver: &Driver) -> Self {
        let Value::Object(wanted) = driver.capabilities() else {
            unreachable!("capabilities are an object")
        };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&driver.url())
            .await
            .unwrap();
        let session = client.session_id().await.unwrap().unwrap();
        let process = client
            .capabilities()
            .and_then(|granted| granted.get("goog:processID")?.as_u64());
        driver.started(session, process);
        let browser = Self { client };
        browser
            .devtools(
                "Emulation.setDeviceMetricsOverride",
                json!({"width": SIZE.0, "height": SIZE.1, "deviceScaleFactor": 1, "mobile": false}),
            )
            .await;
        browser.hold_focus().await;
        browser
    }

    /// Gives the focus to the page in view, independent of the desktop's focus. Applies to one window.
    async fn hold_focus(&self) {
        let focus = json!({"enabled": true});
        (self.devtools("Emulation.setFocusEmulationEnabled", focus)).await;
    }

    /// Opens an address and waits until it is loaded.
    pub async fn open(&self, url: &str) {
        self.client.goto(url).await.unwrap();
        let place = url.split('#').next().unwrap();
        self.wait_until(&format!(
            "document.readyState === 'complete' && location.href.startsWith({place:?})"
        ))
        .await;
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        self.js("window.__before_reload = true").await;
        self.client.refresh().await.unwrap();
        self.wait_until("document.readyState === 'complete' && !window.__before_reload")
            .await;
    }

    /// The value of an expression in the page, or in the frame that was entered.
    pub async fn eval(&self, expression: &str) -> Value {
        self.client
            .execute(&format!("return ({expression});"), vec![])
            .await
            .unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Runs statements in the page.
    pub async fn js(&self, statements: &str) {
        self.client
            .execute(statements, vec![])
            .await
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
    }

    /// Waits until an expression is truthy and returns its value. An expression that throws is not truthy yet.
    pub async fn wait_until(&self, condition: &str) -> Value {
        let script = format!("try {{ return ({condition}) || null }} catch (e) {{ return null }}");
        let seen = wait(condition, async || {
            let seen = self.client.execute(&script, vec![]).await;
            seen.ok().filter(|value| !value.is_null())
        });
        seen.await
    }

    /// Waits for a condition outside the page.
    pub async fn until<T>(&self, what: &str, ask: impl AsyncFnMut() -> Option<T>) -> T {
        wait(what, ask).await
    }

    /// The number of windows and tabs.
    pub async fn windows(&self) -> usize {
        self.client.windows().await.unwrap().len()
    }

    /// The tab that the browser is in.
    pub async fn tab(&self) -> WindowHandle {
        self.client.window().await.unwrap()
    }

    /// Opens a tab and switches to it.
    pub async fn new_tab(&self) {
        let made = self.client.new_window(true).await.unwrap();
        self.switch_tab(made.handle).await;
    }

    /// Switches to an open tab.
    pub async fn switch_tab(&self, tab: WindowHandle) {
        self.client.switch_to_window(tab).await.unwrap();
        self.hold_focus().await;
    }

    /// Waits for the first element that a CSS selector finds.
    pub async fn wait_for(&self, selector: &str) -> Element {
        wait(selector, async || {
            self.client.find(Locator::Css(selector)).await.ok()
        })
        .await
    }

    /// Waits for a visible element and clicks it as a person does.
    pub async fn click(&self, selector: &str) {
        wait(format_args!("a click on {selector}"), async || {
            let element = self.client.find(Locator::Css(selector)).await.ok()?;
            element.click().await.ok()
        })
        .await;
    }

    /// Waits for a button (or what has that role) by its text, in part or whole, and clicks it.
    pub async fn press(&self, text: &str) {
        let path = format!(
            "//*[self::button or self::a or self::summary or @role='button'][contains(normalize-space(.), {text:?})]"
        );
        wait(format_args!("a click on the button {text:?}"), async || {
            let element = self.client.find(Locator::XPath(&path)).await.ok()?;
            element.click().await.ok()
        })
        .await;
    }

    /// Types into a field, after what is in it.
    pub async fn type_into(&self, selector: &str, text: &str) {
        let field = self.wait_for(selector).await;
        field.send_keys(text).await.unwrap();
    }

    /// Waits for an element and returns its visible text.
    pub async fn text(&self, selector: &str) -> String {
        self.wait_for(selector).await.text().await.unwrap()
    }

    /// Waits until the visible text of an element contains a string, and returns the text.
    pub async fn wait_for_text(&self, selector: &str, part: &str) -> String {
        wait(format_args!("{part:?} in {selector}"), async || {
            let element = self.client.find(Locator::Css(selector)).await.ok()?;
            let text = element.text().await.ok()?;
            text.contains(part).then_some(text)
        })
        .await
    }

    /// Enters the first frame that a selector finds, until [`Browser::leave_frame`].
    pub async fn enter_frame(&self, selector: &str) {
        wait(format_args!("the frame {selector}"), async || {
            let frame = self.client.find(Locator::Css(selector)).await.ok()?;
            frame.enter_frame().await.ok()
        })
        .await;
    }

    /// Waits until an expression is truthy in the frame that a selector finds, which may be replaced meanwhile.
    pub async fn in_frame_until(&self, selector: &str, condition: &str) -> Value {
        let script = format!("try {{ return ({condition}) || null }} catch (e) {{ return null }}");
        wait(format_args!("{condition} in {selector}"), async || {
            let frame = self.client.find(Locator::Css(selector)).await.ok()?;
            frame.enter_frame().await.ok()?;
            let seen = self.client.execute(&script, vec![]).await;
            self.leave_frame().await;
            seen.ok().filter(|value| !value.is_null())
        })
        .await
    }

    /// Back to the page itself.
    pub async fn leave_frame(&self) {
        self.client.issue_cmd(Top).await.unwrap();
    }

    /// Serves a page, opens it, and serves it until the value is dropped.
    pub async fn show(&self, html: &str) -> Site {
        let site = Site::new([("/", Served::html(html))]).await;
        self.open(&site.url("/")).await;
        site
    }

    /// Sets the colour scheme of the page: `light` or `dark`.
    pub async fn set_scheme(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        (self.devtools("Emulation.setEmulatedMedia", features)).await;
    }

    /// Sets whether the scripts of pages run. It applies to the pages that are opened afterwards.
    pub async fn set_scripts(&self, run: bool) {
        let disabled = json!({"value": !run});
        (self.devtools("Emulation.setScriptExecutionDisabled", disabled)).await;
    }

    /// Sets the width of the page in pixels.
    pub async fn set_width(&self, width: u32) {
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": SIZE.1, "deviceScaleFactor": 1, "mobile": false}),
        )
        .await;
        self.wait_until(&format!("innerWidth === {width}")).await;
    }

    /// The console messages of the page and its frames since the last call.
    pub async fn console(&self) -> Vec<String> {
        let entries = self.chrome("se/log", json!({"type": "browser"})).await;
        entries
            .as_array()
            .into_iter()
            .flatten()
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// A picture of what is shown, as PNG.
    pub async fn screenshot(&self) -> Vec<u8> {
        let shot = self
            .devtools("Page.captureScreenshot", json!({"format": "png"}))
            .await;
        STANDARD.decode(shot["data"].as_str().unwrap()).unwrap()
    }

    /// The page for a screen reader: `(role, name)` of every node that is not ignored.
    pub async fn accessibility(&self) -> Vec<(String, String)> {
        let tree = self
            .devtools("Accessibility.getFullAXTree", json!({}))
            .await;
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        tree["nodes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|node| node["ignored"] != true)
            .map(|node| (text(&node["role"]), text(&node["name"])))
            .collect()
    }

    /// A command of the Chrome `DevTools` protocol.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.chrome(
            "goog/cdp/execute",
            json!({"cmd": command, "params": parameters}),
        )
        .await
    }

    async fn chrome(&self, path: &'static str, body: Value) -> Value {
        let command = Chrome { path, body };
        let answer = self.client.issue_cmd(command).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The report of a failed test: the console, the text of the page, and the path of a picture.
    pub(super) async fn say_what_it_shows(&self) {
        let shown = async {
            eprintln!("console: {:#?}", self.console().await);
            self.leave_frame().await;
            eprintln!("page: {}", self.eval("document.body.innerText").await);
            let picture =
                std::env::temp_dir().join(format!("orrery-browser-{}.png", std::process::id()));
            std::fs::write(&picture, self.screenshot().await).unwrap();
            eprintln!("picture: {}", picture.display());
        };
        // A browser that is stuck cannot say it.
        let _stuck = tokio::time::timeout(Duration::from_secs(10), shown).await;
    }
}

/// Repeats a command until it answers, since a command may hang on a frame that does not answer.
async fn wait<T>(what: impl Display, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asked = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(POLL).await;
        }
    };
    let answer = tokio::time::timeout(PATIENCE, asked).await;
    answer.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// A command of chromedriver which is not in the `WebDriver` standard.
#[derive(Debug)]
struct Chrome {
    /// The path after `/session/<id>/`.
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Chrome {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/{}",
            session.unwrap_or_default(),
            self.path
        ))
    }

    fn method_and_body(&self, _url: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

/// Switches from any depth of frames to the page.
#[derive(Debug)]
struct Top;

impl WebDriverCompatibleCommand for Top {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/frame", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _url: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({"id": null}).to_string()))
    }
}
