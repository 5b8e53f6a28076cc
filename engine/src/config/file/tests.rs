use super::*;
use crate::suite::environment::Environment;
use crate::suite::server::variables::fill_tmp;
use serde_json::json;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Folder(folder)
    }

    fn load(&self, name: &str) -> Config {
        let environment: Environment = [("TOKEN", "s3cret-token"), ("SHORT", "abc"), ("PORT", "81")]
            .map(|(name, value)| (name.into(), value.into()))
            .into_iter()
            .collect();
        let setting =
            Setting { lenient: false, working_dir: self.0.path().to_owned(), environment, ..Setting::default() };
        let mut diagnostics = Diagnostics::default();
        let config = load(&self.0.path().join(name), &setting, &mut diagnostics);
        assert!(!diagnostics.has_errors(), "{}", diagnostics.render(false));
        config.expect("a config")
    }
}

#[test]
fn the_environment_is_filled_in_and_remembered_for_redaction() {
    let text = r#"
command: "${SHELL_OF_MINE:-node}"
args: ["--port=${PORT}", 8080, "${tmp}/x", "$${PORT}"]
env: { TOKEN: "Bearer ${env:TOKEN}", SHORT: "${SHORT}", N: 1.5, ON: true }
readyPattern: "port ${PORT}$"
respond: { roots: { result: { roots: [{ uri: "file://${tmp}" }] } } }
"#;
    let config = Folder::with(&[("mcptest.yml", text)]).load("mcptest.yml");
    let server = config.server.expect("a server");
    assert_eq!((&*server.name, server.command.as_str()), ("node", "node"));
    let args: Vec<String> = server.args.iter().map(|arg| fill_tmp(arg, "/t")).collect();
    assert_eq!(args, ["--port=81", "8080", "/t/x", "${PORT}"]);
    let env: Vec<(&str, &str)> = server.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("TOKEN", "Bearer s3cret-token"), ("SHORT", "abc"), ("N", "1.5"), ("ON", "true")]);
    assert_eq!(server.secrets, ["s3cret-token"]);
    assert!(server.ready_pattern.as_ref().is_some_and(|pattern| pattern.is_match("on port 81")));
    assert_eq!(server.client, json!({}));
}

#[test]
fn folders_are_taken_against_the_config_and_then_the_working_directory() {
    let folder = Folder::with(&[
        ("sub/near/x", ""),
        ("far/x", ""),
        ("sub/a.yml", "command: x\ncwd: near"),
        ("sub/b.yml", "command: x\ncwd: ./far"),
        ("sub/c.yml", "command: x"),
        ("sub/d.yml", "command: node\nargs: [./far/x]"),
        ("sub/e.yml", "command: x\ncwd: '${tmp}'\nfixture: near"),
    ]);
    let root = folder.0.path();
    let cwd = |name: &str| folder.load(name).server.expect("a server").cwd.clone();
    assert_eq!(cwd("sub/a.yml"), root.join("sub/near"));
    assert_eq!(cwd("sub/b.yml").canonicalize().ok(), root.join("far").canonicalize().ok());
    assert_eq!(cwd("sub/c.yml"), root.join("sub"));
    assert_eq!(cwd("sub/d.yml"), root, "the command line is written for the working directory");
    assert_eq!(cwd("sub/e.yml"), Path::new("${tmp}"));
    assert_eq!(folder.load("sub/e.yml").server.expect("a server").fixture, Some(root.join("sub/near")));
}

#[test]
fn servers_are_called_by_their_keys() {
    let text = "servers:\n  fs: { command: [node, fs.js], args: [x] }\n  db: { command: db }\nsecrets: [A]\nreporters: [junit=a.xml]";
    let config = Folder::with(&[("mcptest.yml", text)]).load("mcptest.yml");
    assert!(config.server.is_none());
    let servers: Vec<(&str, usize)> = config.servers.iter().map(|server| (&*server.name, server.args.len())).collect();
    assert_eq!(servers, [("fs", 2), ("db", 0)]);
    assert_eq!((&config.secrets[..], &config.reporters[..]), (&["A".to_owned()][..], &["junit=a.xml".to_owned()][..]));
    assert!(!config.lenient);
}

#[test]
fn a_config_of_the_conductor_family_is_lenient() {
    let text = "{\n\t\"name\": \"Fs\", \"command\": \"node\", \"args\": [\"a.js\"], \"stray\": 1\n}";
    let folder = Folder::with(&[("aegis.config.json", text), ("conductor.config.json", text)]);
    for name in ["aegis.config.json", "conductor.config.json"] {
        assert!(folder.load(name).lenient, "{name}");
    }
    let mut diagnostics = Diagnostics::default();
    let found = discover(folder.0.path(), &mut diagnostics).expect("a config");
    assert!(found.ends_with("conductor.config.json"));
    assert_eq!(diagnostics.list.len(), 1);
    assert!(discover(&folder.0.path().join("none"), &mut diagnostics).is_none());
}

#[test]
fn servers_of_that_family_are_sent_sigterm_at_once() {
    let seconds = |stdin, term| Grace { stdin: Duration::from_secs(stdin), term: Duration::from_secs(term) };
    let with = |key: &str| format!("{{\"name\": \"Fs\", \"command\": \"node\", \"args\": []{key}}}");
    let shutdown =
        |name: &str, key: &str| Folder::with(&[(name, &with(key))]).load(name).server.expect("a server").shutdown;
    for name in ["aegis.config.json", "conductor.config.json", "other.json"] {
        assert_eq!(shutdown(name, ""), seconds(0, 2), "{name}");
        assert_eq!(shutdown(name, ", \"shutdownTimeout\": \"1s\""), seconds(1, 1), "{name}");
        assert_eq!(shutdown(name, ", \"shutdownTimeout\": {\"term\": \"5s\"}"), seconds(0, 5), "{name}");
    }
    for name in ["mcptest.json", "mcptest.yml"] {
        assert_eq!(shutdown(name, ""), seconds(2, 2), "{name}");
        assert_eq!(shutdown(name, ", \"shutdownTimeout\": {\"stdin\": 0}"), seconds(0, 2), "{name}");
    }
    let named = "{\"name\": \"x\", \"command\": \"a\", \"args\": [], \"servers\": {\"db\": {\"command\": \"db\"}}}";
    let config = Folder::with(&[("aegis.config.json", named)]).load("aegis.config.json");
    assert_eq!(config.servers[0].shutdown, seconds(0, 2));
}

#[test]
fn a_command_line_is_a_server() {
    let argv = ["/usr/bin/node".to_owned(), "${tmp}".to_owned()];
    let server = Server::from_command(&argv, PathBuf::from("/w"));
    assert_eq!((&*server.name, server.command.as_str()), ("node", "/usr/bin/node"));
    assert_eq!(fill_tmp(&server.args[0], "/t"), "/t");
    assert_eq!(Server::from_command(&[], PathBuf::new()).command, "");
}
