//! What makes a server the one it is: results of one must never be taken for those of another.

use super::{Remote, Server};
use crate::mcp::transport::http::endpoint::shown_url;
use crate::source::Json;
use serde_json::json;
use sha2::{Digest, Sha256};

impl Server {
    /// The command, the folder and the URL to read, and a digest of everything that it is started and asked with;
    /// `environment` is what the command line adds.
    pub fn identity(&self, environment: &[(String, String)]) -> Json {
        let remote = self.remote.as_ref();
        let asked = remote.map(|Remote { url, headers, auth, .. }| json!([url, headers, format!("{auth:?}")]));
        let started = json!([self.command, self.args, self.cwd.to_string_lossy(), self.env, environment, asked]);
        let digest = Sha256::digest(started.to_string().as_bytes());
        json!({
            "command": self.command_line(),
            "cwd": self.cwd.to_string_lossy(),
            "url": remote.map(|remote| shown_url(&remote.url)),
            "digest": digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn servers_that_differ_in_anything_are_others() {
        let server = |command: &str, cwd: &str| Server::from_command(&[command.to_owned()], PathBuf::from(cwd));
        let url = |url: &str| Server::from_url(url, PathBuf::from("/a"));
        let with_env = |value: &str| Server { env: vec![("TOKEN".into(), value.into())], ..server("./s", "/a") };
        let mut with_header = url("http://h/");
        with_header.remote.as_mut().expect("a url").headers.push(("X-Key".into(), "hidden".into()));
        let mut with_args = server("./s", "/a");
        with_args.args.push("--read-only".into());
        let plain = [server("./s", "/a"), server("./s", "/b"), server("./t", "/a"), with_args];
        let others = [with_env("one"), with_env("two"), url("http://h/"), url("http://h/?key=hidden"), with_header];
        let added = server("./s", "/a").identity(&[("TOKEN".into(), "three".into())]);
        let all: Vec<Json> =
            plain.iter().chain(&others).map(|server| server.identity(&[])).chain([added.clone()]).collect();
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| other != one), "{one}");
            assert!(!one.to_string().contains("hidden"), "{one}");
        }
        assert_eq!(server("./s", "/a").identity(&[]), all[0]);
    }
}
