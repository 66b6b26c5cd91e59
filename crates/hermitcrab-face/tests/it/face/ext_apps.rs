//! The face in the reference implementation of an MCP Apps host. `cargo xtask peers ext_apps` runs these tests.
#![expect(
    clippy::disallowed_methods,
    reason = "the script of the host comes by a variable"
)]

use std::{env, fs};

use test_support::browser;

use super::apps;

/// The scripts of a host whose messages the reference implementation reads and answers.
fn bridge() -> String {
    let path = env::var("MCP_APPS_BRIDGE").unwrap_or_else(|_| {
        panic!("MCP_APPS_BRIDGE is not set; `cargo xtask peers ext_apps` sets it")
    });
    fs::read_to_string(path).unwrap() + include_str!("ext_apps.js")
}

#[test]
#[ignore = "needs the reference implementation (cargo xtask peers)"]
fn it_shows_the_face_and_its_clicks_read_blocks() {
    browser::run(async |browser| {
        apps::shows_the_face_and_its_clicks_read_blocks(browser, &bridge()).await;
    });
}

#[test]
#[ignore = "needs the reference implementation (cargo xtask peers)"]
fn the_face_writes_only_where_the_server_does_and_speaks_by_it() {
    browser::run(async |browser| {
        apps::writes_where_the_server_does_and_speaks(browser, &bridge()).await;
    });
}

#[test]
#[ignore = "needs the reference implementation (cargo xtask peers)"]
fn it_greets_measures_and_ends_the_app() {
    browser::run(async |browser| {
        apps::greets_measures_and_ends(browser, &bridge()).await;
        // The bridge ends it as well, and reads the answer.
        let ended = "bridge.teardownResource({}).then(() => { seen.ended = true; })";
        browser.js(ended).await;
        browser.wait_until("seen.ended").await;
        let seen = browser.eval("seen").await;
        let app = serde_json::json!({"name": "hermitcrab", "version": "0.0.0-test"});
        assert_eq!(
            seen,
            serde_json::json!({"initialized": true, "height": 700, "app": app, "ended": true})
        );
    });
}
