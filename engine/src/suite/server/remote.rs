//! The keys of a server behind a URL.

use super::parse::Definition;
use super::{Remote, Server};
use crate::mcp::transport::http::endpoint::{Auth, ClientCredentials, Flavour, parse_header, parse_url, shown_url};
use crate::mcp::transport::http::tls::Tls;
use crate::schema::{AUTH, TLS};
use crate::source::reader::{Fields, Given};
use crate::source::{Entry, Span};

/// Names of headers whose values are secrets, wherever they come from.
const SECRET_HEADERS: [&str; 5] = ["authorization", "cookie", "token", "key", "secret"];
/// Stands for a URL that a variable is missing of, where nobody is reached.
const NOWHERE: &str = "http://127.0.0.1/";
/// Keys that mean nothing without `url`.
const WITH_URL: [&str; 6] = ["headers", "auth", "tls", "waitForReady", "transport", "reinitialize"];

impl Definition<'_, '_> {
    /// How it is reached, when that is not its standard streams.
    pub(super) fn remote(&mut self, fields: &mut Fields, server: &mut Server) {
        let Some(given) = self.take(fields, "url") else { return self.without_url(fields) };
        let span = given.value.span;
        let Some(url) = self.reader.text(given) else { return };
        let mut remote = Remote::new(self.reachable("url", url, span));
        if let Some(given) = self.take(fields, "headers") {
            let entries = self.reader.entries(given);
            remote.headers = entries.into_iter().filter_map(|entry| self.header(entry)).collect();
        }
        if let Some(given) = self.take(fields, "auth") {
            remote.auth = self.auth(given);
        }
        if let Some(given) = self.take(fields, "tls") {
            remote.tls = self.tls(given);
        }
        remote.wait_for_ready = self.take(fields, "waitForReady").and_then(|given| self.reader.duration(given));
        if let Some(choice) = self.take(fields, "transport").and_then(|given| self.reader.choice(given)) {
            remote.flavour = [Flavour::Streamable, Flavour::Sse][choice];
        }
        if let Some(again) = self.take(fields, "reinitialize").and_then(|given| self.reader.boolean(given)) {
            server.reinitialize = again;
        }
        server.remote = Some(remote);
    }

    fn without_url(&mut self, fields: &mut Fields) {
        for key in WITH_URL {
            let Some(given) = self.take(fields, key) else { continue };
            let message = format!("`{key}` needs a `url`: this server is spoken to on its standard streams");
            self.reader.error(given.key_span, message);
        }
    }

    /// The URL, after its problems were told; where nobody is reached, one that lacks a part is another.
    fn reachable(&mut self, key: &str, url: String, span: Span) -> String {
        let known = url.replace("${port}", "1").replace("${tmp}", "tmp");
        match parse_url(&known) {
            Err(_) if self.played => return NOWHERE.to_owned(),
            Err(why) => {
                let diagnostic = self.reader.error(span, format!("`{key}` is `{}`: {why}", shown_url(&url)));
                diagnostic.hints.push("for example `http://127.0.0.1:8080/mcp`".to_owned());
            }
            Ok(_) => {}
        }
        url
    }

    fn header(&mut self, Entry { key, key_span, value }: Entry) -> Option<(String, String)> {
        let value = self.scalar(&format!("headers.{key}"), value)?;
        if let Err(why) = parse_header(&key, &value) {
            self.reader.error(key_span, why);
            return None;
        }
        let lower = key.to_ascii_lowercase();
        if SECRET_HEADERS.iter().any(|name| lower.contains(name)) {
            let bare = value.split_once(' ').map_or(value.as_str(), |(_, secret)| secret);
            self.secret(bare);
        }
        Some((key, value))
    }

    fn auth(&mut self, given: Given) -> Auth {
        let Some(mut fields) = self.reader.fields(given.value, &AUTH) else { return Auth::None };
        let head = fields.head();
        let bearer = self.variable_named(&mut fields, "bearerEnv", true);
        let id = self.variable_named(&mut fields, "clientIdEnv", false);
        let secret = self.variable_named(&mut fields, "clientSecretEnv", true);
        let token_url = self.take(&mut fields, "tokenUrl").and_then(|given| {
            let span = given.value.span;
            let url = self.reader.text(given)?;
            parse_url(&self.reachable("tokenUrl", url, span)).ok()
        });
        let scope = self.take(&mut fields, "scope").and_then(|given| self.reader.text(given));
        let resource = self.take(&mut fields, "resource").and_then(|given| self.reader.text(given));
        self.reader.finish(fields);
        match (bearer, token_url, id, secret) {
            (Some(token), None, None, None) => token.map_or(Auth::None, Auth::Bearer),
            (None, Some(token_url), Some(id), Some(secret)) => match id.zip(secret) {
                Some((client_id, client_secret)) => {
                    Auth::ClientCredentials(ClientCredentials { token_url, client_id, client_secret, scope, resource })
                }
                None => Auth::None,
            },
            _ => {
                let message = "`auth` needs `bearerEnv`, or `tokenUrl` with `clientIdEnv` and `clientSecretEnv`";
                self.reader.error(head, message).hints.push(format!("for example `auth: {}`", AUTH.example));
                Auth::None
            }
        }
    }

    /// The value of the environment variable that a key names: `None` without the key, `Some(None)` without a value.
    fn variable_named(&mut self, fields: &mut Fields, key: &str, secret: bool) -> Option<Option<String>> {
        let given = fields.take(key)?;
        let span = given.value.span;
        let Some(name) = self.reader.text(given) else { return Some(None) };
        let value = self.setting.environment.get(&name).map(str::to_owned).filter(|value| !value.is_empty());
        match &value {
            Some(value) if secret => self.secret(value),
            Some(_) => {}
            None if self.played => {}
            None => {
                let diagnostic = self.reader.error(span, format!("the environment variable `{name}` is not set"));
                diagnostic.hints.push(format!("`{key}` takes the name of a variable, not its value"));
            }
        }
        Some(value)
    }

    fn tls(&mut self, given: Given) -> Tls {
        let mut tls = Tls::default();
        let Some(mut fields) = self.reader.fields(given.value, &TLS) else { return tls };
        if let Some(given) = self.take(&mut fields, "caBundle") {
            let span = given.value.span;
            if let Some(text) = self.reader.text(given) {
                let path = self.setting.working_dir.join(self.reader.source.folder()).join(&text);
                if !path.is_file() {
                    let diagnostic = self.reader.error(span, format!("`caBundle`: `{text}` does not exist"));
                    diagnostic.hints.push("it is taken against this file's folder".to_owned());
                }
                tls.ca_bundle = Some(path);
            }
        }
        if let Some(given) = self.take(&mut fields, "verify") {
            let span = given.key_span;
            if self.reader.boolean(given) == Some(false) {
                tls.verify = false;
                let hint = "`caBundle` trusts the certificate that is meant".to_owned();
                match self.setting.environment.is_ci() {
                    true => self.reader.error(span, "`verify: false` is refused when `CI=true`"),
                    false => {
                        self.reader.warn(span, "`verify: false`: whoever answers is trusted, and gets every header")
                    }
                }
                .hints
                .push(hint);
            }
        }
        self.reader.finish(fields);
        tls
    }
}
