//! Words after the text of a node.

use crate::Path;

/// The words after the text of a node, such as ` (lost 2: 0.1.3)`: they begin with a space, or there are none. They count in the
/// node's tokens, and a text that is cut keeps them.
///
/// A reader cannot tell them from the last words of the text.
pub type Suffix<'a> = dyn Fn(Path) -> String + 'a;
