//! The modules of each library in their order, from the top down: an arrow points to a module further right.

use std::collections::BTreeSet;
use std::fs;

use crate::modules::Modules;
use crate::packages::root;
use crate::single::sources;

/// The order of a library's modules, from the top down, as the table in ARCHITECTURE.md has it.
struct Layers {
    package: String,
    order: Vec<String>,
}

/// The most modules of a library.
const MOST_MODULES: usize = 12;

/// The most files that may name each other in a circle.
const MOST_IN_A_CIRCLE: usize = 3;

fn read(folder: &str) -> Modules {
    Modules::read(&root().join(folder).join("src"))
}

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

/// The folders of all packages, as `crates/NAME` and `bins/NAME`.
fn folders() -> Vec<String> {
    let groups = ["bins", "crates"].into_iter().flat_map(|group| {
        let entries = fs::read_dir(root().join(group)).unwrap();
        entries.map(move |entry| format!("{group}/{}", entry.unwrap().file_name().display()))
    });
    let mut folders: Vec<_> = groups.collect();
    folders.retain(|folder| root().join(folder).join("src").is_dir());
    assert!(folders.len() >= 15, "{folders:?}");
    folders.sort();
    folders
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

fn sample(files: &[(&str, &str)]) -> Modules {
    let files = files.iter().map(|(path, code)| {
        let path = path.split('/').filter(|part| !part.is_empty());
        (path.map(str::to_owned).collect(), (*code).to_owned())
    });
    Modules::parse(files)
}

#[test]
fn an_arrow_that_points_up_is_found() {
    let root = (
        "",
        "mod low; mod top; pub use top::{Thing as Name}; pub use low::Kind;",
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
        "use super::top::*;",
        "fn f(_: &crate::Name) {}",
        "fn f() { format!(\"{}\", [1, crate::top::SIZE]) }",
        "mod inner { use super::super::top::Thing; }",
    ] {
        assert_eq!(
            faults(&sample(&[root, top, ("low", code)]), layers),
            up,
            "{code}"
        );
    }
    let clean = [
        "use super::low::Kind;",
        "#[cfg(test)] mod tests { use crate::top::Thing; }",
        "/// See [`crate::top::Thing`].\npub struct Kind;",
    ];
    for code in clean {
        let modules = sample(&[root, top, ("low", code)]);
        assert_eq!(faults(&modules, layers), [""; 0], "{code}");
        assert_eq!(pairs(&modules), BTreeSet::from([("top", "low")]));
    }
    let modules = sample(&[root, ("top", ""), ("new/a", "")]);
    let expected = [
        "sample: module new is in no layer",
        "sample: module low does not exist",
    ];
    assert_eq!(faults(&modules, layers), expected);
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
        let modules = read(&format!("crates/{package}"));
        wrong.extend(faults(&modules, &layers));
        let lines = modules.files.iter().map(|file| file.lines);
        println!(
            "{package}: {} lines, {} modules, {} pairs, largest file {} lines, largest circle {} files",
            lines.clone().sum::<usize>(),
            layers.order.len(),
            pairs(&modules).len(),
            lines.max().unwrap(),
            largest_circle(&modules),
        );
    }
    for folder in folders().iter().filter_map(|it| it.strip_prefix("crates/")) {
        let rows = text.matches(&format!("\n| `{folder}` | ")).count();
        let has_modules = !read(&format!("crates/{folder}")).modules().is_empty();
        if rows < 1 + usize::from(has_modules) {
            wrong.push(format!(
                "{folder}: has no charter and order in ARCHITECTURE.md"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_name_each_other_in_small_circles() {
    let mut wrong = Vec::new();
    for folder in folders() {
        let found = largest_circle(&read(&folder));
        if found > MOST_IN_A_CIRCLE {
            wrong.push(format!(
                "{folder}: {found} files name each other in a circle"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_owners_in_the_kernel_know_little_of_each_other() {
    const OWNERS: [&str; 4] = ["ConversationRecord", "FaceManager", "SpendMeter", "Toolbox"];
    let src = root().join("crates/hermitcrab-kernel/src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let (mut wrong, mut with_kernel) = (Vec::new(), 0);
    for file in files {
        let code = fs::read_to_string(&file).unwrap();
        with_kernel += usize::from(code.contains("impl Kernel {"));
        let is_above = ["kernel", "turn", "dispatch"]
            .iter()
            .any(|module| file.starts_with(src.join(module)));
        let named = OWNERS.iter().filter(|owner| code.contains(**owner)).count();
        if named > 2 && !is_above {
            wrong.push(file);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!((1..=3).contains(&with_kernel), "{with_kernel} files");
}
