//! Every field of the manifest, its default, and every rule.

use super::*;
use crate::extension::declared::{PLUGIN_TIMEOUT, TIMEOUT};

const HEAD: &str = "[plugin]\nid = \"near\"\nversion = \"1.0.0\"\nkind = \"matcher\"\n";

fn load(text: &str, is_ci: bool) -> Result<Declared, Fault> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(FILE);
    std::fs::write(&path, text).expect("a file");
    read(&Declared::spec(path, FILE), is_ci)
}

fn code(text: &str) -> Option<Code> {
    load(text, false).err().map(|fault| fault.code)
}

#[test]
fn in_process_is_a_component() {
    let declared =
        load(&format!("{HEAD}runtime = \"in_process\"\nentry_point = \"near.wasm\"\n"), false).expect("good");
    assert_eq!((declared.backend, declared.timeout), (Backend::Component, TIMEOUT));
    assert!(declared.path.ends_with("near.wasm"));
    assert_eq!(declared.id.as_deref(), Some("near"));
    assert_eq!(code(&format!("{HEAD}runtime = \"in_process\"\n")), Some(Code::HandshakeFailed));
    let python = format!("{HEAD}runtime = \"in_process\"\nentry_point = \"plugin:Near\"\n");
    assert_eq!(code(&python), Some(Code::RuntimeNotSupported), "a module of Python cannot be loaded");
}

#[test]
fn a_time_that_is_given_holds_for_every_runtime() {
    let timeout = |lines: &str, given: Option<Duration>| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        std::fs::write(&path, format!("{HEAD}{lines}")).expect("a file");
        let declared = Declared { backend: Backend::Spec(given), ..Declared::spec(path, FILE) };
        let Declared { backend, timeout, .. } = read(&declared, false).expect("good");
        if let Backend::Service(service) = backend {
            assert_eq!(service.timeout, timeout, "what messages say");
        }
        timeout
    };
    let http = "runtime = \"mcp_http\"\n[plugin.mcp_http]\nurl = \"http://localhost:1/mcp\"\ntimeout_sec = 7\n";
    let component = "runtime = \"in_process\"\nentry_point = \"near.wasm\"\n";
    let stdio = "runtime = \"mcp_stdio\"\n[plugin.mcp_stdio]\ncommand = [\"near\"]\n";
    for (lines, usual) in [(http, Duration::from_secs(7)), (component, TIMEOUT), (stdio, PLUGIN_TIMEOUT)] {
        assert_eq!(timeout(lines, None), usual);
        for given in [PLUGIN_TIMEOUT, Duration::from_millis(300)] {
            assert_eq!(timeout(lines, Some(given)), given, "{lines}");
        }
    }
}

#[test]
fn an_mcp_server_on_stdio_has_its_fields_and_defaults() {
    let text =
        format!("{HEAD}runtime = \"mcp_stdio\"\n[plugin.mcp_stdio]\ncommand = [\"python3\", \"-m\", \"near\"]\n");
    let declared = load(&text, false).expect("good");
    let Backend::Server { launch, startup, tools } = declared.backend else { panic!("{declared:?}") };
    assert_eq!((launch.argv, launch.env), (vec!["python3".into(), "-m".into(), "near".into()], Vec::new()));
    assert_eq!(Some(launch.folder.as_path()), declared.path.parent(), "the manifest's folder");
    assert_eq!((startup, tools), (Duration::from_secs(30), vec!["near".to_owned()]));
    assert_eq!(declared.timeout, PLUGIN_TIMEOUT);
    let full = format!("{text}working_dir = \"sub\"\nstartup_timeout_sec = 45\nenv = {{ A = \"1\" }}\n");
    let Backend::Server { launch, startup, .. } = load(&full, false).expect("good").backend else { panic!() };
    assert!(launch.folder.ends_with("sub"));
    assert_eq!((startup, launch.env), (Duration::from_secs(45), vec![("A".to_owned(), "1".to_owned())]));
    assert_eq!(code(&format!("{HEAD}runtime = \"mcp_stdio\"\n")), Some(Code::HandshakeFailed));
    assert_eq!(code(&format!("{text}x = 1\n")), Some(Code::HandshakeFailed), "an unknown field");
}

#[test]
fn an_mcp_service_over_http_has_its_fields_and_defaults() {
    let http = |lines: &str| format!("{HEAD}runtime = \"mcp_http\"\n[plugin.mcp_http]\n{lines}\n");
    let service = |lines: &str, is_ci: bool| match load(&http(lines), is_ci) {
        Ok(Declared { backend: Backend::Service(service), .. }) => Ok(service),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault.code),
    };
    let url = "url = \"https://plugins.example.com/v1\"";
    let usual = service(url, true).expect("good");
    assert_eq!((usual.timeout, usual.verify, usual.header), (Duration::from_secs(60), true, None));
    let full = format!(
        "{url}\nauth_header = \"X-API-Token\"\nauth_secret_env = \"TOKEN\"\ntimeout_sec = 120\n\
         tls_ca_bundle = \"ca.pem\"\ntls_verify = false"
    );
    let full = service(&full, false).expect("good");
    assert_eq!(full.header, Some(("X-API-Token".to_owned(), "TOKEN".to_owned())));
    assert_eq!((full.timeout, full.verify), (Duration::from_secs(120), false));
    assert!(full.ca_bundle.is_some_and(|file| file.ends_with("ca.pem") && file.is_absolute()));
    for bad in ["", "url = \"https://a/\"", "url = \"ftp://a\"", &format!("{url}\nauth_header = \"A\"")] {
        assert_eq!(service(bad, false), Err(Code::HandshakeFailed), "{bad}");
    }
    assert_eq!(service(&format!("{url}\ntls_verify = false"), true), Err(Code::HandshakeFailed), "refused in CI");
}

#[test]
fn the_first_supported_runtime_is_taken() {
    let server = "[plugin.mcp_stdio]\ncommand = [\"near\"]\n";
    let both = format!("{HEAD}runtime = [\"jvm\", \"mcp_stdio\", \"in_process\"]\nentry_point = \"n.wasm\"\n{server}");
    assert!(matches!(load(&both, false).expect("good").backend, Backend::Server { .. }));
    let turned = format!("{HEAD}runtime = [\"in_process\", \"mcp_stdio\"]\nentry_point = \"n.wasm\"\n{server}");
    assert_eq!(load(&turned, false).expect("good").backend, Backend::Component);
    for entry in ["", "entry_point = \"plugin:Near\"\n"] {
        let python = format!("{HEAD}runtime = [\"in_process\", \"mcp_stdio\"]\n{entry}{server}");
        assert!(matches!(load(&python, false).expect("good").backend, Backend::Server { .. }), "{entry}");
    }
    assert_eq!(code(&format!("{HEAD}runtime = [\"jvm\", \"dotnet\"]\n")), Some(Code::RuntimeNotSupported));
    assert_eq!(code(&format!("{HEAD}runtime = []\n")), Some(Code::HandshakeFailed));
}

#[test]
fn kinds_are_roles_and_choose_the_tools() {
    let tools = |kind: &str| {
        let head = HEAD.replace("\"matcher\"", kind);
        let text = format!("{head}runtime = \"mcp_stdio\"\n[plugin.mcp_stdio]\ncommand = [\"near\"]\n");
        match load(&text, false) {
            Ok(Declared { backend: Backend::Server { tools, .. }, .. }) => Ok(tools),
            Ok(other) => panic!("{other:?}"),
            Err(fault) => Err(fault.code),
        }
    };
    assert_eq!(tools("\"matcher\""), Ok(vec!["near".to_owned()]));
    assert_eq!(tools("\"reporter\""), Ok(vec!["report.observe".to_owned(), "report.finish".to_owned()]));
    assert_eq!(tools("[\"matcher\", \"transform\"]"), Ok(vec!["near".to_owned(), "transform.suite".to_owned()]));
    assert_eq!(tools("\"tool\""), Err(Code::HandshakeFailed));
    assert_eq!(code("[plugin]\nid = \"\"\n"), Some(Code::HandshakeFailed));
    assert_eq!(code("hello"), Some(Code::HandshakeFailed));
}

#[test]
fn tools_stand_once_and_are_of_the_kinds_that_are_written() {
    let with = |kind: &str, tools: &str| {
        let head = HEAD.replace("\"matcher\"", kind);
        let table = "[plugin.subprocess]\ncommand = [\"near\"]\n";
        load(&format!("{head}runtime = \"subprocess\"\ntools = {tools}\n{table}"), false).map_err(|fault| fault.message)
    };
    assert!(with("\"matcher\"", "[\"near\", \"far\"]").is_ok());
    assert!(with("[\"matcher\", \"transform\"]", "[\"near\", \"transform.suite\"]").is_ok());
    for (kind, tools, part) in [
        ("\"matcher\"", "[\"near\", \"near\"]", "`near` twice"),
        ("[\"matcher\", \"matcher\"]", "[\"near\"]", "`matcher` twice"),
        ("\"matcher\"", "[\"near\", \"\"]", "is no tool"),
        ("\"matcher\"", "[\"near\", \"report.observe\"]", "a tool of a reporter"),
        ("\"reporter\"", "[\"near\"]", "a tool of a matcher"),
        ("[\"matcher\", \"reporter\"]", "[\"near\"]", "`kind` says reporter"),
        ("7", "[\"near\"]", "a text or a list of texts"),
    ] {
        let message = with(kind, tools).expect_err("bad");
        assert!(message.contains(part), "{kind} {tools}: {message}");
    }
}

#[test]
fn times_are_seconds_between_one_and_a_day() {
    for bad in ["0", "-1", "9223372036854775807", "86401"] {
        for (runtime, table) in [
            ("mcp_stdio", format!("command = [\"near\"]\nstartup_timeout_sec = {bad}")),
            ("mcp_http", format!("url = \"http://a\"\ntimeout_sec = {bad}")),
        ] {
            let text = format!("{HEAD}runtime = \"{runtime}\"\n[plugin.{runtime}]\n{table}\n");
            let fault = load(&text, false).expect_err("bad");
            assert!(fault.message.contains("from 1 to 86400"), "{}", fault.message);
        }
    }
    let text = format!("{HEAD}runtime = \"mcp_http\"\n[plugin.mcp_http]\nurl = \"http://a\"\ntimeout_sec = 1.5\n");
    let fault = load(&text, false).expect_err("bad");
    assert!(fault.message.contains("expected a whole number"), "{}", fault.message);
    let text =
        format!("{HEAD}runtime = \"subprocess\"\n[plugin.subprocess]\ncommand = [\"near\"]\nstartup_timeout_sec = 3\n");
    assert_eq!(code(&text), Some(Code::HandshakeFailed), "it would mean nothing");
}
