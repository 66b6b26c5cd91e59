//! The names in a text for a model: tools, props, groups, places.

use std::collections::BTreeSet;
use std::fmt;

use hermitcrab_kernel::table::{self, Access, Tool, tool, tool_group, tool_groups};
use regex::Regex;
use serde_json::Value;

/// A text and its place.
pub struct Place {
    /// The block, or `tool`, or `prompt`.
    pub of: String,
    pub at: String,
    pub text: String,
}

impl Place {
    pub fn new(of: &str, at: &str, text: Option<String>) -> Self {
        Self {
            of: of.to_owned(),
            at: at.to_owned(),
            text: text.unwrap_or_default(),
        }
    }

    /// The pattern of a face is separate code.
    fn is_code(&self) -> bool {
        self.of == "constitution" && self.at == "0.6.3"
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.of, self.at)
    }
}

/// The props of a face that are values or take a listener, and so are not in the table.
const VALUES: [&str; 7] = [
    "React",
    "ReactDOM",
    "version",
    "model",
    "fastModel",
    "offline",
    "conversation.onMessage",
];

/// The props of a face.
pub fn props() -> impl Iterator<Item = &'static str> {
    let methods = table::props().iter();
    let methods = methods.filter(|prop| prop.who == Access::Face);
    VALUES.into_iter().chain(methods.map(|prop| &*prop.name))
}

/// Names that belong to React, to the browser, or to what a tool answers.
const OTHERS: &[&str] = &[
    // React and JSX.
    "App",
    "React.useState",
    "onChange",
    "onDelta",
    "useState",
    "fontSize",
    // What a face cannot have.
    "localStorage",
    // Fields of answers and kinds of errors.
    "bad_name",
    "bad_path",
    "empty_content",
    "needs_grant",
    "needs_summary",
    "new_root",
    "next_free",
    "no_delete",
    "not_found",
    "nothing_to_grow",
    "read_only",
    "stop_reason",
    "too_large",
];

/// Whether `text` has `name` as a whole word.
pub fn names(text: &str, name: &str) -> bool {
    pattern(&format!(r"\b{}\b", regex::escape(name))).is_match(text)
}

/// Names in the text that are neither a tool nor a prop nor known otherwise.
pub fn unknown_names(place: &Place) -> Vec<String> {
    let text = &place.text;
    let mut found = BTreeSet::new();
    let member = pattern(r"\bprops\.([A-Za-z]+(?:\.[A-Za-z]+)?)");
    for capture in member.captures_iter(text) {
        let prop = &capture[1];
        if props().all(|known| known != prop) {
            found.insert(format!("props.{prop}"));
        }
    }
    if place.is_code() {
        return found.into_iter().collect();
    }
    // A call, a word with an underscore, a word in camel case, a member, a word in backticks.
    let shapes = [
        r"\b([A-Za-z_][A-Za-z0-9_.]*)\(",
        r"\b([a-z0-9]+(?:_[a-z0-9]+)+)\b",
        r"\b([a-z]+[A-Z][A-Za-z]*)\b",
        r"\b((?:browser|conversation|fs|idb|state|React)\.[A-Za-z]+)\b",
        r"`([^`]+)`",
    ];
    for shape in shapes {
        for capture in pattern(shape).captures_iter(text) {
            let name = capture[1].trim_start_matches("props.");
            if !known(name) {
                found.insert(name.to_owned());
            }
        }
    }
    for shape in [r"\b[Gg]roups? ([a-z+]+)", r"\bGroups [a-z+]+, ([a-z+]+)"] {
        for capture in pattern(shape).captures_iter(text) {
            if tool_group(&capture[1]).is_empty() {
                found.insert(format!("group {}", &capture[1]));
            }
        }
    }
    found.into_iter().collect()
}

fn known(name: &str) -> bool {
    let argument = || {
        let mut tools = tool_groups().iter().flat_map(|group| &group.tools);
        tools.any(|tool| tool.schema["properties"].get(name).is_some())
    };
    // The list of props has the members of an object in braces, without the object.
    let member = || props().any(|prop| prop.rsplit('.').next() == Some(name));
    tool(name).is_some()
        || props().any(|prop| prop == name)
        || OTHERS.contains(&name)
        || member()
        || argument()
}

/// The problem of the first mention of `tool` in `text` that gives its arguments; `None` if it is the tool's signature.
///
/// A signature is written `name(a, b?: int, c?: "x" or "y")`. A type that is left out is string.
pub fn signature_fault(text: &str, tool: &Tool) -> Option<String> {
    let start = text.find(&format!("{}(", tool.name));
    let Some(start) = start else {
        return Some("is not shown as a call".to_owned());
    };
    let rest = &text[start + tool.name.len() + 1..];
    let Some((arguments, _)) = rest.split_once(')') else {
        return Some("has no end".to_owned());
    };
    // Quoted words are values, not arguments.
    let values: BTreeSet<String> = pattern("\"([^\"]*)\"")
        .captures_iter(arguments)
        .map(|value| value[1].to_owned())
        .collect();
    let bare = pattern("\"[^\"]*\"(?:,| or)? ?").replace_all(arguments, "");
    let mut stated = Vec::new();
    let mut allowed = BTreeSet::new();
    for argument in bare.split(',').map(str::trim).filter(|a| !a.is_empty()) {
        // An enumeration leaves its name and a colon, and the next argument may follow at once.
        for part in argument.split(": ") {
            let part = part.trim().trim_end_matches(':');
            if ["string", "int", "number", "object", "string[]", ""].contains(&part) {
                continue;
            }
            stated.push(part.to_owned());
        }
    }
    let properties = tool.schema["properties"].as_object()?;
    let required = tool.schema["required"].as_array()?;
    for (name, schema) in properties {
        let optional = !required.contains(&Value::from(name.as_str()));
        let shown = if optional {
            format!("{name}?")
        } else {
            name.clone()
        };
        let Some(at) = stated.iter().position(|stated| *stated == shown) else {
            return Some(format!(
                "does not have {shown} as an argument, but {stated:?}"
            ));
        };
        stated.remove(at);
        let kind = match schema["type"].as_str() {
            Some("integer") => "int",
            Some("number") => "number",
            Some("object") => "object",
            Some("array") => "string[]",
            _ => "string",
        };
        let wrong = kind != "string" && !arguments.contains(&format!("{shown}: {kind}"));
        if wrong {
            return Some(format!("does not say that {shown} is {kind}"));
        }
        if let Some(values) = schema["enum"].as_array() {
            allowed.extend(
                values
                    .iter()
                    .filter_map(|value| value.as_str().map(str::to_owned)),
            );
        }
    }
    if !stated.is_empty() {
        return Some(format!("has further arguments: {stated:?}"));
    }
    // An enumeration may be given once for several tools.
    let listed = values.is_empty() || values == allowed;
    (!listed).then(|| format!("lists {values:?}, not {allowed:?}"))
}

/// The tools of which the text says in which group they are: `fs_list(root, path), group files`.
pub fn stated_groups(text: &str) -> Vec<(String, String)> {
    let shape = pattern(r"\b([a-z_]+)\([^()]*\)(?:,| in| from) group ([a-z+]+)");
    let stated = shape.captures_iter(text);
    stated
        .map(|capture| (capture[1].to_owned(), capture[2].to_owned()))
        .collect()
}

/// The places that a text refers to, each with its block: that which is named before the path, else the text's own.
pub fn paths(place: &Place) -> Vec<(String, String)> {
    let shape = pattern(r#"(?:\b([a-z]+)(?: |", "))?(?:^|[^0-9A-Za-z.#$-])?\b(0(?:\.[0-9]+)+)\b"#);
    let blocks = [
        "keystone",
        "constitution",
        "capabilities",
        "memory",
        "skills",
        "network",
    ];
    // A tool's description shows what a path looks like, and every block has that of the keystone.
    let own = if blocks.contains(&place.of.as_str()) {
        &place.of
    } else {
        "keystone"
    };
    let mentioned = shape.captures_iter(&place.text).map(|capture| {
        let named = capture.get(1).map(|name| name.as_str());
        let block = named.filter(|name| blocks.contains(name));
        (block.unwrap_or(own).to_owned(), capture[2].to_owned())
    });
    mentioned.collect()
}

/// Whether the list of props has `prop`, alone or as `conversation.{load, save}`.
pub fn lists_prop(text: &str, prop: &str) -> bool {
    match prop.split_once('.') {
        None => names(text, prop),
        Some((object, member)) => pattern(&format!(r"\b{object}\.\{{([^}}]*)\}}"))
            .captures(text)
            .is_some_and(|list| list[1].split(", ").any(|listed| listed == member)),
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}
