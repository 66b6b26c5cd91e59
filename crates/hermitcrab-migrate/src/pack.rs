//! Texts into blocks: nine to a group, long ones in parts, as many blocks as it takes.

use pscale_blocks::{Block, BlockError, MAX_FILE, MAX_TEXT, Path};

/// A text that gets a node: what it is called, and what it says.
pub(crate) struct Item {
    pub name: String,
    pub text: String,
}

/// The bytes that a text takes in a file, without its quotes.
fn json_length(text: &str) -> usize {
    serde_json::to_string(text).map_or(0, |json| json.len() - 2)
}

/// The digits of `number` in base 9, at least `least` of them, each from 1 to 9.
pub(crate) fn base9(mut number: usize, least: usize) -> Vec<u8> {
    let mut digits = Vec::new();
    while number > 0 || digits.len() < least {
        digits.push((number % 9) as u8 + 1);
        number /= 9;
    }
    digits.reverse();
    digits
}

/// Blocks with these items as entries, in order; a second block begins when the file of the first is full. Answers the
/// names of items that no block can hold, too.
pub(crate) fn pack(head: &str, items: &[Item]) -> (Vec<Block>, Vec<String>) {
    // Room for the head, and for the indents and braces that a part needs.
    const ROOM: usize = MAX_FILE - MAX_TEXT - 8192;
    let file_bytes =
        |item: &Item| json_length(&item.name) + json_length(&item.text) + 256 * (parts(item) + 8);
    let (items, too_large): (Vec<_>, Vec<_>) =
        items.iter().partition(|item| file_bytes(item) <= ROOM);
    let mut lost: Vec<String> = too_large
        .into_iter()
        .map(|item| item.name.clone())
        .collect();
    let mut blocks = Vec::new();
    let mut rest = &items[..];
    while !rest.is_empty() {
        let mut used = 0;
        let fit = rest.iter().take_while(|item| {
            used += file_bytes(item);
            used <= ROOM
        });
        let (now, later) = rest.split_at(fit.count());
        let mut block = Block::new(head);
        let levels = base9(now.len() - 1, 1).len();
        // A new block takes any decimal up to 32.
        let _ = block.set_decimal(levels as u8);
        for (number, item) in now.iter().enumerate() {
            let digits = std::iter::once(0).chain(base9(number, levels));
            let written = Path::from_digits(digits)
                .map_err(BlockError::from)
                .and_then(|path| write_named(&mut block, path, item));
            if written.is_err() {
                lost.push(item.name.clone());
            }
        }
        blocks.push(block);
        rest = later;
    }
    (blocks, lost)
}

/// Name and text as one text, if it is not too long.
fn write_named(block: &mut Block, path: Path, item: &Item) -> Result<(), BlockError> {
    let Item { name, text } = item;
    if name.len() + 1 + text.len() <= MAX_TEXT {
        block.write(&path, &format!("{name}\n{text}"))?;
        return Ok(());
    }
    write_long(block, path, name, text)
}

/// The text, or the name with the text in parts below it.
pub(crate) fn write_long(
    block: &mut Block,
    path: Path,
    name: &str,
    text: &str,
) -> Result<(), BlockError> {
    if text.len() <= MAX_TEXT && !text.trim().is_empty() && block.write(&path, text).is_ok() {
        return Ok(());
    }
    let parts = split(text);
    let levels = base9(parts.len().saturating_sub(1), 1).len();
    let before = block.clone();
    let mut write_all = || -> Result<(), BlockError> {
        block.write(&path, name)?;
        for (number, part) in parts.iter().enumerate() {
            let digits = path.digits().iter().copied().chain(base9(number, levels));
            block.write(&Path::from_digits(digits)?, part)?;
        }
        Ok(())
    };
    let written = write_all();
    if written.is_err() {
        *block = before;
    }
    written
}

/// The number of nodes that the text takes below its node.
fn parts(item: &Item) -> usize {
    if item.text.len() <= MAX_TEXT {
        1
    } else {
        split(&item.text).len()
    }
}

/// The text in parts that a node may hold, cut after a line where there is one. Parts of white space are left out.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let most = rest.floor_char_boundary(MAX_TEXT);
        let end = match rest[..most].rfind('\n') {
            Some(line) if most < rest.len() => line + 1,
            _ => most,
        };
        let (part, later) = rest.split_at(end);
        parts.push(part);
        rest = later;
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}
