//! The commands of each program, `NAME help --tree`, against those in `tree/NAME.txt`, which `ORRERY_WRITE=1` writes.

use std::fs;
use std::process::Command;

use crate::docs::programs;
use crate::packages::root;

#[test]
fn every_program_has_the_commands_of_its_tree() {
    let folder = programs();
    for name in ["popper", "zer0gravity", "hermitcrab", "logosphere"] {
        let output = Command::new(folder.join(name))
            .args(["help", "--tree"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        let found = String::from_utf8(output.stdout).unwrap();
        let file = root().join(format!("bins/xtask/tests/it/tree/{name}.txt"));
        if std::env::var_os("ORRERY_WRITE").is_some() {
            fs::write(&file, &found).unwrap();
        }
        let listed = fs::read_to_string(&file).unwrap();
        assert_eq!(found, listed, "{name}");
    }
}
