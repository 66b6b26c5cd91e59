//! A tree of descent, drawn from left to right.

use maud::{Markup, html};

use super::figure::{LABEL, WIDTH, hue};
use crate::document::anchor::Anchors;
use crate::document::number::{coordinate, counted};
use crate::document::text;
use crate::error::Error;

/// The height of a row and the space above the first one, in units of the drawing.
const ROW: f64 = 26.0;
/// The space at the left, and at the right for the name of a last node.
const LEFT: f64 = 12.0;
const RIGHT: f64 = 90.0;
/// The step from a root, and the widest one from any other node.
const FIRST: f64 = 80.0;
const STEP: f64 = 120.0;
/// The width of a letter, and that of one where the window is narrow.
const LETTER: f64 = 7.6;
const WIDE_LETTER: f64 = 12.6;

/// A tree of descent: each node is drawn to the right of its parent.
///
/// ```
/// use report_kit::{Page, Section, Tree};
///
/// let mut tree = Tree::new("Lineage");
/// let seed = tree.node(None, "seed");
/// let answer = tree.node(Some(seed), "answer");
/// tree.leave_out(answer, 3);
/// assert!(Page::new("p").section(Section::new("s").tree(tree)).render().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    title: String,
    nodes: Vec<TreeNode>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeNode {
    parent: Option<usize>,
    name: String,
    note: String,
    anchor: Option<String>,
    left_out: u64,
}

/// A node with its position.
struct Placed<'a> {
    node: &'a TreeNode,
    x: f64,
    y: f64,
    /// The width for the name; `None` for a node without children, whose name is after it.
    room: Option<f64>,
}

impl Tree {
    /// Creates a tree without nodes.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            nodes: Vec::new(),
        }
    }

    /// Adds a node and returns its index. The name is cut to the room that it has. Without a known parent it is a root.
    pub fn node(&mut self, parent: Option<usize>, name: impl Into<String>) -> usize {
        let index = self.nodes.len();
        self.nodes.push(TreeNode {
            parent: parent.filter(|parent| *parent < index),
            name: name.into(),
            note: String::new(),
            anchor: None,
            left_out: 0,
        });
        index
    }

    /// Sets the text of a node's tooltip.
    pub fn note(&mut self, node: usize, text: impl Into<String>) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.note = text.into();
        }
    }

    /// Makes a node a link to an anchor, as [`Cell::Link`](crate::Cell::Link) is.
    pub fn link(&mut self, node: usize, anchor: impl Into<String>) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.anchor = Some(anchor.into());
        }
    }

    /// Sets the number of descendants of a node that are not in the tree.
    pub fn leave_out(&mut self, node: usize, descendants: u64) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.left_out = descendants;
        }
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        let (depths, rows) = self.places();
        let deepest = depths.iter().copied().max().unwrap_or(0);
        let further = deepest.saturating_sub(1).max(1) as f64;
        let step = ((WIDTH - LEFT - FIRST - RIGHT) / further).min(STEP);
        let across = |depth: usize| match depth {
            0 => LEFT,
            depth => LEFT + FIRST + step * (depth - 1) as f64,
        };
        let placed: Vec<Placed<'_>> = (self.nodes.iter().enumerate())
            .map(|(index, node)| Placed {
                node,
                x: across(depths[index]),
                y: ROW * (rows[index] as f64 + 1.0),
                room: if self.nodes.iter().any(|other| other.parent == Some(index)) {
                    Some(across(depths[index] + 1) - across(depths[index]) - 4.0)
                } else {
                    None
                },
            })
            .collect();
        let height = ROW * (rows.iter().max().map_or(0, |row| row + 1) as f64 + 0.5);
        let (caption, name, description) = (anchors.fresh(), anchors.fresh(), anchors.fresh());
        Ok(html! {
            figure class="plot tree" aria-labelledby=(caption) {
                figcaption id=(caption) { span class="name" { (text::breakable(&self.title, text::TITLE)) } }
                @if self.nodes.is_empty() {
                    p class="none" { "There is nothing to draw." }
                } @else {
                    svg class="drawing" role="group" aria-labelledby=(name) aria-describedby=(description)
                        viewBox={ "0 0 " (coordinate(WIDTH)) " " (coordinate(height)) } {
                        title id=(name) { (text::label(&self.title, text::TITLE)) }
                        desc id=(description) {
                            (counted(self.nodes.len(), "node")) ", " (counted(deepest, "step")) " deep."
                        }
                        @for child in &placed {
                            @if let Some(parent) = child.node.parent.map(|parent| &placed[parent]) {
                                path class="edge" d={
                                    "M" (coordinate(parent.x)) " " (coordinate(parent.y))
                                    "V" (coordinate(child.y)) "H" (coordinate(child.x))
                                } {}
                            }
                        }
                        @for placed in &placed {
                            @match &placed.node.anchor {
                                Some(anchor) => a href=(anchors.href(anchor)?) { (placed.mark()) },
                                None => (placed.mark()),
                            }
                        }
                    }
                }
            }
        })
    }

    /// Returns the depth and the row of each node. A first child is in the row of its parent.
    fn places(&self) -> (Vec<usize>, Vec<usize>) {
        let mut children = vec![Vec::new(); self.nodes.len()];
        let mut depths = vec![0; self.nodes.len()];
        let mut waiting = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            match node.parent {
                Some(parent) => {
                    depths[index] = depths[parent] + 1;
                    children[parent].push(index);
                }
                None => waiting.push(index),
            }
        }
        waiting.reverse();
        let mut rows = vec![0; self.nodes.len()];
        let mut next = 0;
        while let Some(index) = waiting.pop() {
            rows[index] = next;
            if children[index].is_empty() {
                next += 1;
            }
            waiting.extend(children[index].iter().rev());
        }
        (depths, rows)
    }
}

impl Placed<'_> {
    /// Draws the node with its name above the line to its first child, or after it if it has none.
    fn mark(&self) -> Markup {
        let node = self.node;
        let room = (self.room.unwrap_or(RIGHT) / LETTER) as usize;
        let name = text::label(&node.name, room.saturating_sub(1).max(1));
        let more = match node.left_out {
            0 => String::new(),
            more => format!(" +{more}"),
        };
        let letters = name.chars().count() + more.len();
        let shown = if letters <= room {
            format!("{name}{more}")
        } else {
            name
        };
        let wide = shown.chars().count() as f64 * WIDE_LETTER;
        let class = (self.room.is_some_and(|room| wide > room)).then_some("minor");
        let (x, y) = match self.room {
            Some(_) => (self.x + 6.0, self.y - 6.0),
            None => (self.x + 9.0, self.y + 4.5),
        };
        html! {
            g class=(hue(usize::from(node.parent.is_some()))) {
                circle class="mark" cx=(coordinate(self.x)) cy=(coordinate(self.y)) r="4.5" {}
            }
            text class=[class] x=(coordinate(x)) y=(coordinate(y)) { (shown) }
            title {
                (text::label(&node.name, LABEL))
                @if node.left_out > 0 { ", " (counted(node.left_out as usize, "descendant")) " not drawn" }
                @if !node.note.is_empty() { ": " (text::label(&node.note, text::TITLE)) }
            }
        }
    }
}
