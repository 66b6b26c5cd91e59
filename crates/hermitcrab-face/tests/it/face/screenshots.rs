//! Pictures of the face for the documentation, written where `ORRERY_SCREENSHOTS` says; else they are only looked at.

use std::path::PathBuf;
use std::sync::Arc;

use hermitcrab_kernel::OfflineBrain;

use super::home::{FACE, Plan};
use test_support::browser::{self, Browser};

/// Takes a picture and keeps it on request.
async fn take(browser: &Browser, name: &str) {
    let picture = browser.screenshot().await;
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (1280, 800));
    // One colour all over is far smaller.
    assert!(picture.len() > 10_000, "{name} shows nothing");
    assert!(
        picture.len() < 300_000,
        "{name} has {} bytes",
        picture.len()
    );
    #[expect(
        clippy::disallowed_methods,
        reason = "the person says whether the pictures are to be kept"
    )]
    let wanted = std::env::var_os("ORRERY_SCREENSHOTS");
    if let Some(folder) = wanted {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::write(root.join(folder).join(name), picture).unwrap();
    }
}

#[test]
fn the_face_and_its_recovery() {
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        browser
            .in_frame_until(
                FACE,
                "document.body.innerText.includes('I am the offline script')",
            )
            .await;
        browser.press("Dismiss").await;
        browser.enter_frame(FACE).await;
        browser.press("keystone").await;
        browser.wait_for("textarea").await;
        browser.type_into("[aria-label=message]", "list").await;
        browser.press("Send").await;
        browser.wait_until("document.body.innerText.includes('constitution:') || document.body.innerText.split('constitution').length > 2").await;
        browser.leave_frame().await;
        take(browser, "hermitcrab-face.png").await;

        let dies = "function Clock() { const [n, setN] = React.useState(0);
            if (n) throw new TypeError('hands.map is not a function');
            return <button id='clock' onClick={() => setN(1)}>a clock</button>; }";
        let shown = home.kernel.recompile(dies).await;
        assert!(!shown.is_error, "{}", shown.text());
        browser
            .in_frame_until(FACE, "document.querySelector('#clock')")
            .await;
        browser.enter_frame(FACE).await;
        // The frame goes with the click, so nothing may wait for the click's end.
        browser
            .js("setTimeout(() => document.querySelector('#clock').click());")
            .await;
        browser.leave_frame().await;
        browser.wait_for_text("#strips", "is shown instead").await;
        browser
            .in_frame_until(FACE, "document.querySelector('[aria-label=message]')")
            .await;
        take(browser, "hermitcrab-recovery.png").await;
        home.close().await;
    });
}
