//! A server on the network, with TLS.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::database::run;
use super::server::Server;
use crate::closed_port;

/// The rules of access: the network needs TLS and the password.
const RULES: &str = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";

/// A server that listens on 127.0.0.1, too, with a certificate for `localhost` by a separate authority.
#[derive(Debug)]
pub struct TlsServer {
    _server: Server,
    folder: TempDir,
    port: u16,
}

impl TlsServer {
    /// The password of the owner, who needs it on the network.
    pub const PASSWORD: &str = "hunter2";

    /// Gives a server a certificate. `None` without the program `openssl`.
    pub(super) fn new(mut server: Server) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        if !certify(folder.path()) {
            return None;
        }
        let data = server.socket_folder().join("data");
        let owner = data.metadata().unwrap();
        for name in ["server.key", "server.pem"] {
            let path = data.join(name);
            fs::copy(folder.path().join(name), &path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        let password = format!("ALTER ROLE postgres PASSWORD '{}'", Self::PASSWORD);
        run(&server.url(), &password).unwrap();
        fs::write(data.join("pg_hba.conf"), RULES).unwrap();
        server.crash();
        let (address, socket) = closed_port();
        drop(socket);
        server.begin_with(&[
            &format!("port={}", address.port()),
            "listen_addresses=127.0.0.1",
            "ssl=on",
            "ssl_cert_file=server.pem",
            "ssl_key_file=server.key",
        ]);
        Some(Self {
            _server: server,
            folder,
            port: address.port(),
        })
    }

    /// The address of the database `postgres` on the network, with the password and these parameters.
    pub fn url(&self, host: &str, parameters: &str) -> String {
        let (password, port) = (Self::PASSWORD, self.port);
        format!("postgres://postgres:{password}@{host}:{port}/postgres?{parameters}")
    }

    /// The file with the certificate of the authority.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}

/// Makes an authority in a folder, and a certificate that it signs. False without OpenSSL.
fn certify(folder: &Path) -> bool {
    let openssl = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        let made = command.current_dir(folder).args(arguments).output();
        made.is_ok_and(|made| made.status.success())
    };
    let request = |name: &str, arguments: &[&str]| {
        let (subject, key) = (format!("/CN={name}"), format!("{name}.key"));
        let curve = "ec_paramgen_curve:prime256v1";
        let new = ["req", "-newkey", "ec", "-pkeyopt", curve, "-nodes"];
        let named = ["-subj", &subject, "-keyout", &key];
        openssl(&[&new[..], &named, arguments].concat())
    };
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let signed = ["x509", "-req", "-in", "server.csr", "-out", "server.pem"];
    let by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    request("ca", &["-x509", "-out", "ca.pem"])
        && request("server", &["-out", "server.csr"])
        && openssl(&[&signed[..], &by, &["-extfile", "names"]].concat())
}
