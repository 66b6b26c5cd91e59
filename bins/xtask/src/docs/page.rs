//! A page of Markdown as the walk reads it: its fenced blocks, and its text outside of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::problem::Problem;
use crate::Error;

/// The treatment of a block, as the info string of its fence says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fence {
    /// Commands after `$ `, each with its expected output.
    Console,
    /// Commands whose output is not compared.
    Shell,
    /// Commands that need a key, a network or the source tree: checked, not run.
    Unrun,
    /// A file that the commands after it read.
    File { name: String, is_json: bool },
    /// Text to read.
    Text,
    /// A fence for commands under another name.
    Unknown,
}

/// The languages of commands, as fences name them.
const SHELLS: [&str; 9] = [
    "bash",
    "console",
    "powershell",
    "sh",
    "shell",
    "shell-session",
    "shellsession",
    "terminal",
    "zsh",
];

/// Whether a fence such as `Bash` or `{.sh}` is for commands.
fn is_shell(language: &str) -> bool {
    let name = language.trim_matches(['{', '.', '}']).to_lowercase();
    SHELLS.contains(&name.as_str())
}

impl Fence {
    fn parse(info: &str) -> Self {
        match info.split_whitespace().collect::<Vec<_>>()[..] {
            ["console"] => Self::Console,
            ["sh"] => Self::Shell,
            ["sh", "needs-key" | "needs-network" | "install"] => Self::Unrun,
            [language @ ("json" | "text" | "toml"), name] => Self::File {
                name: name.to_owned(),
                is_json: language == "json",
            },
            [language, ..] if is_shell(language) => Self::Unknown,
            _ => Self::Text,
        }
    }
}

/// A fenced block: the lines from `begin` to before `end`, counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    pub fence: Fence,
    pub begin: usize,
    pub end: usize,
    /// The number of spaces before the fence, which its lines have, too.
    pub indent: usize,
}

/// A page with its path from the workspace's root.
pub struct Page {
    pub name: String,
    pub lines: Vec<String>,
    pub blocks: Vec<Block>,
    /// The indices of fences that do not end where the writer meant.
    open_fences: Vec<usize>,
}

impl Page {
    pub fn read(root: &Path, path: &Path) -> Result<Self, Error> {
        let path: PathBuf = root.join(path);
        let text = fs::read_to_string(&path).map_err(|source| Error::File {
            path: path.clone(),
            source,
        })?;
        let name = path.strip_prefix(root).unwrap_or(&path);
        Ok(Self::parse(name.display().to_string(), &text))
    }

    pub fn parse(name: String, text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut blocks = Vec::new();
        let mut open_fences = Vec::new();
        let mut open: Option<(Block, String)> = None;
        for (number, line) in lines.iter().enumerate() {
            let trimmed = line.trim();
            match open.take() {
                Some((mut block, fence)) => {
                    let is_end = trimmed.starts_with(&fence)
                        && trimmed.trim_start_matches(&fence[..1]).is_empty();
                    // A fence of another block: the one before it has no end.
                    let is_begin = trimmed.starts_with(&fence) && !is_end;
                    if is_begin && opening(line, number).is_some() {
                        open_fences.push(block.begin - 1);
                    }
                    block.end = number;
                    if is_end {
                        blocks.push(block);
                    } else {
                        open = Some((block, fence));
                    }
                }
                None => open = opening(line, number),
            }
        }
        // A fence without an end reaches to the end of the page.
        if let Some((mut block, _)) = open {
            block.end = lines.len();
            open_fences.push(block.begin - 1);
            blocks.push(block);
        }
        open_fences.dedup();
        Self {
            name,
            lines,
            blocks,
            open_fences,
        }
    }

    /// The fences without an end, which hide what follows from every other check.
    pub fn open_fences(&self) -> impl Iterator<Item = Problem> {
        let problem = |index: &usize| Problem::at(&self.name, *index, "fence without an end");
        self.open_fences.iter().map(problem)
    }

    /// The lines of a block without the indentation of its fence.
    pub fn text(&self, block: &Block) -> Vec<&str> {
        let lines = self.lines[block.begin..block.end].iter();
        lines
            .map(|line| {
                let spaces = line.len() - line.trim_start_matches(' ').len();
                &line[spaces.min(block.indent)..]
            })
            .collect()
    }

    /// The lines outside of blocks, each with its index.
    pub fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_code = |index: &usize| {
            let mut blocks = self.blocks.iter();
            blocks.any(|block| (block.begin - 1..=block.end).contains(index))
        };
        let lines = self.lines.iter().map(String::as_str).enumerate();
        lines.filter(move |(index, _)| !is_code(index))
    }

    /// The text of the page with the lines from `begin` to before `end` replaced, for the last of several replacements first.
    pub fn replace(&mut self, begin: usize, end: usize, lines: Vec<String>) {
        self.lines.splice(begin..end, lines);
    }
}

/// Whether a line begins or ends a block.
pub fn is_fence(line: &str) -> bool {
    opening(line, 0).is_some()
}

/// The block that a line begins, with the characters of its fence.
fn opening(line: &str, number: usize) -> Option<(Block, String)> {
    let text = line.trim_start();
    let first = text.chars().next().filter(|first| "`~".contains(*first))?;
    let fence: String = text.chars().take_while(|one| *one == first).collect();
    let info = &text[fence.len()..];
    let block = Block {
        fence: Fence::parse(info),
        begin: number + 1,
        end: number + 1,
        indent: line.len() - text.len(),
    };
    (fence.len() >= 3 && !info.contains('`')).then_some((block, fence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_their_fences() {
        let text = "a\n```console\n$ x\n```\n- b\n\n  ~~~~ json law.json\n  {\n   }\n  ~~~\n  ~~~~\n``` `c` ```\n```sh needs-key\n";
        let page = Page::parse("p.md".to_owned(), text);
        let fences: Vec<_> = page.blocks.iter().map(|block| &block.fence).collect();
        let file = Fence::File {
            name: "law.json".to_owned(),
            is_json: true,
        };
        assert_eq!(fences, [&Fence::Console, &file, &Fence::Unrun]);
        assert_eq!(page.text(&page.blocks[0]), ["$ x"]);
        assert_eq!(page.text(&page.blocks[1]), ["{", " }", "~~~"]);
        let prose: Vec<_> = page.prose().map(|(_, line)| line).collect();
        assert_eq!(prose, ["a", "- b", "", "``` `c` ```"]);
        for (info, fence) in [
            ("sh needs-keys", Fence::Unknown),
            ("bash", Fence::Unknown),
            ("Console", Fence::Unknown),
            ("{.sh}", Fence::Unknown),
            ("text", Fence::Text),
            ("rust", Fence::Text),
        ] {
            assert_eq!(Fence::parse(info), fence);
        }
    }

    #[test]
    fn a_fence_without_an_end_is_found() {
        let open = |text: &str| {
            let page = Page::parse("p.md".to_owned(), text);
            let found: Vec<_> = page.open_fences().map(|one| one.to_string()).collect();
            found
        };
        assert_eq!(open("````md\n```sh\na\n```\n````\n"), [""; 0]);
        assert_eq!(open("a\n```sh\nb\n"), ["p.md:2: fence without an end"]);
        let text = "```sh\na\n\n```sh\nb\n```\n[c](d)\n```sh\ne\n```\n";
        assert_eq!(open(text), ["p.md:1: fence without an end"]);
    }
}
