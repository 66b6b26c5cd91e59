//! Data inside of a page, and the same bytes for the same data.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;

use report_kit::Page;
use scraper::Html;

use crate::reading::{filled_with, texts};

#[test]
fn embedded_data_reads_back() -> Result<(), Box<dyn Error>> {
    let text = "</script><!--<script>&amp;\u{2028}\u{2029}\0\r\n\u{fffe}\\u003c";
    let data = BTreeMap::from([(text, vec![1.5, -0.25]), ("b", vec![])]);
    let html = Page::new("data").data("all", &data).render()?;
    let page = Html::parse_document(&html);
    let json = texts(&page, "script#data-all[type='application/json']")?.concat();
    assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
    let read: BTreeMap<String, Vec<f64>> = serde_json::from_str(&json)?;
    assert_eq!(read[text], [1.5, -0.25]);
    Ok(())
}

#[test]
fn the_order_of_a_hash_map_is_not_seen() -> Result<(), Box<dyn Error>> {
    let page = |keys: &mut dyn Iterator<Item = u32>| {
        let data: HashMap<String, u32> = keys.map(|key| (key.to_string(), key)).collect();
        Page::new("map").data("map", &data).render()
    };
    assert_eq!(page(&mut (0..50))?, page(&mut (0..50).rev())?);
    Ok(())
}

#[test]
fn the_same_data_gives_the_same_bytes() -> Result<(), Box<dyn Error>> {
    let page = filled_with("once");
    assert_eq!(page.render()?, page.render()?);
    assert_eq!(page.render()?, filled_with("once").render()?);
    Ok(())
}
