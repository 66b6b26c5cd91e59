//! A page with one of everything, as it is written.

use std::error::Error;

use crate::reading::filled_with;

#[test]
fn a_rich_page() -> Result<(), Box<dyn Error>> {
    let html = filled_with("a < b").render()?;
    // Style and script are files of their own; tags on lines of their own make a change readable.
    let style = html
        .split("<style>")
        .nth(1)
        .and_then(|rest| rest.split("</style>").next());
    let script = html
        .split("<script>")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next());
    let short = html
        .replace(style.ok_or("no style")?, "(page.css)")
        .replace(script.ok_or("no script")?, "(search.js)");
    let short: String = match short
        .split_once("content=\"default-src")
        .and_then(|(head, rest)| {
            rest.split_once("'\">")
                .map(|(_, tail)| format!("{head}content=\"(policy)\">{tail}"))
        }) {
        Some(short) => short,
        None => return Err("no policy".into()),
    };
    insta::assert_snapshot!(short.replace("><", ">\n<"));
    Ok(())
}
