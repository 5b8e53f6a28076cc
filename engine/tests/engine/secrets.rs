//! Secrets of servers over HTTP: a canary in each place that holds one, and no report that shows any.

use crate::http::place;
use crate::kit::{Place, Running, said};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What the environment holds, by variable, and what the fixture's issuer hands out.
const CANARIES: [(&str, &str); 7] = [
    ("CANARY", "env-canary-12345"),
    ("HEADER", "header-canary-12345"),
    ("", "literal-canary-12345"),
    ("BEARER", "bearer-canary-12345"),
    ("SECRET", "secret-canary-12345"),
    ("QUERY", "query-canary-12345"),
    ("", "fetched-token-canary"),
];

/// Runs with every reporter, sees that none shows a canary, and counts what stands in their places.
fn redacted(place: &Place, code: i32) -> usize {
    let mut seen = 0;
    for reporter in ["human", "json", "ndjson", "junit"] {
        let mut command = place.command(&["run", "--show-frames", "--verbose", "--reporter", reporter]);
        command.args(["--record", "canaries.json"]);
        command.env("ID", "client").envs(CANARIES.iter().filter(|(name, _)| !name.is_empty()).copied());
        let said = said(command.output().expect("the binary runs"));
        assert_eq!(said.code, code, "{}{}", said.stdout, said.stderr);
        let text = said.stdout + &said.stderr + &place.read("canaries.json");
        seen += text.matches("[redacted]").count();
        // Of a secret in base64 the middle does not depend on what stands around it; of basic auth the whole is known.
        let basic = STANDARD.encode("client:secret-canary-12345");
        for canary in CANARIES.iter().map(|(_, canary)| *canary).chain([&basic[12..basic.len() - 4]]) {
            assert!(!text.contains(canary), "{reporter} shows {canary}:\n{text}");
        }
    }
    seen
}

/// A server that tells every header it got, and a suite that fails in every way.
#[test]
fn no_secret_reaches_a_report() {
    let auths = [
        "auth: { bearerEnv: BEARER }",
        "auth: { tokenUrl: \"http://127.0.0.1:TOKENPORT/token\", clientIdEnv: ID, clientSecretEnv: SECRET }",
    ];
    // The token comes from a server of its own, which runs as long as the test.
    let issuer = Running::new("echo");
    let suite = "tools:\n  - { it: tells headers, tool: echo, expect: { text: nothing, http: { status: 500 }, result: { a: 1 } } }\n  - { it: env, tool: echo, expect: { stderr: nothing, checks: [{ at: $.http, is: 1 }] } }\n";
    for auth in auths {
        let auth = auth.replace("TOKENPORT", &issuer.port.to_string());
        let lines = format!(
            "env: {{ TOKEN: \"${{CANARY}}\" }}\nheaders: {{ X-Api: \"${{HEADER}}\", X-Secret-Key: literal-canary-12345 }}\n{auth}\n"
        );
        let seen = redacted(&place("headers", &lines, suite), 1);
        assert!(seen >= 12, "the headers were told, and {seen} values redacted");
    }
}

/// A server that tells the path of every request, with what stands in the query.
#[test]
fn no_secret_of_a_url_reaches_a_report() {
    let suite = "tools:\n  - { it: tells the path, tool: echo, expect: { text: nothing } }\n";
    let place = place("headers", "", suite);
    let config = place.read("mcptest.yml").replace("/mcp\"", "/mcp?key=${QUERY}\"");
    assert!(config.contains("${QUERY}"), "{config}");
    place.write("mcptest.yml", &config);
    let seen = redacted(&place, 1);
    assert!(seen >= 4, "the path was told, and {seen} values redacted");
    // The same where nobody listens: then the URL itself is told.
    place.write("mcptest.yml", "url: \"http://127.0.0.1:1/mcp?key=${QUERY}\"\n");
    let seen = redacted(&place, 3);
    assert!(seen >= 4, "the URL was told, and {seen} values redacted");
}

/// An issuer that tells in its error whatever it was told.
#[test]
fn no_secret_reaches_a_report_through_an_issuer() {
    let issuer = Running::new("telltale");
    let auth = format!(
        "auth: {{ tokenUrl: \"http://127.0.0.1:{}/token\", clientIdEnv: ID, clientSecretEnv: SECRET }}\n",
        issuer.port
    );
    let seen = redacted(&place("echo", &auth, "tools:\n  - { it: echoes, tool: echo }\n"), 3);
    assert!(seen >= 4, "the secret was told, and {seen} values redacted");
}

/// A URL with a password is refused, and the refusal does not repeat it.
#[test]
fn a_password_in_a_url_is_refused_without_being_told() {
    let place = Place::new();
    place.write("suite.test.mcp.yml", "tools: [{ it: a, tool: echo }]\n");
    let url = "http://user:${QUERY}@127.0.0.1:1/mcp";
    let auth = format!(
        "url: http://127.0.0.1:1/\nauth: {{ tokenUrl: \"{url}\", clientIdEnv: ID, clientSecretEnv: SECRET }}\n"
    );
    for config in [format!("url: \"{url}\"\n"), auth] {
        place.write("mcptest.yml", &config);
        assert_eq!(redacted(&place, 2), 0);
    }
    for args in [&["run", "--url"][..], &["call", "ping", "--url"]] {
        place.write("mcptest.yml", "");
        let said = place.mcptest(&[args, &["http://user:flag-canary@127.0.0.1:1/mcp?key=flag-canary"]].concat());
        assert!(said.stderr.contains("`--url http://…@127.0.0.1:1/mcp?…`: it holds a user name"), "{}", said.stderr);
        assert!(!said.stderr.contains("flag-canary") && said.code == 2, "{}", said.stderr);
    }
}

/// What `call` prints and `discover` writes are no reports, and show no secret either.
#[test]
fn no_secret_reaches_the_shell() {
    let issuer = Running::new("echo");
    let auth = format!(
        "auth: {{ tokenUrl: \"http://127.0.0.1:{}/token\", clientIdEnv: ID, clientSecretEnv: SECRET }}\nheaders: {{ X-Api: \"${{HEADER}}\" }}\n",
        issuer.port
    );
    let place = place("headers", &auth, "tools: [{ it: a, tool: echo }]\n");
    for args in [&["call", "echo"][..], &["call", "echo", "--raw"], &["discover", "-o", "-"]] {
        let mut command = place.command(args);
        command.env("ID", "client").envs(CANARIES.iter().filter(|(name, _)| !name.is_empty()).copied());
        let said = said(command.output().expect("the binary runs"));
        assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
        assert!(said.stdout.contains("Bearer [redacted]"), "{}", said.stdout);
        for (_, canary) in CANARIES {
            assert!(!(said.stdout.clone() + &said.stderr).contains(canary), "{args:?} shows {canary}: {}", said.stdout);
        }
    }
}

/// A secret that has to be encoded before it stands in the header of basic authentication.
#[test]
fn no_encoded_secret_reaches_a_report() {
    let issuer = Running::new("telltale");
    let auth = format!(
        "auth: {{ tokenUrl: \"http://127.0.0.1:{}/token\", clientIdEnv: ID, clientSecretEnv: SECRET }}\n",
        issuer.port
    );
    let place = place("echo", &auth, "tools: [{ it: a, tool: echo }]\n");
    let mut command = place.command(&["run"]);
    let said = said(command.env("ID", "client").env("SECRET", "p@ss/w%rd").output().expect("the binary runs"));
    let basic = STANDARD.encode("client:p%40ss%2Fw%25rd");
    assert!(said.code == 3 && said.stdout.contains("Basic [redacted]"), "{}", said.stdout);
    assert!(!said.stdout.contains(&basic), "{}", said.stdout);
}

/// Whether `text` shows this many characters of `secret` in a row.
fn shows(text: &str, secret: &str, length: usize) -> bool {
    secret.as_bytes().windows(length).any(|part| text.contains(std::str::from_utf8(part).expect("ASCII")))
}

/// Frames and hints are cut: what is left of a secret there is none of the report's business either.
#[test]
fn no_part_of_a_secret_is_left_beside_a_cut() {
    let long: String = (0..120).map(|number| format!("{:05x}-", number * 7919)).collect();
    let escaped = r#"k3y"with\quotes"and-more-98765"#;
    let tests = (0..40).map(|number| {
        let before = "p".repeat(number * 25 + number % 7);
        format!(
            "  - {{ it: 'pads {number}', tool: fail, args: {{ text: '{before}${{env:TOKEN}}{}' }} }}\n",
            "q".repeat(3000)
        )
    });
    let place = Place::with_config(&[], "secrets: [TOKEN]\n", &format!("tools:\n{}", tests.collect::<String>()));
    for secret in [long.as_str(), escaped] {
        let written = serde_json::to_string(secret).expect("text");
        let inner = &written[1..written.len() - 1];
        for reporter in ["human", "json", "ndjson", "junit"] {
            let mut command = place.command(&["run", "--reporter", reporter]);
            let said = said(command.env("TOKEN", secret).output().expect("the binary runs"));
            assert_eq!(said.code, 1, "{}{}", said.stdout, said.stderr);
            assert!(said.stdout.contains("[redacted]"), "{reporter}: {}", said.stdout);
            for form in [secret, inner] {
                assert!(!shows(&said.stdout, form, 10), "{reporter} shows some of {form}:\n{}", said.stdout);
            }
        }
    }
}
