//! The content security policy of a page.

use std::error::Error;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use scraper::Html;
use sha2::{Digest as _, Sha256};

use crate::reading::{filled_with, found, texts};

fn hash(source: &str) -> String {
    format!(
        "'sha256-{}'",
        STANDARD.encode(Sha256::digest(source.as_bytes()))
    )
}

fn policy(page: &Html) -> Result<String, Box<dyn Error>> {
    let metas = found(page, "head > meta[http-equiv=Content-Security-Policy]")?;
    let content = metas.first().and_then(|meta| meta.attr("content"));
    Ok(content.ok_or("no policy")?.to_owned())
}

#[test]
fn the_hashes_are_those_of_what_is_there() -> Result<(), Box<dyn Error>> {
    let page = Html::parse_document(&filled_with("</script>").render()?);
    let (styles, scripts) = (texts(&page, "style")?, texts(&page, "script:not([type])")?);
    let ([style], [script]) = (styles.as_slice(), scripts.as_slice()) else {
        return Err("one style and one script".into());
    };
    assert_eq!(
        policy(&page)?,
        format!(
            "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            hash(style),
            hash(script)
        )
    );
    Ok(())
}

#[test]
fn nothing_is_asked_of_a_network() -> Result<(), Box<dyn Error>> {
    let html = filled_with("plain").render()?;
    for sign in ["http:", "https:", "url(", "@import", "@font-face", "//"] {
        let page = Html::parse_document(&html);
        let scripts = texts(&page, "script:not([type])")?;
        // The scripts' comments are the only slashes.
        let without = |rest: String, script: &String| rest.replace(script, "");
        let rest = scripts.iter().fold(html.clone(), without);
        let scripts = scripts.concat();
        assert!(!rest.contains(sign), "{sign}");
        for call in [
            "fetch",
            "XMLHttpRequest",
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval",
            "import(",
        ] {
            assert!(!scripts.contains(call), "{call}");
        }
    }
    Ok(())
}
