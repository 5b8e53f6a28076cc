//! What a bare HTTP client library does: `http-client CALLS URL` posts `tools/call` so many times, one after the other.
//!
//! One connection of hyper, kept alive; each answer is read whole and looked through for its id. No handshake, no checks.

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use std::error::Error;
use tokio::net::TcpStream;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [calls, url] = args.as_slice() else { return Err("usage: http-client CALLS URL".into()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(call(calls.parse()?, url.parse()?))
}

async fn call(calls: usize, url: Uri) -> Result<(), Box<dyn Error>> {
    let authority = url.authority().ok_or("the URL has no host")?.to_string();
    let stream = TcpStream::connect(&authority).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    for id in 1..=calls {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"hello"}}}}}}"#
        );
        let request = Request::post(url.path())
            .header("host", &authority)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Full::new(Bytes::from(body)))?;
        sender.ready().await?;
        let answer = sender.send_request(request).await?.into_body().collect().await?.to_bytes();
        let text = std::str::from_utf8(&answer)?;
        if !text.contains(&format!("\"id\":{id},")) {
            return Err(format!("another answer than to {id}: {text}").into());
        }
    }
    Ok(())
}
