//! The picture of a lineage: the share of each root over time, and the texts that descend from the largest root.

use std::io::{self, Write};

use report_kit::picture::Picture;
use report_kit::{Axis, Plot, Series, Tree};

use super::kind::ExportError;
use crate::format::without_signature;
use crate::measures::lineage::{Lineage, Method, TextTree};
use crate::pool::MessageId;
use crate::verify::Transcript;

/// The largest number of roots with an area each, and of nodes of the tree.
pub(crate) const ROOTS: usize = 11;
const NODES: usize = 200;
/// The number of characters of a text in a tooltip.
const NOTE: usize = 80;

/// Writes the picture as SVG, and returns the number of nodes of its tree.
pub(super) fn write(
    run: &Transcript,
    lineage: &Lineage,
    out: &mut impl Write,
) -> Result<usize, ExportError> {
    let texts = largest(run, lineage);
    let nodes = texts.as_ref().map_or(0, |texts| texts.nodes.len());
    let picture = Picture::new("Lineage").plot(shares(run, lineage));
    let picture = match &texts {
        Some(texts) => picture.tree(tree(run, texts, |_| None)),
        None => picture,
    };
    let svg = picture.render().map_err(io::Error::other)?;
    out.write_all(svg.as_bytes())?;
    Ok(nodes)
}

/// Returns the tree of the root with most messages; `None` for a run without messages.
pub(crate) fn largest(run: &Transcript, lineage: &Lineage) -> Option<TextTree> {
    let root = lineage.largest_roots(1).into_iter().next()?;
    Some(lineage.text_tree(run, root, NODES))
}

/// Returns the shares of the largest roots and of all others in what can be read, before round 1 and after each round.
pub(crate) fn root_shares(lineage: &Lineage) -> Vec<(String, Vec<Option<f64>>)> {
    let roots = lineage.largest_roots(ROOTS);
    let curves = lineage.root_curves(&roots);
    let rounds = curves.first().map_or(0, Vec::len);
    let others = (0..rounds).map(|round| {
        let shares: Option<Vec<f64>> = curves.iter().map(|curve| curve[round]).collect();
        shares.map(|shares| (1.0 - shares.iter().sum::<f64>()).max(0.0))
    });
    let others: Vec<Option<f64>> = others.collect();
    let names = roots.iter().map(|root| name(*root, lineage));
    let mut shares: Vec<_> = names.zip(curves).collect();
    if others.iter().flatten().any(|share| *share > 1e-9) {
        shares.push(("others".to_owned(), others));
    }
    shares
}

/// Returns the plot of [`root_shares`].
pub(crate) fn shares(run: &Transcript, lineage: &Lineage) -> Plot {
    let rounds = run.rounds.iter().map(|round| f64::from(round.round));
    let rounds: Vec<f64> = std::iter::once(0.0).chain(rounds).collect();
    let x = Axis::new("end of round");
    let y = Axis::new("share of what can be read")
        .percent()
        .missing("no text can be read");
    let plot = Plot::stacked("Roots over time: each with what comes from it", x, y);
    (root_shares(lineage).into_iter()).fold(plot, |plot, (name, shares)| {
        let values = shares.into_iter().map(|share| share.unwrap_or(f64::NAN));
        let points: Vec<(f64, f64)> = rounds.iter().copied().zip(values).collect();
        plot.with(Series::line(name, points))
    })
}

/// Returns the tree over the rounds. `anchor` returns the place of a message on the page.
pub(crate) fn tree(
    run: &Transcript,
    texts: &TextTree,
    anchor: impl Fn(MessageId) -> Option<String>,
) -> Tree {
    let mut title =
        "Texts that come from the largest root; a solid line is a copy, a dashed one a change, \
                     (2) counts the texts on a line"
            .to_owned();
    if texts.folded > 0 {
        let nodes = if texts.folded == 1 {
            "node is"
        } else {
            "nodes are"
        };
        let folded = texts.folded;
        title.extend([
            "; ",
            &folded.to_string(),
            " ",
            nodes,
            " folded, + counts their messages",
        ]);
    }
    let mut tree = Tree::new(title, Axis::new("round"));
    for node in &texts.nodes {
        let seed = if node.id.index() < run.seeds {
            "seed "
        } else {
            ""
        };
        let name = format!("{seed}{}", node.id);
        let place = tree.node(node.parent, f64::from(node.round), name);
        tree.size(place, node.messages as u64);
        tree.pass(place, node.passed as u64);
        tree.leave_out(place, node.folded as u64);
        if node.method == Some(Method::Lcs) {
            tree.dash(place);
        }
        tree.note(place, begin(run, node.id));
        if let Some(anchor) = anchor(node.id) {
            tree.link(place, anchor);
        }
    }
    tree
}

/// Returns the first characters of a text, without its signature.
pub(crate) fn begin(run: &Transcript, id: MessageId) -> String {
    let text = without_signature(&run.messages[id.index()].text);
    text.chars().take(NOTE).collect()
}

fn name(root: MessageId, lineage: &Lineage) -> String {
    if root.index() < lineage.seeds() {
        format!("seed {root}")
    } else {
        format!("message {root}")
    }
}
