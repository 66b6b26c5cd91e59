//! Links between pages: the file and the heading that each one names must exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::page::Page;
use super::problem::Problem;
use super::prose::without_code;
use crate::Error;

/// Folders without pages of the repository.
const OTHERS: [&str; 3] = ["target", "node_modules", ".git"];

/// The pages of the repository, by their paths from its root.
pub fn pages(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |source| Error::File {
            path: folder.clone(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() && !path.is_symlink() {
                if !OTHERS.iter().any(|other| name == *other) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|end| end == "md") {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The links of a page that lead nowhere.
pub fn check(root: &Path, page: &Page) -> Vec<Problem> {
    let folder = Path::new(&page.name).parent().unwrap_or(Path::new(""));
    let links = without_code(page).into_iter().flat_map(|(index, line)| {
        let targets = targets(&line);
        targets.into_iter().map(move |target| (index, target))
    });
    let problem = |(index, target): (usize, String)| {
        let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
        let file = match path {
            "" => root.join(&page.name),
            path => root.join(folder).join(path),
        };
        let text = if !file.exists() {
            format!("broken link: {target}")
        } else if heading.is_empty() || anchors(&file, page).contains(&heading.to_owned()) {
            return None;
        } else {
            format!("no such heading: {target}")
        };
        Some(Problem::at(&page.name, index, text))
    };
    links
        .filter(|(_, target)| is_relative(target))
        .filter_map(problem)
        .collect()
}

fn is_relative(target: &str) -> bool {
    !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:")
}

/// The targets of Markdown's links and images, of its link definitions, and of the attributes `href`, `src` and `srcset`.
fn targets(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let ends = [
        ("](", ')'),
        ("href=\"", '"'),
        ("src=\"", '"'),
        ("srcset=\"", '"'),
    ];
    for (begin, end) in ends {
        for (place, _) in line.match_indices(begin) {
            let rest = line[place + begin.len()..].trim_start();
            let target = rest.split([end, ' ']).next().unwrap_or_default();
            found.push(target.to_owned());
        }
    }
    let definition = line
        .strip_prefix('[')
        .and_then(|line| line.split_once("]: "));
    found.extend(definition.map(|(_, target)| target.trim().to_owned()));
    found
}

/// The anchors of a page: its headings as GitHub names them. `page` is read already.
fn anchors(file: &Path, page: &Page) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let target = Page::parse(page.name.clone(), &text);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = target.prose().filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len() && title.starts_with(' ')).then(|| anchor(title.trim()))
    });
    let named = headings.map(|name| {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            name
        } else {
            format!("{name}-{}", *count - 1)
        }
    });
    named.collect()
}

fn anchor(title: &str) -> String {
    let kept = title.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("docs")).unwrap();
        let other = "# A title: `x`, y_z\n\n## Two\n## Two\n```\n# no\n```\n";
        fs::write(folder.path().join("docs/b.md"), other).unwrap();
        let text = "[a](b.md) [a](b.md#a-title-x-y_z) ![p](img/p.png) [t](b.md#two-1)\n[x](https://e.org/a) `[c](no)` [n](b.md#no)\n\n[d]: c.md\n[s](#here)\n\n`two\nlines` [e]( e.md)\n";
        fs::write(folder.path().join("docs/a.md"), text).unwrap();
        let page = Page::parse("docs/a.md".to_owned(), text);
        let found: Vec<_> = check(folder.path(), &page)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            found,
            [
                "docs/a.md:1: broken link: img/p.png",
                "docs/a.md:2: no such heading: b.md#no",
                "docs/a.md:4: broken link: c.md",
                "docs/a.md:5: no such heading: #here",
                "docs/a.md:8: broken link: e.md"
            ]
        );
        assert_eq!(
            pages(folder.path()).unwrap(),
            [Path::new("docs/a.md"), Path::new("docs/b.md")]
        );
    }
}
