//! How the client shows who it is: bearer tokens, given or fetched with OAuth 2 client credentials.

use super::endpoint::ClientCredentials;
use super::wire::Wire;
use super::{outcome, request};
use crate::mcp::fault::{Code, Fault};
use crate::source::Json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};

/// More than any token answer: a server that sends more is none.
const MOST: usize = 256 * 1024;

/// The header of a bearer token.
pub(super) fn bearer(token: &str) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| Fault::new(Code::StartFailed, "the token cannot stand in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Who asks and its secret, as the header of basic authentication has them.
pub(super) fn basic(credentials: &ClientCredentials) -> String {
    STANDARD.encode(format!("{}:{}", encoded(&credentials.client_id), encoded(&credentials.client_secret)))
}

/// Fetches a token.
pub(super) async fn fetch(wire: &Wire, credentials: &ClientCredentials) -> Result<String, Fault> {
    let url = &credentials.token_url;
    let failed = |why: String| {
        Fault::new(Code::StartFailed, format!("no token from `{url}`: {why}"))
            .hint("`auth.tokenUrl`, `auth.clientIdEnv` and `auth.clientSecretEnv` say where it is fetched, and by whom")
    };
    let mut headers = HeaderMap::new();
    let basic = HeaderValue::from_str(&format!("Basic {}", basic(credentials)));
    headers.insert(AUTHORIZATION, basic.map_err(|error| failed(error.to_string()))?);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    let mut form = "grant_type=client_credentials".to_owned();
    for (name, value) in [("scope", &credentials.scope), ("resource", &credentials.resource)] {
        if let Some(value) = value {
            form.push_str(&format!("&{name}={}", encoded(value)));
        }
    }
    let request = request(Method::POST, url, headers, Bytes::from(form));
    let answer = wire.clone().send(request, url.clone()).await.map_err(|trouble| {
        let fault = failed(trouble.message);
        trouble.hint.into_iter().fold(fault, Fault::hint)
    })?;
    let status = answer.response.status();
    let body = answer.whole(MOST).await.map_err(failed)?;
    if !status.is_success() {
        let why = serde_json::from_slice::<Json>(&body).ok();
        let why = why.as_ref().and_then(|why| why.get("error")?.as_str()).map(|why| format!(" ({why})"));
        return Err(failed(format!("{}{}", outcome::status_text(status), why.unwrap_or_default())));
    }
    let answer: Json = serde_json::from_slice(&body).map_err(|_| failed("the answer is no JSON".to_owned()))?;
    match answer.get("access_token").and_then(Json::as_str).filter(|token| !token.is_empty()) {
        Some(token) => Ok(token.to_owned()),
        None => Err(failed("the answer has no `access_token`".to_owned())),
    }
}

/// A text as forms write it.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match plain(byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_written_byte_by_byte() {
        assert_eq!(encoded("a b&c=é~"), "a%20b%26c%3D%C3%A9~");
    }
}
