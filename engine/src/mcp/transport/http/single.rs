//! One POST beside every conversation, on a connection of its own.

use super::outcome::{Head, Trouble};
use super::request;
use super::tls::Tls;
use super::wire::Wire;
use bytes::Bytes;
use hyper::header::HeaderMap;
use hyper::{Method, Uri};

/// Posts `body` to `url`; the head of the answer. What follows it is not read, and redirects are not followed.
pub async fn post(url: &Uri, tls: &Tls, headers: HeaderMap, body: Bytes) -> Result<Head, Trouble> {
    let request = request(Method::POST, url, headers, body);
    let answer = Wire::new(tls.clone()).send(request, url.clone()).await?;
    Ok(Head::of(&answer.response))
}
