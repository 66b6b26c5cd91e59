//! The tools of a model: names, descriptions and schemas exactly as they are sent, and the groups of `set_tools`.

use llm_client::ToolSpec;
use serde_json::Value;

use super::Effect;
use super::rows::table;

/// Of the group `base`, those that a boot sends.
const BOOT: usize = 7;

/// The group of the tools that every conversation begins with.
const BASE: &str = "base";

/// Tools that `set_tools` takes by one name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The name, such as `web`.
    pub name: String,
    /// In the order in which they are sent.
    pub tools: Vec<Tool>,
}

/// A tool of the kernel.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The name, such as `block_read`.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// The effect of a call.
    pub effect: Effect,
}

impl Tool {
    /// The tool as a request holds it.
    pub fn spec(&self) -> ToolSpec {
        ToolSpec::Function {
            name: self.name.clone(),
            description: self.description.clone(),
            schema: self.schema.clone(),
            strict: None,
        }
    }
}

/// All groups, `base` first.
pub fn tool_groups() -> &'static [Group] {
    &table().groups
}

/// The tools of the group with this name; empty if there is none.
pub fn tool_group(name: &str) -> &'static [Tool] {
    tool_groups()
        .iter()
        .find(|group| group.name == name)
        .map_or(&[], |group| &group.tools)
}

/// The tool with this name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    tool_groups()
        .iter()
        .flat_map(|group| &group.tools)
        .find(|tool| tool.name == name)
}

/// The seven tools of a boot.
pub fn boot_tools() -> Vec<ToolSpec> {
    tool_group(BASE).iter().take(BOOT).map(Tool::spec).collect()
}

/// The ten tools with which a conversation begins.
pub fn conversation_tools() -> Vec<ToolSpec> {
    tool_group(BASE).iter().map(Tool::spec).collect()
}

/// Names of tools and groups that `name` may have been meant for, the nearest first, at most three.
pub fn near_names(name: &str) -> Vec<&'static str> {
    nearest(name, std::iter::empty())
}

/// As [`near_names`], also among `others`.
pub(crate) fn nearest<'a>(name: &str, others: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    const MOST: usize = 3;
    const LONGEST: usize = 64;
    let asked: String = name
        .chars()
        .take(LONGEST)
        .flat_map(char::to_lowercase)
        .filter(|letter| letter.is_alphanumeric())
        .collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let names = tool_groups().iter().flat_map(|group| {
        let tools = group.tools.iter().map(|tool| tool.name.as_str());
        std::iter::once(group.name.as_str()).chain(tools)
    });
    let mut near: Vec<_> = (names.chain(others))
        .filter_map(|known| Some((strangeness(&asked, known)?, known)))
        .collect();
    near.sort_unstable();
    near.into_iter()
        .map(|(_, known)| known)
        .take(MOST)
        .collect()
}

/// The distance of `asked` from a known name; `None` for a different word. `webFetch` is `web_fetch`.
fn strangeness(asked: &str, known: &str) -> Option<usize> {
    let plain: String = known.chars().filter(|c| c.is_alphanumeric()).collect();
    let distance = strsim::levenshtein(asked, &plain);
    let length = asked.chars().count();
    if distance <= length.min(plain.len()) / 3 {
        return Some(distance);
    }
    // A part of a name, such as `search`, comes after the misspelt ones.
    let is_part = length >= 3 && plain.contains(asked);
    is_part.then_some(LONG_WAY + distance)
}

/// More than any distance between two names.
const LONG_WAY: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_are_those_of_the_specification() {
        let sizes: Vec<_> = tool_groups()
            .iter()
            .map(|group| (group.name.as_str(), group.tools.len()))
            .collect();
        let expected = [
            ("base", 10),
            ("blocks+", 7),
            ("self", 4),
            ("llm", 1),
            ("web", 3),
            ("files", 6),
            ("browser", 8),
            ("store", 4),
        ];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn a_boot_has_seven_tools_in_the_order_of_the_seed() {
        let boot = boot_tools();
        let names: Vec<_> = boot.iter().filter_map(ToolSpec::name).collect();
        let expected = [
            "block_read",
            "block_write",
            "block_list",
            "block_create",
            "get_source",
            "recompile",
            "get_datetime",
        ];
        assert_eq!(names, expected);
        let conversation = conversation_tools();
        let ten: Vec<_> = conversation.iter().filter_map(ToolSpec::name).collect();
        assert_eq!(ten[..7], expected);
        assert_eq!(ten[7..], ["set_tools", "block_append", "patch_source"]);
    }

    #[test]
    fn a_tool_is_found_by_its_name() {
        assert_eq!(tool("notify").unwrap().effect, Effect::Host);
        assert_eq!(tool("fs_pick_directory").unwrap().effect, Effect::Host);
        assert_eq!(tool("fs_read").unwrap().effect, Effect::Read);
        assert_eq!(tool("eval"), None);
        assert!(tool_group("nothing").is_empty());
    }

    #[test]
    fn near_names_are_misspelt_or_part_of_a_name() {
        assert_eq!(near_names("webFetch"), ["web_fetch"]);
        assert_eq!(near_names("block_reed")[0], "block_read");
        assert_eq!(near_names("search"), ["web_search", "block_search"]);
        assert_eq!(near_names("stores"), ["store"]);
        assert!(near_names("quantum").is_empty());
        assert!(near_names("").is_empty());
        assert!(near_names("__").is_empty());
    }
}
