//! The rows of `tools.json`. Their order is the order in which tools are sent.

use std::sync::LazyLock;
#[cfg(feature = "testing")]
use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Group, Prop, PropArg, Tool};

/// The effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// The call only reads.
    Read,
    /// The call changes something.
    Write,
    /// The call asks a model.
    Model,
    /// The host runs it: it needs a page, or the person's word.
    Host,
}

/// The callers of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Access {
    /// The model alone: the row has no prop.
    Model,
    /// Each face has the prop.
    Face,
    /// The page's own bar has the prop, and no face.
    Bar,
}

/// A row as the file has it: a tool, a prop, or both.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    tool: Option<String>,
    prop: Option<String>,
    /// The names of the prop's arguments in order; one that ends in `?` may be left out.
    args: Vec<String>,
    group: String,
    description: String,
    input_schema: Value,
    effect: Effect,
    who: Access,
}

/// All rows, as their readers need them.
#[derive(Debug)]
pub(super) struct Table {
    pub groups: Vec<Group>,
    pub props: Vec<Prop>,
}

impl Table {
    pub fn of(rows: impl IntoIterator<Item = Row>) -> Self {
        let (mut groups, mut props) = (Vec::<Group>::new(), Vec::new());
        for row in rows {
            if let Some(name) = row.prop {
                props.push(Prop {
                    name,
                    tool: row.tool.clone(),
                    args: row.args.iter().map(|arg| PropArg::of(arg)).collect(),
                    schema: row.input_schema.clone(),
                    effect: row.effect,
                    who: row.who,
                });
            }
            let Some(name) = row.tool else { continue };
            let tool = Tool {
                name,
                description: row.description,
                schema: row.input_schema,
                effect: row.effect,
            };
            match groups.iter_mut().find(|group| group.name == row.group) {
                Some(group) => group.tools.push(tool),
                None => groups.push(Group {
                    name: row.group,
                    tools: vec![tool],
                }),
            }
        }
        Self { groups, props }
    }
}

/// The file is the program's own, and a test reads it: with a fault in it there would be no tools.
pub(super) fn rows() -> Vec<Row> {
    serde_json::from_str(include_str!("tools.json")).unwrap_or_default()
}

/// The table with the row that a test adds.
#[cfg(feature = "testing")]
pub(super) static ADDED: RwLock<Option<&'static Table>> = RwLock::new(None);

pub(super) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(rows()));
    #[cfg(feature = "testing")]
    if let Some(longer) = *ADDED.read().unwrap_or_else(PoisonError::into_inner) {
        return longer;
    }
    &TABLE
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_is_read_and_says_who_calls_it() {
        let all: Vec<Row> = serde_json::from_str(include_str!("tools.json")).unwrap();
        let mut names = BTreeSet::new();
        for row in &all {
            let what = row.tool.as_ref().or(row.prop.as_ref()).unwrap();
            assert_eq!(row.prop.is_none(), row.who == Access::Model, "{what}");
            assert!(row.prop.is_some() || row.args.is_empty(), "{what}");
            for name in row.tool.iter().chain(&row.prop) {
                assert!(
                    names.insert(name.clone()) || row.tool == row.prop,
                    "{name} twice"
                );
            }
            assert_eq!(row.tool.is_none(), row.group == "props", "{what}");
            assert_eq!(row.input_schema["type"], "object", "{what}");
            let properties = row.input_schema["properties"].as_object().unwrap();
            for arg in &row.args {
                let name = arg.trim_end_matches('?');
                assert!(properties.contains_key(name), "{what} has no {name}");
            }
            let required = row.input_schema["required"].as_array().unwrap();
            for name in required {
                assert!(properties.contains_key(name.as_str().unwrap()), "{what}");
            }
        }
        assert!(all.len() > 50);
    }

    /// A face could not call a tool whose required argument its prop leaves out. The page does what the host does by itself.
    #[test]
    fn a_prop_gives_all_that_its_tool_requires() {
        for prop in &table().props {
            let required = prop.schema["required"].as_array().unwrap();
            let needed: Vec<_> = required.iter().filter_map(Value::as_str).collect();
            let given: Vec<_> = prop.args.iter().map(|arg| arg.name.as_str()).collect();
            assert!(
                needed.iter().all(|name| given.contains(name)),
                "{}",
                prop.name
            );
            let always = prop.args.iter().filter(|arg| !arg.is_optional);
            let always: Vec<_> = always.map(|arg| arg.name.as_str()).collect();
            // A folder that the person opened in the browser is listed without a path.
            if prop.effect != Effect::Host && prop.name != "fs.list" {
                assert!(
                    needed.iter().all(|name| always.contains(name)),
                    "{}",
                    prop.name
                );
            }
        }
    }
}
