//! Row F6: the safe face needs no frame and no runtime. Chat, blocks, undo and the choice of a face work in it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use hermitcrab_kernel::{OfflineBrain, ScriptStep};
use serde_json::json;
use test_support::browser::{self, Browser};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::crash::click_go;
use super::home::{CHAT, FACE, Home, Plan, face};

const GOOD: &str = "function Good() { return <p id='good'>good</p>; }";

/// Dies at line 3 when it is clicked.
const DIES: &str = "function Bad() {
  const [on, setOn] = React.useState(false);
  if (on) throw new Error('boom');
  return <button id='go' onClick={() => setOn(true)}>go</button>;
}";

/// An answer to a request for the runtime in place of the program's.
type Instead = Arc<Mutex<Option<&'static str>>>;

/// The way to a program, with a runtime as a test wants it. Ports of five digits replace each other, so that no length changes.
async fn way(to: SocketAddr) -> (SocketAddr, Instead) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap();
    let instead = Instead::default();
    let answer = instead.clone();
    tokio::spawn(async move {
        while let Ok((page, _)) = listener.accept().await {
            let program = TcpStream::connect(to).await.unwrap();
            tokio::spawn(carry(page, program, own, to, answer.clone()));
        }
    });
    (own, instead)
}

async fn carry(
    page: TcpStream,
    program: TcpStream,
    own: SocketAddr,
    to: SocketAddr,
    instead: Instead,
) {
    let (mut from_page, mut to_page) = page.into_split();
    let (mut from_program, mut to_program) = program.into_split();
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = from_page.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let request = &mut asked[..length];
                let line = request.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let is_runtime = String::from_utf8_lossy(line).contains("/react.js ");
                let body = if is_runtime { *instead.lock().unwrap() } else { None };
                if let Some(body) = body {
                    if to_page.write_all(body.as_bytes()).await.is_err() { return; }
                    continue;
                }
                replace(request, own, to);
                if to_program.write_all(request).await.is_err() { return; }
            }
            read = from_program.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                let answer = &mut answered[..length];
                replace(answer, to, own);
                if to_page.write_all(answer).await.is_err() { return; }
            }
        }
    }
}

fn replace(bytes: &mut [u8], from: SocketAddr, to: SocketAddr) {
    let (from, to) = (from.to_string(), to.to_string());
    assert_eq!(from.len(), to.len());
    for at in 0..bytes.len().saturating_sub(from.len() - 1) {
        let part = &mut bytes[at..at + from.len()];
        if part == from.as_bytes() {
            part.copy_from_slice(to.as_bytes());
        }
    }
}

const MISSING: &str =
    "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nAccess-Control-Allow-Origin: *\r\n\r\n";
const THROWS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nContent-Length: 30\r\n\
    Access-Control-Allow-Origin: *\r\nCross-Origin-Resource-Policy: cross-origin\r\n\r\n\
    throw new Error('no runtime');";

/// Chat, blocks and undo, with the offline script as the model.
async fn everything_works(browser: &Browser) {
    browser.wait_for(CHAT).await;
    let frames = "document.querySelectorAll('iframe').length";
    assert_eq!(browser.eval(frames).await, 0);
    browser
        .type_into("#chat-message", "write memory 0: unheard of\u{E007}")
        .await;
    let answered = "[...document.querySelectorAll('[role=log] p')].some((one) => one.textContent.startsWith('crab') && one.textContent.includes('Written to memory 0'))";
    browser.wait_until(answered).await;
    let is_empty = "document.querySelector('#chat-message').value === ''";
    browser.wait_until(is_empty).await;
    browser.press("Blocks").await;
    browser.press("memory").await;
    let text = "document.querySelector('#sheet textarea')?.value";
    browser
        .wait_until(&format!("{text} === 'unheard of'"))
        .await;
    browser.press("Log").await;
    // The turn wrote to `history` after it.
    let edit = "[...document.querySelectorAll('#sheet details')].find((one) => one.textContent.startsWith('memory 0'))";
    browser
        .wait_until(&format!("(({edit} ?? {{}}).open = true) && {edit}?.open"))
        .await;
    browser.click("#sheet details[open] .actions button").await;
    browser
        .wait_for_text("#sheet", "1 edit of memory taken back.")
        .await;
    // The panel opens where it was left.
    browser.press("Blocks").await;
    browser
        .wait_until(&format!("{text} !== undefined && {text} !== 'unheard of'"))
        .await;
    browser.press("Close").await;
}

/// The face of a revision is taken, and comes up over the chat.
async fn a_face_can_be_chosen(browser: &Browser, rev: u64, seen: &str) {
    browser.press("Faces").await;
    let button = format!("#sheet [aria-label='Use face {rev}']");
    browser.wait_for(&button).await;
    browser.click(&button).await;
    browser
        .in_frame_until(FACE, &format!("document.querySelector({seen:?})"))
        .await;
    browser
        .wait_until("document.querySelector('.chat').hidden")
        .await;
    browser.press("Close").await;
}

fn without_a_runtime(answer: &'static str) {
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        let (own, instead) = way(home.addr).await;
        let url = home.url.replace(&home.addr.to_string(), &own.to_string());
        browser.open(&url).await;
        browser.wait_for(FACE).await;
        *instead.lock().unwrap() = Some(answer);
        browser.reload().await;
        let why = browser.wait_for_text(".chat .why", "load").await;
        assert!(why.contains("the runtime did not load"), "{why}");
        everything_works(browser).await;
        *instead.lock().unwrap() = None;
        a_face_can_be_chosen(browser, 1, "[aria-label=message]").await;
        home.close().await;
    });
}

#[test]
fn a_runtime_that_cannot_be_served_ends_in_the_safe_face() {
    without_a_runtime(MISSING);
}

#[test]
fn a_runtime_that_throws_ends_in_the_safe_face() {
    without_a_runtime(THROWS);
}

#[test]
fn a_face_that_dies_twice_ends_in_the_safe_face_with_its_line() {
    browser::run(async |browser| {
        let edit = json!({"name": "memory", "path": "0", "content": "unheard of"});
        let tools = json!({"names": ["block_write"]});
        let home = Home::with_script([
            face(DIES),
            ScriptStep::tools(&[("toolu_tools", "set_tools", tools)]),
            ScriptStep::tools(&[("toolu_edit", "block_write", edit)]),
            ScriptStep::text("Written to memory 0."),
        ]);
        let home = home.await;
        browser.open(&home.url).await;
        for death in 0..2 {
            click_go(browser).await;
            let again = ["is shown instead", "The safe face is shown"][death];
            browser.wait_for_text("#strips", again).await;
        }
        let why = browser.wait_for_text(".chat .why", "boom").await;
        assert!(why.contains("no kept face can be shown"), "{why}");
        assert!(why.contains("line 3, column "), "{why}");
        assert!(why.contains("if (on) throw new Error('boom');"), "{why}");
        everything_works(browser).await;
        a_face_can_be_chosen(browser, 1, "#go").await;
        home.close().await;
    });
}

#[test]
fn a_start_with_safe_begins_in_the_safe_face() {
    browser::run(async |browser| {
        let plan = Plan {
            safe: true,
            ..Plan::default()
        };
        let home = plan.open(Arc::new(OfflineBrain)).await;
        // A kept face, which no page has shown yet.
        home.kernel.recompile(GOOD).await;
        browser.open(&home.url).await;
        browser.wait_for_text(".chat .why", "--safe").await;
        everything_works(browser).await;
        a_face_can_be_chosen(browser, 1, "#good").await;
        home.close().await;
    });
}

/// Counts the answers to its calls, one after the other.
const COUNTS: &str = "function Good(props) {
  const [n, setN] = React.useState(0);
  React.useEffect(() => {
    const timer = setInterval(() => props.blockList().then(() => setN((old) => old + 1)), 200);
    return () => clearInterval(timer);
  }, []);
  return <p id='good'>{n}</p>;
}";

#[test]
fn the_person_covers_the_face_and_comes_back_to_it() {
    browser::run(async |browser| {
        let home = Home::with_face(COUNTS).await;
        browser.set_width(390).await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        let counted = "Number(document.querySelector('#good').textContent)";
        let at_least_one = format!("{counted} >= 1 && {counted}");
        let before = browser.in_frame_until(FACE, &at_least_one).await;
        browser.press("Menu").await;
        browser.press("Safe face").await;
        browser
            .wait_until("document.activeElement.id === 'chat-message'")
            .await;
        let hidden = "getComputedStyle(document.querySelector('iframe.shown')).display === 'none'";
        assert_eq!(browser.eval(hidden).await, true);
        let wide = "document.documentElement.scrollWidth > innerWidth";
        assert_eq!(browser.eval(wide).await, false);
        // A line break is typed, and a face that comes up takes neither the place nor the keyboard.
        browser
            .type_into("#chat-message", "ebb\u{E008}\u{E007}\u{E000}tide")
            .await;
        let typed = "document.querySelector('#chat-message').value";
        assert_eq!(browser.eval(typed).await, "ebb\ntide");
        let shown = home.kernel.recompile(GOOD).await;
        assert_eq!(shown.content["mounted"], true, "{}", shown.text());
        assert_eq!(
            browser.eval("document.activeElement.id").await,
            "chat-message"
        );
        assert!(home.kernel.use_shell(1).await.content["error"].is_null());
        // Its calls are answered while it is covered.
        let after = format!("{counted} > {}", before.as_u64().unwrap_or_default());
        browser.in_frame_until(FACE, &after).await;
        browser.press("Back to the face").await;
        browser
            .wait_until("document.querySelector('.chat').hidden")
            .await;
        browser.press("Menu").await;
        browser.press("Safe face").await;
        browser.press("End the face").await;
        browser
            .wait_for_text(".chat .why", "the person asked for it")
            .await;
        let frames = "document.querySelectorAll('iframe').length";
        assert_eq!(browser.eval(frames).await, 0);
        home.close().await;
    });
}
