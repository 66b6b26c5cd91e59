//! Decision diagrams of small Boolean functions, which turn a truth table into few operations.

use std::collections::HashMap;

/// A function: a node of the diagram (0 is the constant), times two, plus one where it is complemented.
pub(super) type Edge = u32;

/// The constant false; true is its complement.
pub(super) const FALSE: Edge = 0;
pub(super) const TRUE: Edge = 1;

/// A decision `if variable then high else low`; `low` is never complemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DiagramNode {
    pub variable: u8,
    pub high: Edge,
    pub low: Edge,
}

/// Several functions of the same variables that share their common nodes.
#[derive(Debug, Clone)]
pub(super) struct Diagram {
    /// The nodes; node 0 is the constant and is never read.
    pub nodes: Vec<DiagramNode>,
    pub roots: Vec<Edge>,
}

impl Diagram {
    /// Builds the diagram of `tables[code] >> root & 1` for each of `roots` functions, with the variables in `order`.
    ///
    /// Bit `v` of `code` is variable `v`.
    pub(super) fn new(table: &[u8], roots: usize, order: &[u8]) -> Self {
        let unused = DiagramNode {
            variable: u8::MAX,
            high: FALSE,
            low: FALSE,
        };
        let mut nodes = vec![unused];
        let mut known = HashMap::new();
        // Codes in the order of the leaves: the first variable of `order` is the highest bit of a leaf's index.
        let leaves: Vec<usize> = (0..table.len())
            .map(|leaf| {
                order
                    .iter()
                    .enumerate()
                    .fold(0, |code, (level, &variable)| {
                        code | (leaf >> (order.len() - 1 - level) & 1) << variable
                    })
            })
            .collect();
        let roots = (0..roots)
            .map(|root| {
                let mut layer: Vec<Edge> = leaves
                    .iter()
                    .map(|&code| Edge::from(table[code] >> root & 1))
                    .collect();
                for &variable in order.iter().rev() {
                    layer = layer
                        .chunks(2)
                        .map(|pair| {
                            let (low, high) = (pair[0], pair[1]);
                            if low == high {
                                return low;
                            }
                            let flip = low & 1;
                            let node = DiagramNode {
                                variable,
                                high: high ^ flip,
                                low: low ^ flip,
                            };
                            let index = *known.entry(node).or_insert_with(|| {
                                nodes.push(node);
                                nodes.len() as Edge - 1
                            });
                            (2 * index) | flip
                        })
                        .collect();
                }
                layer[0]
            })
            .collect();
        Self { nodes, roots }
    }

    /// Returns the smallest diagram among a bounded number of variable orders, the same on any machine.
    pub(super) fn best(table: &[u8], roots: usize, variables: usize) -> Self {
        let natural: Vec<u8> = (0..variables as u8).collect();
        let mut order = natural.clone();
        let mut best = Self::new(table, roots, &order);
        // About 10 ms at the very most, whatever the width.
        let mut left = (1 << 18 >> variables).clamp(4, 256);
        let mut improved = true;
        while improved && best.cost() > 0 {
            improved = false;
            for first in 0..variables {
                for second in first + 1..variables {
                    if left == 0 {
                        return best;
                    }
                    left -= 1;
                    order.swap(first, second);
                    let other = Self::new(table, roots, &order);
                    if other.cost() < best.cost() {
                        best = other;
                        improved = true;
                    } else {
                        order.swap(first, second);
                    }
                }
            }
        }
        best
    }

    /// Returns the number of operations for one cell.
    fn cost(&self) -> usize {
        // A node between two constants is its variable and costs nothing.
        self.nodes[1..]
            .iter()
            .filter(|node| !node.is_variable())
            .count()
    }
}

impl DiagramNode {
    /// Whether the node is its variable itself.
    pub(super) fn is_variable(self) -> bool {
        self.low == FALSE && self.high == TRUE
    }
}
