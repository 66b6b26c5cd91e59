//! The section with the tree of the largest root.

use report_kit::{Cell, Section, Table};

use super::data::ReportData;
use super::messages::MessageBrowser;
use crate::export::picture;
use crate::measures::lineage::{Method, TextNode};

/// Returns the tree with a table of its nodes; `None` without messages.
pub(super) fn section(data: &ReportData, messages: &MessageBrowser) -> Option<Section> {
    let run = &data.transcript;
    let texts = picture::largest(run, &data.lineage)?;
    let tree = picture::tree(run, &texts, |id| messages.anchor(id));
    let columns = [
        "Message",
        "Round",
        "Messages",
        "Comes from",
        "By",
        "Texts between",
        "Messages folded",
        "Begins",
    ];
    let parent = |node: &TextNode| match node.parent {
        Some(parent) => messages.link(texts.nodes[parent].id),
        None => Cell::Missing,
    };
    let rows = texts.nodes.iter().map(|node| {
        [
            messages.link(node.id),
            node.round.0.into(),
            node.messages.into(),
            parent(node),
            node.method.map(Method::name).map(str::to_owned).into(),
            node.passed.into(),
            node.folded.into(),
            Cell::text(picture::begin(run, node.id)),
        ]
    });
    let table = Table::new("The texts of the tree", columns).rows(rows);
    let section = Section::new("Texts of the largest root").folded();
    Some(section.tree(tree).table(table))
}
