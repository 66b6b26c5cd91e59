//! S7: what a model may not reach in a folder that a person opened.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hermitcrab_kernel::config::Grant;
use hermitcrab_kernel::toolbox::Files;
use hermitcrab_kernel::{ErrorKind, ToolError};
use tempfile::TempDir;
use test_support::FakeClock;

const ALL: usize = 1 << 20;

struct World {
    home: TempDir,
    files: Files,
}

impl World {
    /// A home with an open folder `open` and, inside of it, the data directory.
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let open = home.path().join("open");
        for dir in [
            "open/notes",
            "open/.git",
            "open/.ssh",
            "open/Data/kv",
            "else",
        ] {
            fs::create_dir_all(home.path().join(dir)).unwrap();
        }
        for file in [
            "open/notes/a.txt",
            "open/.git/config",
            "open/.ssh/id_rsa",
            "open/.env",
            "open/.env.local",
            "open/server.pem",
            "open/Data/kv/x.json",
            "else/secret",
        ] {
            fs::write(home.path().join(file), file).unwrap();
        }
        let files = Files::new(Some(&open.join("Data")), Arc::new(FakeClock::new()));
        Self { home, files }
    }

    fn open(self, write: bool, delete: bool) -> Self {
        let dir = self.path("open");
        assert_eq!(
            self.files.grant(&Grant { dir, write, delete }).unwrap(),
            "r1"
        );
        self
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.home.path().join(path)
    }

    fn text(&self, path: &str) -> Result<String, ToolError> {
        self.files.read("r1", path, 0, ALL).map(|piece| piece.text)
    }

    fn names(&self, path: &str) -> Vec<String> {
        let listing = self.files.list("r1", path).unwrap();
        listing
            .entries
            .into_iter()
            .map(|entry| entry.name)
            .collect()
    }

    /// The error of each call but `delete` for a path that none of them may touch.
    fn touching(&self, path: &str) -> [ErrorKind; 4] {
        [
            self.text(path).unwrap_err().kind,
            self.files.list("r1", path).unwrap_err().kind,
            self.files.write("r1", path, "x").unwrap_err().kind,
            self.files.mkdir("r1", path).unwrap_err().kind,
        ]
    }

    fn deleting(&self, path: &str) -> ErrorKind {
        self.files.delete("r1", path).unwrap_err().kind
    }
}

#[test]
fn without_a_grant_nothing_is_open() {
    let world = World::new();
    assert!(world.files.roots().is_empty());
    for root in ["r1", "r0", "r", "", "r-1", "/", "r99999999999999999999"] {
        assert_eq!(world.files.list(root, "").unwrap_err().kind, "bad_root");
    }
}

#[test]
fn files_are_read_written_and_listed() {
    let world = World::new().open(true, false);
    assert_eq!(world.names(""), ["notes"]);
    assert_eq!(world.text("./notes//a.txt").unwrap(), "open/notes/a.txt");
    world.files.mkdir("r1", "new/deep").unwrap();
    world.files.mkdir("r1", "new/deep").unwrap();
    world.files.write("r1", "new/deep/b.txt", "one").unwrap();
    world.files.write("r1", "new/deep/b.txt", "two").unwrap();
    assert_eq!(world.names("new/deep"), ["b.txt"]);
    let listing = world.files.list("r1", "new").unwrap();
    assert_eq!((listing.entries[0].kind, listing.more), ("folder", false));
    assert_eq!(
        fs::read_to_string(world.path("open/new/deep/b.txt")).unwrap(),
        "two"
    );
    for (path, kind) in [
        ("none/x", "not_found"),
        ("notes", "wrong_kind"),
        ("", "bad_path"),
    ] {
        assert_eq!(
            world.files.write("r1", path, "x").unwrap_err().kind,
            kind,
            "{path}"
        );
        assert_eq!(world.text(path).unwrap_err().kind, kind, "{path}");
    }
    assert_eq!(
        world.files.list("r1", "notes/a.txt").unwrap_err().kind,
        "wrong_kind"
    );
}

#[test]
fn paths_that_lead_out_are_refused() {
    let world = World::new().open(true, true);
    let long = "x/".repeat(600);
    for path in [
        "../../etc/passwd",
        "..",
        "notes/../../else/secret",
        "notes/..",
        "/etc/passwd",
        "//etc/passwd",
        "C:/windows",
        "c:x",
        "..\\else\\secret",
        "notes\\a.txt",
        "a\0b",
        "a\nb",
        ".g\u{200b}it/config",
        &long,
        &"y".repeat(300),
    ] {
        assert_eq!(world.touching(path), ["bad_path"; 4], "{path}");
        assert_eq!(world.deleting(path), "bad_path", "{path}");
    }
}

#[test]
fn secrets_and_the_data_directory_are_refused() {
    let world = World::new().open(true, true);
    for path in [
        ".git",
        ".git/config",
        ".GIT/config",
        "notes/.git/hooks/pre-commit",
        ".ssh",
        ".ssh/id_rsa",
        "notes/id_rsa",
        ".env",
        ".env.local",
        ".envrc",
        "server.pem",
        "notes/my.KEY",
        "Data",
        "Data/kv/x.json",
        "data/kv/x.json",
        "Data/new",
    ] {
        assert_eq!(world.touching(path), ["refused"; 4], "{path}");
        assert_eq!(world.deleting(path), "refused", "{path}");
    }
    assert_eq!(
        fs::read_to_string(world.path("open/.git/config")).unwrap(),
        "open/.git/config"
    );
    let dir = world.path("open/Data/kv");
    let grant = Grant {
        dir,
        write: false,
        delete: false,
    };
    assert_eq!(world.files.grant(&grant).unwrap_err().kind, "refused");
    let dir = world.path("none");
    let grant = Grant { dir, ..grant };
    assert_eq!(world.files.grant(&grant).unwrap_err().kind, "not_found");
}

/// A folder above the data directory cannot be moved away with it.
#[test]
fn the_data_directory_is_not_moved_with_its_parent() {
    let world = World::new();
    let dir = world.home.path().to_owned();
    let grant = Grant {
        dir,
        write: true,
        delete: true,
    };
    world.files.grant(&grant).unwrap();
    assert_eq!(
        world.files.delete("r1", "open").unwrap_err().kind,
        "refused"
    );
    assert!(world.path("open/Data/kv/x.json").exists());
}

#[cfg(unix)]
#[test]
fn links_out_and_to_secrets_are_refused() {
    use std::os::unix::fs::symlink;

    let world = World::new().open(true, true);
    let open = world.path("open");
    let link = |target: &Path, name: &str| symlink(target, open.join(name)).unwrap();
    link(Path::new("/etc"), "etc");
    link(&world.path("else"), "else");
    link(Path::new("../else/secret"), "secret");
    link(Path::new(".git"), "repository");
    link(Path::new("Data/kv/x.json"), "value");
    link(Path::new("notes"), "inside");
    link(Path::new("loop"), "loop");
    for path in ["etc/passwd", "else/secret", "repository/config"] {
        assert_eq!(world.touching(path), ["refused"; 4], "{path}");
        assert_eq!(world.deleting(path), "refused", "{path}");
    }
    for path in ["secret", "value"] {
        assert_eq!(world.touching(path), ["refused"; 4], "{path}");
    }
    assert!(world.text("loop").is_err());
    // A link that stays inside is followed; deleting it takes the link alone.
    assert_eq!(world.text("inside/a.txt").unwrap(), "open/notes/a.txt");
    world.files.write("r1", "inside/b.txt", "b").unwrap();
    assert!(world.path("open/notes/b.txt").exists());
    for name in ["secret", "inside", "etc"] {
        world.files.delete("r1", name).unwrap();
    }
    assert!(world.path("else/secret").exists() && world.path("open/notes/b.txt").exists());
    // A link to nothing is not written through.
    symlink(world.path("else/new"), open.join("dangling")).unwrap();
    assert!(world.files.write("r1", "dangling", "x").is_err());
    assert!(!world.path("else/new").exists());
}

#[cfg(unix)]
#[test]
fn pipes_and_sockets_are_not_opened() {
    let world = World::new().open(true, false);
    let socket = world.path("open/socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(world.text("socket").unwrap_err().kind, "wrong_kind");
    assert_eq!(
        world.files.write("r1", "socket", "x").unwrap_err().kind,
        "wrong_kind"
    );
    let listing = world.files.list("r1", "").unwrap();
    assert!(
        listing
            .entries
            .iter()
            .any(|entry| entry.name == "socket" && entry.kind == "other")
    );
    // Reading from /dev/zero would not end.
    let dir = Path::new("/dev").to_owned();
    let grant = Grant {
        dir,
        write: false,
        delete: false,
    };
    assert_eq!(world.files.grant(&grant).unwrap(), "r2");
    let fault = world.files.read("r2", "zero", 0, ALL).unwrap_err();
    assert_eq!(fault.kind, "wrong_kind");
}

#[test]
fn device_names_of_windows_are_not_made() {
    let world = World::new().open(true, false);
    for name in ["NUL", "nul.txt", "con", "notes/COM1.log", "a.", "a:b"] {
        assert_eq!(
            world.files.write("r1", name, "x").unwrap_err().kind,
            "bad_path",
            "{name}"
        );
        assert_eq!(
            world.files.mkdir("r1", name).unwrap_err().kind,
            "bad_path",
            "{name}"
        );
    }
}

#[test]
fn rights_are_what_was_granted() {
    let world = World::new().open(false, false);
    assert_eq!(
        world.files.write("r1", "x", "").unwrap_err().kind,
        "read_only"
    );
    assert_eq!(world.files.mkdir("r1", "x").unwrap_err().kind, "read_only");
    assert_eq!(
        world.files.delete("r1", "notes").unwrap_err().kind,
        "no_delete"
    );
    // The same folder again: the same name, the new rights.
    let world = world.open(true, false);
    world.files.write("r1", "x", "").unwrap();
    assert_eq!(world.files.delete("r1", "x").unwrap_err().kind, "no_delete");
    assert_eq!(world.files.roots().len(), 1);
    assert!(world.path("open/x").exists());
}

#[test]
fn deleting_moves_to_the_trash_and_replaces_nothing_there() {
    let world = World::new().open(true, true);
    for content in ["one", "two"] {
        world.files.write("r1", "x.txt", content).unwrap();
        let place = world.files.delete("r1", "x.txt").unwrap();
        assert_eq!(world.text(&place).unwrap(), content);
    }
    assert_eq!(
        world.names(".hermitcrab-trash"),
        ["20261122T000000Z", "20261122T000000Z-1"]
    );
    let notes = world.files.delete("r1", "notes").unwrap();
    assert_eq!(
        world.text(&format!("{notes}/a.txt")).unwrap(),
        "open/notes/a.txt"
    );
    for path in [".hermitcrab-trash", &notes, ".hermitcrab-trash/new"] {
        assert_eq!(world.files.delete("r1", path).unwrap_err().kind, "refused");
        assert_eq!(
            world.files.write("r1", path, "x").unwrap_err().kind,
            "refused"
        );
    }
    assert_eq!(
        world.files.delete("r1", "none").unwrap_err().kind,
        "not_found"
    );
    assert_eq!(world.files.delete("r1", ".").unwrap_err().kind, "bad_path");
}

#[test]
fn long_files_are_read_in_pieces_of_whole_characters() {
    let world = World::new().open(true, false);
    let text = "aé€😀".repeat(100);
    world.files.write("r1", "t", &text).unwrap();
    for limit in [0, 4, 5, 7, 64, ALL] {
        let (mut read, mut at) = (String::new(), Some(0));
        while let Some(offset) = at {
            let piece = world.files.read("r1", "t", offset, limit).unwrap();
            assert_eq!(piece.bytes, text.len() as u64);
            read.push_str(&piece.text);
            at = piece.next;
        }
        assert_eq!(read, text, "{limit}");
    }
    for offset in [2, 9_999] {
        let fault = world.files.read("r1", "t", offset, ALL).unwrap_err();
        assert_eq!(fault.kind, "bad_offset", "{offset}");
    }
    assert_eq!(
        world
            .files
            .read("r1", "t", text.len() as u64, ALL)
            .unwrap()
            .text,
        ""
    );
}

#[test]
fn sizes_and_kinds_have_limits() {
    let world = World::new().open(true, false);
    let most = "x".repeat(4 << 20);
    world.files.write("r1", "big", &most).unwrap();
    let more = format!("{most}x");
    assert_eq!(
        world.files.write("r1", "big", &more).unwrap_err().kind,
        "too_large"
    );
    let piece = world.files.read("r1", "big", 0, usize::MAX).unwrap();
    assert_eq!((piece.text.len(), piece.next), (1 << 20, Some(1 << 20)));
    for (name, bytes) in [
        ("zero", &b"a\0b"[..]),
        ("latin", b"caf\xe9 au lait"),
        ("cut", b"\xe2\x82"),
    ] {
        fs::write(world.path("open").join(name), bytes).unwrap();
        assert_eq!(world.text(name).unwrap_err().kind, "binary", "{name}");
    }
    let many = world.path("open/many");
    fs::create_dir(&many).unwrap();
    for n in 0..1_001 {
        fs::write(many.join(format!("{n:04}")), "").unwrap();
    }
    let listing = world.files.list("r1", "many").unwrap();
    assert_eq!((listing.entries.len(), listing.more), (1_000, true));
    assert_eq!(listing.entries[999].name, "0999");
}

#[cfg(unix)]
#[test]
fn writing_keeps_the_mode_and_leaves_nothing_behind() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::new().open(true, false);
    let file = world.path("open/notes/a.txt");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    world.files.write("r1", "notes/a.txt", "new").unwrap();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(fs::read_dir(world.path("open/notes")).unwrap().count(), 1);
}
