use super::{Block, Change, Inverse, MAX_DECIMAL, Node, checked};
use crate::{BlockError, Path};

impl Block {
    /// Sets the text of the node at `path`. A missing node is made, with the levels above it, which get no text; a leaf on
    /// the way becomes a branch and keeps its text.
    ///
    /// # Errors
    /// Blank text, a second top-level digit, the empty path with a decimal above 0, or a limit.
    pub fn write(&mut self, path: &Path, text: &str) -> Result<Change, BlockError> {
        let text = checked(text)?;
        self.check_writable(path)?;
        self.checking(|block| Ok(block.set(*path, text)))
    }

    /// Removes the node at `path` and all below it. A node above that becomes empty is removed, too.
    ///
    /// # Errors
    /// There is no such node, or it is the head, or all that the head has.
    pub fn remove(&mut self, path: &Path) -> Result<Change, BlockError> {
        self.found(path)?;
        let goes = self.goes_with(*path);
        if goes.holds(&self.head()) {
            return Err(BlockError::Head { path: self.head() });
        }
        self.checking(|block| Ok(block.cut_off(goes, *path)))
    }

    /// Moves the node at `from`, with all below it, to the free place `to`.
    ///
    /// # Errors
    /// As [`Block::write`] and [`Block::remove`]; `to` is taken, or inside of `from`.
    pub fn relocate(&mut self, from: &Path, to: &Path) -> Result<Change, BlockError> {
        let moved = self.found(from)?;
        let head = self.head();
        if from.holds(&head) || (self.goes_with(*from).holds(&head) && !head.holds(to)) {
            return Err(BlockError::Head { path: head });
        }
        if self.node(to).is_some() {
            return Err(BlockError::Exists { path: *to });
        }
        if from.holds(to) {
            return Err(BlockError::IntoItself {
                from: *from,
                to: *to,
            });
        }
        self.check_writable(to)?;
        if to.depth() + moved.height() > crate::path::MAX_DEPTH {
            return Err(BlockError::TooDeep);
        }
        let node = moved.clone();
        self.checking(|block| {
            // The new place first: the levels above it may be those that the old place leaves empty.
            let made = block.set(*to, "-");
            if let Some(place) = block.tree.at_mut(to.digits()) {
                *place = node;
            }
            block.size = block.tree.size();
            let goes = block.goes_with(*from);
            let cut = block.cut_off(goes, *from);
            Ok(Change {
                inverse: made.inverse.after(cut.inverse),
                ..made
            })
        })
    }

    /// Sets the decimal, for imports and people: the texts stay where they are and their pscale changes.
    ///
    /// # Errors
    /// It is over 32, or above 0 while the tree itself has a text.
    pub fn set_decimal(&mut self, decimal: u8) -> Result<Change, BlockError> {
        let reason = if decimal > MAX_DECIMAL {
            format!("decimal is a whole number from 0 to {MAX_DECIMAL}, not {decimal}")
        } else if decimal > 0 && self.tree.text.is_some() {
            "the tree itself has a text, which it may only with decimal 0".to_owned()
        } else if decimal > 0 && self.tree.is_leaf() {
            "the tree has no digits, so the block has no head with a decimal above 0".to_owned()
        } else {
            let old = std::mem::replace(&mut self.decimal, decimal);
            return Ok(Change {
                path: self.head(),
                created: Vec::new(),
                grown: None,
                summary: None,
                inverse: Inverse::decimal(old),
            });
        };
        Err(BlockError::Format { reason })
    }

    /// Does what `change` does, and takes it back if a limit does not hold afterwards.
    pub(super) fn checking(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<Change, BlockError>,
    ) -> Result<Change, BlockError> {
        let change = change(self)?;
        if let Err(error) = self.check_limits() {
            self.revert(&change.inverse);
            return Err(error);
        }
        Ok(change)
    }

    fn check_writable(&self, path: &Path) -> Result<(), BlockError> {
        if self.decimal == 0 {
            return Ok(());
        }
        let head = self.head();
        match path.digits().first() {
            None => Err(BlockError::TreeText { head }),
            Some(digit) if self.tree.children.contains_key(digit) => Ok(()),
            Some(_) => Err(BlockError::NewRoot { path: *path, head }),
        }
    }

    /// Sets a text. All checks are the caller's.
    pub(super) fn set(&mut self, path: Path, text: &str) -> Change {
        let mut created = Vec::new();
        let mut first = None;
        let mut node = &mut self.tree;
        for (depth, digit) in path.digits().iter().enumerate() {
            let here = path.prefix(depth + 1);
            node = node.children.entry(*digit).or_insert_with(|| {
                first.get_or_insert(here);
                if here != path {
                    created.push(here);
                }
                self.size.nodes += 1;
                Node::default()
            });
        }
        let old = node.text.replace(text.to_owned());
        self.size.text += super::node::json_length(text);
        self.size.text -= old.as_deref().map_or(0, super::node::json_length);
        self.size.texts += usize::from(old.is_none());
        let inverse = match first {
            Some(made) => Inverse::node(made, None),
            None => Inverse::text(path, old),
        };
        Change {
            path,
            created,
            grown: None,
            summary: None,
            inverse,
        }
    }

    /// The highest node that has nothing left when the one at `path` goes; that one itself, mostly.
    fn goes_with(&self, path: Path) -> Path {
        let mut goes = path;
        while let Some(above) = goes.parent() {
            match self.node(&above) {
                Some(node) if node.text.is_none() && node.children.len() == 1 => goes = above,
                _ => break,
            }
        }
        goes
    }

    fn cut_off(&mut self, goes: Path, path: Path) -> Change {
        let old = self.put(goes, None);
        let size = old.as_ref().map(Node::size).unwrap_or_default();
        self.size.nodes -= size.nodes;
        self.size.texts -= size.texts;
        self.size.text -= size.text;
        Change {
            path,
            created: Vec::new(),
            grown: None,
            summary: None,
            inverse: Inverse::node(goes, old),
        }
    }
}
