//! A tree of descent over an axis, such as time.

use maud::{Markup, html};

use super::Axis;
use super::figure::{Drawing, LABEL, WIDTH, hue, minor};
use super::scale::Scale;
use crate::document::anchor::Anchors;
use crate::document::number::{counted, rough};
use crate::document::text;
use crate::error::Error;

/// The height of a row, and the space below the last one for the axis, in units of the drawing.
const ROW: f64 = 13.0;
const BELOW: f64 = 50.0;
/// The space at the left, and at the right for the name of a last node.
const LEFT: f64 = 14.0;
const RIGHT: f64 = 100.0;
/// The maximum length in characters of the name of a node in the drawing.
const NAME: usize = 14;
/// The radius of a node of one message, and the largest radius.
const SMALLEST: f64 = 2.5;
const LARGEST: f64 = 9.0;

/// A tree of descent: each node is to the right of its parent, at its value on the axis and in its own row.
///
/// ```
/// use report_kit::{Axis, Page, Section, Tree};
///
/// let mut tree = Tree::new("Lineage", Axis::new("round"));
/// let seed = tree.node(None, 0.0, "seed");
/// let answer = tree.node(Some(seed), 2.0, "answer");
/// tree.size(answer, 4);
/// tree.dash(answer);
/// tree.leave_out(answer, 3);
/// assert!(Page::new("p").section(Section::new("s").tree(tree)).render().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    title: String,
    axis: Axis,
    nodes: Vec<TreeNode>,
}

#[derive(Debug, Clone, PartialEq)]
struct TreeNode {
    parent: Option<usize>,
    x: f64,
    name: String,
    note: String,
    anchor: Option<String>,
    size: u64,
    passed: u64,
    is_dashed: bool,
    left_out: u64,
}

/// A node with its position.
struct Placed<'a> {
    node: &'a TreeNode,
    x: f64,
    y: f64,
    radius: f64,
    has_children: bool,
}

impl Tree {
    /// Creates a tree without nodes over this axis.
    pub fn new(title: impl Into<String>, axis: Axis) -> Self {
        Self {
            title: title.into(),
            axis,
            nodes: Vec::new(),
        }
    }

    /// Adds a node at `x` on the axis and returns its index. Without a known parent it is a root. The names of roots and of
    /// nodes without children are drawn.
    pub fn node(&mut self, parent: Option<usize>, x: f64, name: impl Into<String>) -> usize {
        let index = self.nodes.len();
        self.nodes.push(TreeNode {
            parent: parent.filter(|parent| *parent < index),
            x,
            name: name.into(),
            note: String::new(),
            anchor: None,
            size: 1,
            passed: 0,
            is_dashed: false,
            left_out: 0,
        });
        index
    }

    /// Sets the number of things that a node is, 1 by default: the area of its mark.
    pub fn size(&mut self, node: usize, size: u64) {
        self.set(node, |node| node.size = size);
    }

    /// Sets the number of nodes between a node and its parent that are a line only.
    pub fn pass(&mut self, node: usize, nodes: u64) {
        self.set(node, |node| node.passed = nodes);
    }

    /// Draws the line to the parent of a node dashed.
    pub fn dash(&mut self, node: usize) {
        self.set(node, |node| node.is_dashed = true);
    }

    /// Sets the text of a node's tooltip.
    pub fn note(&mut self, node: usize, text: impl Into<String>) {
        self.set(node, |node| node.note = text.into());
    }

    /// Makes a node a link to an anchor, as [`Cell::Link`](crate::Cell::Link) is.
    pub fn link(&mut self, node: usize, anchor: impl Into<String>) {
        self.set(node, |node| node.anchor = Some(anchor.into()));
    }

    /// Sets the number of descendants of a node that are not in the tree.
    pub fn leave_out(&mut self, node: usize, descendants: u64) {
        self.set(node, |node| node.left_out = descendants);
    }

    fn set(&mut self, node: usize, set: impl FnOnce(&mut TreeNode)) {
        if let Some(node) = self.nodes.get_mut(node) {
            set(node);
        }
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    pub(crate) fn render(&self, anchors: &Anchors) -> Result<Markup, Error> {
        let (caption, name, description) = (anchors.fresh(), anchors.fresh(), anchors.fresh());
        let drawing = self.drawing(anchors)?;
        Ok(html! {
            figure class="plot tree" aria-labelledby=(caption) {
                figcaption id=(caption) { span class="name" { (text::breakable(&self.title, text::TITLE)) } }
                @match drawing {
                    None => p class="none" { "There is nothing to draw." },
                    Some(drawing) => svg class="drawing" role="group" aria-labelledby=(name) aria-describedby=(description)
                        viewBox={ "0 0 " (rough(WIDTH)) " " (rough(drawing.height)) } {
                        title id=(name) { (text::label(&self.title, text::TITLE)) }
                        desc id=(description) { (drawing.description) }
                        (drawing.content)
                    },
                }
            }
        })
    }

    /// Returns the drawing; `None` without nodes that have a place on the axis.
    pub(crate) fn drawing(&self, anchors: &Anchors) -> Result<Option<Drawing>, Error> {
        let scale = Scale::over(&self.axis, self.nodes.iter().map(|node| node.x));
        let Some(scale) = scale else { return Ok(None) };
        let across = |x: f64| LEFT + scale.place(x) * (WIDTH - LEFT - RIGHT);
        let largest = self.nodes.iter().map(|node| node.size).max().unwrap_or(1);
        let unit = ((LARGEST - SMALLEST) / (largest.max(2) as f64).sqrt()).min(SMALLEST);
        let mut has_children = vec![false; self.nodes.len()];
        for parent in self.nodes.iter().filter_map(|node| node.parent) {
            has_children[parent] = true;
        }
        let rows = self.rows();
        let placed: Vec<Placed<'_>> = (self.nodes.iter().enumerate())
            .map(|(index, node)| Placed {
                node,
                x: across(node.x),
                y: ROW * (rows[index] as f64 + 1.0),
                radius: SMALLEST + unit * (node.size.max(1) as f64 - 1.0).sqrt(),
                has_children: has_children[index],
            })
            .collect();
        let bottom = ROW * (self.nodes.len() as f64 + 1.0);
        let mut marks = Vec::with_capacity(placed.len());
        for placed in &placed {
            let anchor = placed.node.anchor.as_deref();
            let href = anchor.map(|anchor| anchors.href(anchor)).transpose()?;
            marks.push(html! {
                @if let Some(href) = href { a href=(href) { (placed.mark()) } }
                @else { g { (placed.mark()) } }
            });
        }
        let edges = self.nodes.iter().filter(|node| node.parent.is_some());
        let content = html! {
            @for (index, (value, label)) in scale.ticks.iter().enumerate() {
                @let at = rough(across(*value));
                line class="rule" x1=(at) x2=(at) y1="0" y2=(rough(bottom)) {}
                text class=[minor(index)] text-anchor="middle" x=(at) y=(rough(bottom + 18.0)) { (label) }
            }
            text class="axis-name" text-anchor="end" x=(rough(WIDTH - RIGHT)) y=(rough(bottom + 40.0)) {
                (text::label(&self.axis.label, LABEL))
            }
            @for child in &placed {
                @if let Some(parent) = child.node.parent.map(|parent| &placed[parent]) { (child.edge(parent)) }
            }
            @for mark in &marks { (mark) }
        };
        Ok(Some(Drawing {
            height: bottom + BELOW,
            content,
            description: format!(
                "{}, {}.",
                counted(self.nodes.len(), "node"),
                counted(edges.count(), "line")
            ),
        }))
    }

    /// Returns the row of each node: the order of a depth-first walk.
    fn rows(&self) -> Vec<usize> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        let mut waiting = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            match node.parent {
                Some(parent) => children[parent].push(index),
                None => waiting.push(index),
            }
        }
        waiting.reverse();
        let mut rows = vec![0; self.nodes.len()];
        let mut next = 0;
        while let Some(index) = waiting.pop() {
            rows[index] = next;
            next += 1;
            waiting.extend(children[index].iter().rev());
        }
        rows
    }
}

impl Placed<'_> {
    /// Draws the line from the parent, with the number of nodes that are not drawn.
    fn edge(&self, parent: &Placed<'_>) -> Markup {
        let class = if self.node.is_dashed {
            "edge dashed"
        } else {
            "edge"
        };
        html! {
            path class=(class) d={
                "M" (rough(parent.x)) " " (rough(parent.y)) "V" (rough(self.y)) "H" (rough(self.x))
            } {}
            @if self.node.passed > 0 {
                text class="tree-name" text-anchor="end" x=(rough(self.x - self.radius - 2.0)) y=(rough(self.y - 2.0)) {
                    "(" (self.node.passed) ")"
                }
            }
        }
    }

    /// Draws the node with its tooltip, and the name of a root or a last node.
    fn mark(&self) -> Markup {
        let node = self.node;
        let more = match node.left_out {
            0 => String::new(),
            more => format!(" +{more}"),
        };
        let is_root = node.parent.is_none();
        html! {
            circle class={ "mark " (hue(usize::from(!is_root))) } cx=(rough(self.x)) cy=(rough(self.y)) r=(rough(self.radius)) {}
            @if is_root || !self.has_children || node.left_out > 0 {
                text class="tree-name" x=(rough(self.x + self.radius + 3.0)) y=(rough(self.y + 4.0)) {
                    (text::label(&node.name, NAME)) (more)
                }
            }
            title {
                (text::label(&node.name, LABEL))
                @if node.left_out > 0 { ", " (counted(node.left_out as usize, "descendant")) " not drawn" }
                @if !node.note.is_empty() { ": " (text::label(&node.note, text::TITLE)) }
            }
        }
    }
}
