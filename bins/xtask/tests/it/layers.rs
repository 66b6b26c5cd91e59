//! The modules of each library in their order, from the top down: an arrow points to a module further right. Commands of a
//! program do not use each other, and no file is long.

use std::collections::BTreeSet;
use std::fs;

use crate::modules::Modules;
use crate::packages::root;
use crate::rust_source::{Source, all_files, folders, package, sources};

/// The order of a library's modules, from the top down, as the table in ARCHITECTURE.md has it.
struct Layers {
    package: String,
    order: Vec<String>,
}

/// The most modules of a library.
const MOST_MODULES: usize = 13;

/// The most files that may name each other in a circle.
const MOST_IN_A_CIRCLE: usize = 3;

/// The most lines of a file.
const MOST_LINES: usize = 600;

/// The rows of the table under "Modules".
fn orders(text: &str) -> Vec<Layers> {
    let section = text.split("\n## ").find(|it| it.starts_with("Modules\n"));
    let rows = section.unwrap_or_default().lines();
    let rows = rows.filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.strip_suffix(" |")?.split("` | ");
        let package = cells.next()?.to_owned();
        let order = cells.next()?.split(" > ").map(str::to_owned).collect();
        Some(Layers { package, order })
    });
    rows.collect()
}

/// The pairs of modules with an arrow between them.
fn pairs(modules: &Modules) -> BTreeSet<(&str, &str)> {
    let arrows = modules.arrows().into_iter();
    let pairs = arrows.filter_map(|(from, to)| Some((modules.module(from)?, modules.module(to)?)));
    pairs.filter(|(from, to)| from != to).collect()
}

/// The faults of a library against its order.
fn faults(modules: &Modules, layers: &Layers) -> Vec<String> {
    let package = &layers.package;
    let place = |name: &str| layers.order.iter().position(|it| it == name);
    let found = modules.modules();
    let unknown = found.iter().filter(|name| place(name).is_none());
    let unknown = unknown.map(|name| format!("{package}: module {name} is in no layer"));
    let gone = layers
        .order
        .iter()
        .filter(|name| !found.contains(name.as_str()));
    let gone = gone.map(|name| format!("{package}: module {name} does not exist"));
    let pairs = pairs(modules);
    let upward = pairs.iter().filter(|(from, to)| place(from) > place(to));
    let upward = upward.map(|(from, to)| format!("{package}: {from} must not name {to}"));
    let mut faults: Vec<_> = unknown.chain(gone).chain(upward).collect();
    if layers.order.len() > MOST_MODULES {
        faults.push(format!(
            "{package}: {} modules, {MOST_MODULES} at most",
            layers.order.len()
        ));
    }
    faults
}

/// The largest number of files that reach each other by arrows.
fn largest_circle(modules: &Modules) -> usize {
    let mut next = vec![Vec::new(); modules.files.len()];
    for (from, to) in modules.arrows() {
        next[from].push(to);
    }
    let reach = |start: usize| {
        let mut seen = BTreeSet::new();
        let mut left = vec![start];
        while let Some(file) = left.pop() {
            left.extend(next[file].iter().filter(|to| seen.insert(**to)));
        }
        seen
    };
    let reached: Vec<_> = (0..modules.files.len()).map(reach).collect();
    let circle = |file: usize| {
        let others = reached[file].iter();
        others
            .filter(|other| reached[**other].contains(&file))
            .count()
    };
    (0..modules.files.len()).map(circle).max().unwrap_or(0)
}

/// The commands of a program that name another command.
fn commands_that_share(modules: &Modules) -> Vec<String> {
    let command = |file: usize| match &modules.files[file].path[..] {
        [folder, command, ..] if folder == "commands" => Some(command),
        _ => None,
    };
    let arrows = modules.arrows().into_iter();
    let arrows = arrows.filter_map(|(from, to)| Some((command(from)?, command(to)?)));
    let wrong = arrows.filter(|(from, to)| from != to);
    wrong
        .map(|(from, to)| format!("command {from} must not name {to}"))
        .collect()
}

/// Whether a root has modules, names of others and constants alone.
fn is_table_of_contents(root: &Source) -> bool {
    root.file.items.iter().all(|item| match item {
        syn::Item::Mod(module) => module.content.is_none(),
        item => matches!(item, syn::Item::Use(_) | syn::Item::Const(_)),
    })
}

/// The `mod.rs` files with more than one type and the number of their types: a file may leave this list, and no number grows.
const WITH_TYPES: &[(&str, usize)] = &[
    ("bins/hermitcrab/src/commands/block/mod.rs", 2),
    ("bins/hermitcrab/src/commands/chat/mod.rs", 2),
    ("bins/hermitcrab/src/commands/serve/mod.rs", 2),
    ("bins/xtask/src/peers/mod.rs", 2),
    ("crates/bin-support/src/environment/mod.rs", 2),
    ("crates/bin-support/src/model/mod.rs", 2),
    ("crates/hermitcrab-face/src/app/mod.rs", 2),
    ("crates/hermitcrab-face/src/server/mod.rs", 4),
    ("crates/hermitcrab-face/src/session/mod.rs", 6),
    ("crates/hermitcrab-kernel/src/brain/offline/mod.rs", 2),
    ("crates/hermitcrab-kernel/src/conversation/window/mod.rs", 2),
    ("crates/hermitcrab-kernel/src/prompt/defaults/mod.rs", 2),
    ("crates/hermitcrab-kernel/src/toolbox/files/mod.rs", 5),
    ("crates/hermitcrab-kernel/src/turn/mod.rs", 3),
    ("crates/llm-client/src/codec/anthropic/mod.rs", 2),
    ("crates/llm-client/src/provider/mod.rs", 6),
    ("crates/llm-client/src/provider/transport/mod.rs", 4),
    ("crates/pscale-blocks/src/store/dir/mod.rs", 3),
    ("crates/report-kit/src/plot/mod.rs", 7),
    ("crates/report-kit/src/section/mod.rs", 2),
    ("crates/test-support/src/compression_stub/mod.rs", 5),
    ("crates/test-support/src/mind_stub/mod.rs", 5),
    ("crates/test-support/src/server/mod.rs", 4),
];

/// The number of types that a file has outside of inner modules.
fn types(file: &syn::File) -> usize {
    let is_type = |item: &&syn::Item| {
        matches!(
            item,
            syn::Item::Struct(_)
                | syn::Item::Enum(_)
                | syn::Item::Union(_)
                | syn::Item::Trait(_)
                | syn::Item::Type(_)
        )
    };
    file.items.iter().filter(is_type).count()
}

/// The fault of a `mod.rs` with this number of types.
fn fault_of_types(path: &str, types: usize, allowed: &[(&str, usize)]) -> Option<String> {
    let row = allowed.iter().find(|(file, _)| *file == path);
    match row {
        Some((_, most)) if types != *most => {
            Some(format!("{path}: {types} types, its row has {most}"))
        }
        None if types > 1 => Some(format!("{path}: {types} types")),
        _ => None,
    }
}

fn sample(files: &[(&str, &str)]) -> Modules {
    let files = files
        .iter()
        .map(|(module, code)| Source::sample(module, code));
    Modules::new(&files.collect::<Vec<_>>())
}

#[test]
fn an_arrow_that_points_up_is_found() {
    let root = (
        "",
        "mod error; mod low; mod top; pub use top::{Thing as Name}; pub use low::Kind;",
    );
    let error = (
        "error",
        "pub use crate::top::Thing; use crate::Name as Other;",
    );
    let top = (
        "top",
        "use crate::Kind; pub struct Thing; #[cfg(test)] mod tests { use crate::other::X; }",
    );
    let table = "# A\n\n## Modules\n\n| crate | modules |\n|---|---|\n| `sample` | top > low |\n\n## B\n| `b` | c |\n";
    let [layers] = &orders(table)[..] else {
        panic!("one row");
    };
    let up = ["sample: low must not name top"];
    for code in [
        "use crate::top::Thing;",
        "fn f(_: &crate::Name) {}",
        "fn f() { format!(\"{}\", [1, crate::top::SIZE]) }",
        "mod inner { use super::super::top::Thing; }",
        "use self::super::top::Thing;",
        "use crate as c; fn f(_: c::Name) {}",
        "use {crate as c}; use c::{self as d}; fn f() { d::top::f() }",
        "extern crate self as c; fn f() { c::top::f() }",
        "mod inner { use super::super as up; fn f() { up::top::f() } }",
        "struct A { #[serde(with = \"crate::top\")] a: u8, #[serde(default = \"crate::Name::b\")] b: u8 }",
        "use crate::error::Thing;",
        "use crate::r#top::Thing;",
        "use crate as r#c; fn f(_: c::r#Name) {}",
        "use crate::error::{Other as Short};",
        "macro_rules! m { () => { use $crate::{low::Kind, top::{Thing as T}}; } }",
        "m! { crate::{Kind, Name} }",
        "use crate::{low::{}, top::{{Thing}}};",
    ] {
        let modules = sample(&[root, error, top, ("low", code)]);
        assert_eq!(faults(&modules, layers), up, "{code}");
    }
    let clean = [
        "use super::low::Kind;",
        "#[cfg(test)] mod tests { use crate::top::Thing; use super::*; }",
        "/// See [`crate::top::Thing`].\npub struct Kind;",
        "use crate::error::Fine; use rayon::prelude::*;",
    ];
    for code in clean {
        let modules = sample(&[root, error, top, ("low", code)]);
        assert_eq!(faults(&modules, layers), [""; 0], "{code}");
        assert_eq!(pairs(&modules), BTreeSet::from([("top", "low")]));
    }
    for (module, code, fault) in [
        ("low", "use crate::*;", "low has a glob of crate::"),
        ("low", "use super::{*};", "low has a glob of crate::"),
        (
            "low",
            "use crate as c; use c::top::*;",
            "low has a glob of crate::top",
        ),
        ("", "mod low; pub use low::*;", " has a glob of crate::low"),
        (
            "low",
            "#[path = \"top.rs\"] mod other;",
            "low has a module by its path = \"top.rs\"",
        ),
        ("low", "include!(\"../top.rs\");", "low includes a file"),
    ] {
        let (in_root, in_low) = if module.is_empty() {
            (code, "")
        } else {
            ("", code)
        };
        let modules = sample(&[("", in_root), top, ("low", in_low)]);
        assert_eq!(modules.unreadable(), [fault], "{code}");
    }
    let modules = sample(&[root, ("top", ""), ("new/a", "")]);
    let expected = [
        "sample: module new is in no layer",
        "sample: module low does not exist",
    ];
    assert_eq!(faults(&modules, layers), expected);
}

#[test]
fn a_root_with_code_and_commands_that_share_are_found() {
    for (code, is_clean) in [
        (
            "mod a; pub use a::B; pub const C: u8 = 1; #[cfg(test)] mod tests {}",
            true,
        ),
        ("mod a { pub fn f() {} }", false),
        ("pub fn f() {}", false),
        ("pub type A = u8;", false),
    ] {
        assert_eq!(
            is_table_of_contents(&Source::sample("", code)),
            is_clean,
            "{code}"
        );
    }
    let root = ("", "mod commands; use commands::run::start;");
    let commands = ("commands", "pub mod run; pub mod show; use run::stop;");
    for (module, code) in [
        ("commands/show", "use super::run::f;"),
        ("commands/show", "use crate::commands::run;"),
        ("commands/show", "use crate::start;"),
        ("commands/show", "use super::stop;"),
        ("commands/show/a", "use super::super::{stop};"),
    ] {
        let files = [root, commands, ("commands/run", ""), (module, code)];
        let expected = ["command show must not name run"];
        assert_eq!(commands_that_share(&sample(&files)), expected, "{code}");
    }
    let files = [
        ("commands/show/a", "use super::b::f;"),
        ("commands/show/b", ""),
    ];
    assert_eq!(commands_that_share(&sample(&files)), [""; 0]);
}

#[test]
fn a_circle_of_files_is_counted() {
    let files = [
        ("a", "use super::b::X;"),
        ("a/c", "use crate::a::Y;"),
        ("b", "use crate::a::c;"),
        ("d", "use crate::b;"),
    ];
    assert_eq!(largest_circle(&sample(&files)), 3);
    assert_eq!(largest_circle(&sample(&files[1..])), 0);
}

#[test]
fn the_modules_of_every_library_keep_their_order() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut wrong = Vec::new();
    for layers in orders(&text) {
        let package = layers.package.as_str();
        let modules = Modules::read(&format!("crates/{package}"));
        wrong.extend(faults(&modules, &layers));
        println!(
            "{package}: {} files, {} modules, {} pairs, largest circle {} files",
            modules.files.len(),
            layers.order.len(),
            pairs(&modules).len(),
            largest_circle(&modules),
        );
    }
    for folder in folders().iter().filter_map(|it| it.strip_prefix("crates/")) {
        let rows = text.matches(&format!("\n| `{folder}` | ")).count();
        if rows < 2 {
            wrong.push(format!(
                "{folder}: has no charter and order in ARCHITECTURE.md"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_name_each_other_in_small_circles_and_no_command_another() {
    let mut wrong = Vec::new();
    for folder in folders() {
        let modules = Modules::read(&folder);
        let found = largest_circle(&modules);
        let unreadable = modules.unreadable().into_iter();
        wrong.extend(unreadable.map(|fault| format!("{folder}: {fault}")));
        if found > MOST_IN_A_CIRCLE {
            wrong.push(format!(
                "{folder}: {found} files name each other in a circle"
            ));
        }
        let shared = commands_that_share(&modules).into_iter();
        wrong.extend(shared.map(|fault| format!("{folder}: {fault}")));
        // Helpers for tests are not published.
        let root = sources(&folder).remove(0);
        let is_library = folder.starts_with("crates/") && package(&folder) != "test-support";
        if is_library && !is_table_of_contents(&root) {
            wrong.push(format!(
                "{folder}: src/lib.rs has more than modules and names"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_is_long() {
    let mut wrong = Vec::new();
    for path in folders().iter().flat_map(|folder| all_files(folder)) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > MOST_LINES {
            wrong.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_owners_in_the_kernel_know_little_of_each_other() {
    const OWNERS: [&str; 4] = ["ConversationRecord", "FaceManager", "SpendMeter", "Toolbox"];
    let (mut wrong, mut with_kernel) = (Vec::new(), 0);
    for source in sources("crates/hermitcrab-kernel") {
        let code = source.tokens.to_string();
        with_kernel += usize::from(code.contains("impl Kernel {"));
        let module = source.module.first().map_or("", String::as_str);
        let is_above = ["kernel", "turn", "dispatch"].contains(&module);
        let named = OWNERS.iter().filter(|owner| code.contains(**owner)).count();
        if named > 2 && !is_above {
            wrong.push(source.path);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!((1..=3).contains(&with_kernel), "{with_kernel} files");
}

#[test]
fn a_second_type_in_a_mod_file_is_found() {
    let code = "mod a; pub use a::B; struct C; pub trait D {} fn f() {} #[cfg(test)] mod tests { struct E; } #[cfg(test)] struct F;";
    assert_eq!(types(&Source::sample("x", code).file), 2);
    let rows = [("x/mod.rs", 2)];
    assert_eq!(fault_of_types("x/mod.rs", 2, &rows), None);
    assert_eq!(fault_of_types("y/mod.rs", 1, &rows), None);
    for (path, types) in [("x/mod.rs", 3), ("x/mod.rs", 1), ("y/mod.rs", 2)] {
        assert!(fault_of_types(path, types, &rows).is_some(), "{path}");
    }
}

#[test]
fn a_mod_file_has_one_type_at_most() {
    let root = root();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for source in folders().iter().flat_map(|folder| sources(folder)) {
        let path = source.path.strip_prefix(&root).unwrap();
        let path = path.to_string_lossy().replace('\\', "/");
        if path.ends_with("/mod.rs") {
            seen += usize::from(WITH_TYPES.iter().any(|(row, _)| *row == path));
            wrong.extend(fault_of_types(&path, types(&source.file), WITH_TYPES));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen, WITH_TYPES.len(), "a row has no file");
}
