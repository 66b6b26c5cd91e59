//! HTML as Markdown.

use htmd::element_handler::Handlers;
use htmd::options::Options;
use htmd::{Element, HtmlToMarkdown};

use super::tidy::Tidy;
use crate::{ErrorKind, ToolError};

/// A page as Markdown.
pub(super) struct Markdown {
    pub text: String,
    pub title: Option<String>,
    /// The page was longer.
    pub cut: bool,
}

pub(super) fn markdown(html: &str) -> Result<Markdown, ToolError> {
    let tidy = Tidy::of(html);
    let text = HtmlToMarkdown::builder()
        .options(Options {
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..Options::default()
        })
        // The converter's own tables are padded to the widest cell, which costs what it is paid for in tokens.
        .add_handler(
            vec!["td", "th"],
            |handlers: &dyn Handlers, cell: Element| {
                let content = handlers.walk_children(cell.node).content;
                let words: Vec<&str> = content.split_whitespace().collect();
                Some(format!(" {} |", words.join(" ").replace('|', "\\|")).into())
            },
        )
        .add_handler(vec!["tr"], |handlers: &dyn Handlers, row: Element| {
            let cells = handlers.walk_children(row.node).content;
            Some(format!("\n|{}\n", cells.trim_end()).into())
        })
        .add_handler(vec!["table"], |handlers: &dyn Handlers, table: Element| {
            Some(grid(&handlers.walk_children(table.node).content).into())
        })
        .build()
        .convert(&tidy.html)
        .map_err(|error| {
            ToolError::new(
                ErrorKind::BadReply,
                format!("the page cannot be read: {error}"),
            )
        })?;
    Ok(Markdown {
        text,
        title: tidy.title,
        cut: tidy.cut,
    })
}

/// Rows, with the rule below the first that makes them a table.
fn grid(rows: &str) -> String {
    let mut grid = String::from("\n\n");
    let rows = rows.lines().filter(|row| !row.trim().is_empty());
    for (at, row) in rows.enumerate() {
        grid.push_str(row.trim_end());
        grid.push('\n');
        if at == 0 {
            let cells = row.matches(" |").count();
            grid.push('|');
            grid.push_str(&" --- |".repeat(cells));
            grid.push('\n');
        }
    }
    grid.push('\n');
    grid
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(html: &str) -> String {
        markdown(html).unwrap().text
    }

    #[test]
    fn a_page_becomes_markdown() {
        let page = markdown(
            "<!DOCTYPE html><html><head><title>A &amp; B\n page</title><style>p{}</style></head>\
             <body><!-- no --><h1>Head</h1><p>One <b>bold</b> <a class=x href='/next'>link</a>\
             <p>Two<script>alert('</p>')</script><ul><li>a<li>b</ul>\
             <article>Art</article><nav>Nav</nav><pre><code>x &lt; y\n  z</code></pre></body>",
        )
        .unwrap();
        assert_eq!(page.title.as_deref(), Some("A & B page"));
        assert_eq!(
            page.text,
            "# Head\n\nOne **bold** [link](/next)\n\nTwo\n\n* a\n* b\n\nArt\n\nNav\n\n```\nx < y\n  z\n```"
        );
        assert!(!page.cut);
    }

    #[test]
    fn tables_are_not_padded() {
        let table = "<table><caption>C</caption><thead><tr><th>A<th>B</thead>\
                     <tr><td>a|b<td><p>two</p><p>lines</p><tr><td>c<td></table>";
        assert_eq!(
            text(table),
            "C\n\n| A | B |\n| --- | --- |\n| a\\|b | two lines |\n| c |  |"
        );
        let wide = format!(
            "<table><tr><td>{}{}",
            "x".repeat(10_000),
            "<tr><td>y".repeat(5_000)
        );
        assert!(text(&wide).len() < 60_000);
    }

    #[test]
    fn what_can_run_is_left_out() {
        let page = "<a href=\" JavaScript:alert(1)\">a</a><img src=data:image/png;base64,AAAA alt=pic>\
                    <SCRIPT>no</SCRIPT ><svg/><svg><text>no</text></svg><iframe>no</iframe>end";
        let text = text(page);
        assert!(!text.contains("no") && !text.contains("alert") && !text.contains("base64"));
        assert!(text.ends_with("end"), "{text}");
    }

    #[test]
    fn pages_made_to_hurt_are_harmless() {
        let many = 100_000;
        let numbered = |tag: &str| {
            let one = |n| format!("<{tag} id={n}><p>");
            (0..many).map(one).collect::<Vec<_>>().concat()
        };
        for page in [
            "<div>".repeat(many),
            "<b>".repeat(many),
            "<ul><li>".repeat(many),
            "<blockquote>x\n".repeat(many),
            "<table><tr><td>".repeat(many),
            "<p><b><i><em><strong><div>x</div>".repeat(many),
            numbered("b"),
            numbered("a"),
            "<i>x</i>".repeat(many),
            "<svg>".repeat(many),
            "<!--".repeat(many),
            "<a href=\"".repeat(many),
            format!("<a {}>", "x=1 ".repeat(many)),
            "</p>".repeat(many),
            "<".repeat(many),
            "<?x><![CDATA[x]]>".repeat(many),
        ] {
            let page = markdown(&page).unwrap();
            assert!(page.text.len() < 30_000_000);
        }
    }

    proptest! {
        #[test]
        fn any_page_gives_text(page in "(<[/!?]?|[a-z]{1,6}|>|\"|'|=| |\n|&lt;|é|<(p|b|a|td|tr|table|li|ul|svg|title)( href=x)?>|</(p|b|a|td|tr|table|ul)>){0,60}") {
            markdown(&page).unwrap();
        }
    }
}
