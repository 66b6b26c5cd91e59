use std::ffi::OsString;
use std::path::PathBuf;

/// The folder for the data of this user's programs, each in a folder of its name. `None` if the environment does not name
/// one.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is where the binaries' environment is read"
)]
pub fn data_folder() -> Option<PathBuf> {
    data_folder_of(std::env::consts::OS, |name| std::env::var_os(name))
}

/// The folder by the rules of `system`. A relative path depends on the working directory, so it is ignored.
fn data_folder_of(system: &str, get: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| {
        let path = get(name).map(PathBuf::from);
        path.filter(|path| path.has_root())
    };
    match system {
        "windows" => folder("APPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Application Support")),
        _ => {
            folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_where_the_system_has_them() {
        let all = [("HOME", "/h"), ("XDG_DATA_HOME", "/x"), ("APPDATA", "/a")];
        let only_home = [("HOME", "/h"), ("XDG_DATA_HOME", "x"), ("APPDATA", "")];
        let folder = |system, variables: [(&str, &str); 3]| {
            let get = |name: &str| {
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| OsString::from(value))
            };
            data_folder_of(system, get).map(|path| path.to_str().unwrap().to_owned())
        };
        let is = |path: &str| Some(path.to_owned());
        assert_eq!(folder("linux", all), is("/x"));
        assert_eq!(folder("linux", only_home), is("/h/.local/share"));
        assert_eq!(folder("macos", all), is("/h/Library/Application Support"));
        assert_eq!(folder("windows", all), is("/a"));
        assert_eq!(folder("windows", only_home), None);
    }
}
