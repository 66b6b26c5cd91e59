//! The layout of a report: the rules that every page of the programs keeps, in windows of three widths and in both colour schemes.

use serde_json::{Value, json};

use super::session::Browser;

/// A phone, a small window and a large one, in pixels.
const WIDTHS: [u32; 3] = [390, 800, 1300];

/// The elements that make the page wider than the window.
const WIDE: &str = "(() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const inside = (one) => one.getBoundingClientRect().right <= innerWidth || one.closest('.table-scroll > *');
  const wide = [...document.querySelectorAll('body *')].filter((one) => !inside(one)).slice(0, 20);
  return ['the page is wider than the window', ...wide.map((one) => `${one.tagName} ${one.className}`)];
})()";

/// The words of first columns that are broken, and in a large window the tables that scroll.
const BROKEN: &str = "(() => {
  const problems = [];
  const cells = [...document.querySelectorAll('tbody th')].filter((cell) => cell.checkVisibility());
  for (const cell of cells.slice(0, 300)) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      for (const word of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) problems.push(`broken: ${word[0]}`);
      }
    }
  }
  for (const box of document.querySelectorAll('.table-scroll:has(table)')) {
    if (innerWidth >= 1300 && box.checkVisibility() && box.scrollWidth > box.clientWidth) {
      problems.push(`it scrolls: ${box.querySelector('caption').textContent}`);
    }
  }
  return problems;
})()";

/// The parts of the top that end too far down.
const LOW: &str = "(() => {
  const problems = [];
  const end = (part) => part.getBoundingClientRect().bottom + scrollY;
  const leads = [...document.querySelectorAll('header > p.text')].map(end);
  if (leads.length === 0 || (innerWidth >= 800 && Math.max(...leads) > 400)) problems.push(`the lead ends at ${leads}`);
  const figures = [...document.querySelectorAll('header > figure')].map(end);
  if (figures.length > 1 || figures.some((figure) => figure > 1200)) problems.push(`the figure ends at ${figures}`);
  return problems;
})()";

/// The links that lead nowhere. The script of a browser adds its items when a link leads there.
const DEAD: &str = "(() => {
  const data = [...document.querySelectorAll('.browser script')].map((script) => JSON.parse(script.textContent));
  const items = new Set(data.flatMap((browser) => browser.items.map((item) => item[1])));
  const targets = [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'));
  return targets.filter((to) => !to.startsWith('#') || !(document.getElementById(to.slice(1)) || items.has(to.slice(1))));
})()";

/// Rows and entries that are not shown although all is unfolded, and controls that do nothing without scripts.
const HIDDEN: &str = "(() => {
  const rows = [...document.querySelectorAll('tbody tr, .list li')].filter((row) => !row.checkVisibility());
  const idle = [...document.querySelectorAll('button, input')].filter((one) => one.checkVisibility());
  return [...rows, ...idle].map((one) => one.textContent.slice(0, 80));
})()";

const UNFOLD: &str = "for (const fold of document.querySelectorAll('main details, header details')) fold.open = true";

impl Browser {
    /// Asserts that a page is not wider than a window of 390, 800 and 1300 pixels, with its sections folded and unfolded.
    pub async fn assert_no_sideways_scroll(&self, html: &str) {
        let _site = self.show(html).await;
        for is_unfolded in [false, true] {
            if is_unfolded {
                self.js(UNFOLD).await;
            }
            for width in WIDTHS {
                self.set_width(width).await;
                let place = format!("{width} pixels, unfolded: {is_unfolded}");
                assert_eq!(self.eval(WIDE).await, json!([]), "{place}");
            }
        }
    }

    /// Asserts the rules of a report in windows of 390, 800 and 1300 pixels, light and dark, folded and unfolded.
    ///
    /// - The page does not scroll sideways, and in a large window no table does.
    /// - No word of a first column is broken.
    /// - The lead ends in the first 400 pixels, but on a phone, and the figure in the first 1200.
    /// - Every link leads somewhere.
    /// - Without scripts every row is shown, and there is no button.
    pub async fn assert_report_layout(&self, html: &str) {
        for scheme in ["light", "dark"] {
            self.set_scheme(scheme).await;
            self.assert_no_sideways_scroll(html).await;
            let _site = self.show(html).await;
            for width in WIDTHS {
                self.set_width(width).await;
                self.assert_none(LOW, &format!("{width} pixels, {scheme}"))
                    .await;
            }
            self.assert_none(DEAD, scheme).await;
            self.js(UNFOLD).await;
            for width in WIDTHS {
                self.set_width(width).await;
                self.assert_none(BROKEN, &format!("{width} pixels, {scheme}"))
                    .await;
            }
        }
        self.set_scripts(false).await;
        let _site = self.show(html).await;
        self.js(UNFOLD).await;
        self.assert_none(HIDDEN, "without scripts").await;
        self.set_scripts(true).await;
    }

    async fn assert_none(&self, problems: &str, place: &str) {
        let Value::Array(found) = self.eval(problems).await else {
            panic!("no list of problems: {place}");
        };
        assert!(
            found.is_empty(),
            "{place}: {:#?}",
            &found[..found.len().min(20)]
        );
    }
}
