//! The text about the conserved quantities of a universe.

use bin_support::escape;
use popper_harness::conserved::ConservedSpace;

/// Returns the dimension of the space, then its basis, one expression a line.
pub fn listed(space: &ConservedSpace) -> String {
    let (id, dimension, width) = (escape(&space.universe), space.dimension, space.width);
    let mut text = format!("{id}: dimension {dimension} up to window width {width}\n");
    for quantity in &space.basis {
        text += &quantity.expr;
        text.push('\n');
    }
    text
}
