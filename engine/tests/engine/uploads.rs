//! Events of a coprocess, posted: over HTTP and HTTPS, again when the trouble may pass, and never with the token in sight.

use crate::coprocess::Peer;
use crate::kit::Place;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

const TOKEN: &str = "t0ken-of-the-upload";

/// A server that gives each connection one of the answers; the heads and bodies that it got.
fn serve(tls: Option<Arc<ServerConfig>>, answers: &'static [&'static str]) -> (u16, JoinHandle<Vec<(String, String)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let served = std::thread::spawn(move || {
        let connections = answers.iter().map(|answer| (listener.accept().expect("a connection").0, answer));
        let exchange = |(stream, answer): (TcpStream, &&str)| match &tls {
            None => exchange(stream, answer),
            Some(tls) => {
                let session = ServerConnection::new(tls.clone()).expect("a session");
                exchange(StreamOwned::new(session, stream), answer)
            }
        };
        connections.filter_map(exchange).collect()
    });
    (port, served)
}

/// Nothing when the client hangs up first.
fn exchange(stream: impl Read + Write, answer: &str) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.replace("\r\n", "\n");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let mut body = vec![0; length.parse().expect("a number")];
    reader.read_exact(&mut body).expect("a body");
    let reply = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n");
    reader.get_mut().write_all(reply.as_bytes()).expect("an answer");
    Some((head, String::from_utf8(body).expect("text")))
}

/// A certificate for `localhost` as PEM, and the server that has it.
fn certified() -> (String, Arc<ServerConfig>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a config");
    (made.cert.pem(), Arc::new(config))
}

/// A session with one call, which said the token.
fn peer(place: &Place) -> Peer {
    let mut command = place.command(&["exec", "--connection-server", "--server-command", "mcptest demo-server"]);
    command.env("UPLOAD_TOKEN", TOKEN).env("SSL_CERT_FILE", place.path("trusted.pem"));
    let mut peer = Peer::spawn(command);
    peer.call("echo", json!({ "message": TOKEN }));
    peer
}

fn flush_to(peer: &mut Peer, url: &str) -> Value {
    let set = peer.ask("mcp.reporter.setUpload", json!({"url": url, "token_env": "UPLOAD_TOKEN"}));
    assert_eq!(set["result"]["ok"], true, "{set}");
    peer.ask("mcp.reporter.flush", json!({}))
}

#[test]
fn events_are_posted_and_a_passing_trouble_is_tried_again() {
    let (pem, config) = certified();
    for (scheme, tls) in [("http", None), ("https", Some(config))] {
        let (port, served) = serve(tls, &["503 Later", "204 No Content"]);
        let place = Place::new();
        place.write("trusted.pem", &pem);
        let mut peer = peer(&place);
        let url = format!("{scheme}://localhost:{port}/events?run=1");
        let flushed = flush_to(&mut peer, &url);
        assert_eq!(flushed["result"]["to"], url, "{flushed}");
        let bodies = served.join().expect("it serves");
        let (head, body) = &bodies[1];
        assert!(head.starts_with("POST /events?run=1 HTTP/1.1\n"), "{head}");
        assert!(head.contains(&format!("\nauthorization: Bearer {TOKEN}\n")), "{head}");
        assert!(head.contains("\ncontent-type: application/x-ndjson\n"), "{head}");
        assert_eq!(*body, bodies[0].1);
        assert!(!body.contains(TOKEN) && body.contains("[redacted]"), "{body}");
        let types: Vec<Value> =
            body.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["type"].clone()).collect();
        assert_eq!(flushed["result"]["events"], types.len());
        assert!(types.contains(&"session-opened".into()) && types.contains(&"frame".into()), "{types:?}");
        // Nobody listens any more, and nothing is left to be said.
        let nothing = peer.ask("mcp.reporter.flush", json!({}));
        assert_eq!(nothing["result"], json!({ "events": 0, "to": url }), "{nothing}");
        peer.end();
    }
}

#[test]
fn a_server_that_is_not_trusted_gets_nothing_and_is_asked_once() {
    let (_, config) = certified();
    let (port, served) = serve(Some(config), &["204 No Content"]);
    let place = Place::new();
    place.write("trusted.pem", &certified().0);
    let mut peer = peer(&place);
    let url = format!("https://localhost:{port}/");
    let refused = flush_to(&mut peer, &url);
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with(&format!("the events could not be posted to `{url}`: no TLS connection")), "{message}");
    assert!(message.contains("`SSL_CERT_FILE`") && !message.contains(TOKEN), "{message}");
    assert_eq!(served.join().expect("it serves").len(), 0);
    let (port, served) = serve(None, &["204 No Content"]);
    let flushed = flush_to(&mut peer, &format!("http://localhost:{port}/"));
    assert!(flushed["result"]["events"].as_u64() > Some(0), "what was not posted is kept: {flushed}");
    assert_eq!(served.join().expect("it serves").len(), 1);
    peer.end();
}

#[test]
fn what_will_not_pass_is_not_tried_again_and_no_secret_is_repeated() {
    let place = Place::new();
    place.write("trusted.pem", "");
    let mut peer = peer(&place);
    for (answer, said) in [
        (&["401 Unauthorized"], "the answer was `401 Unauthorized`;"),
        (
            &["308 Moved\r\nLocation: https://elsewhere/"],
            "`308 Permanent Redirect`, which leads to `https://elsewhere/`;",
        ),
    ] {
        let (port, served) = serve(None, answer);
        let refused = flush_to(&mut peer, &format!("http://localhost:{port}/"));
        let message = refused["error"]["message"].as_str().expect("a message");
        assert!(message.contains(said) && !message.contains(TOKEN), "{message}");
        assert_eq!(served.join().expect("it serves").len(), 1);
    }
    let refused = peer.ask("mcp.reporter.setUpload", json!({"url": "https://me:s3cret@host/"}));
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("`token_env`") && !message.contains("s3cret"), "{message}");
    peer.end();
}
