//! Attempts at what a sandbox has to refuse: files, links, sockets, names, clocks.

use std::io::Write;
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant, SystemTime};

/// Tries, and says what came of it.
pub fn attempt(way: &str, what: &str) -> String {
    match way {
        "sleep" => {
            std::thread::sleep(Duration::from_secs(100_000));
            "slept".into()
        }
        "nap" => {
            std::thread::sleep(Duration::from_millis(20));
            "slept".into()
        }
        "read" => said(std::fs::read_to_string(what).map(|text| text.len().to_string())),
        "hoard" => {
            let mut hoard = Vec::new();
            loop {
                match std::fs::File::open(what) {
                    Ok(file) => hoard.push(file),
                    Err(error) => return format!("refused: {:?} after {}", error.kind(), hoard.len()),
                }
            }
        }
        "list" => said(std::fs::read_dir(what).map(|entries| entries.count().to_string())),
        "write" => said(std::fs::write(what, "written by a guest").map(|()| "written".into())),
        "remove" => said(std::fs::remove_file(what).map(|()| "removed".into())),
        #[expect(deprecated, reason = "what the target has otherwise is unstable")]
        "symlink" => said(std::fs::soft_link("../outside/file", what).map(|()| "linked".into())),
        "link" => said(std::fs::hard_link(what, format!("{what}.linked")).map(|()| "linked".into())),
        "tcp" => said(TcpStream::connect(what).and_then(|mut stream| {
            stream.write_all(b"hello")?;
            Ok("connected".into())
        })),
        "listen" => said(TcpListener::bind(what).map(|_| "listening".into())),
        "udp" => said(UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
            socket.connect(what)?;
            socket.send(b"hello").map(|sent| format!("sent {sent}"))
        })),
        "dns" => said((what, 80).to_socket_addrs().map(|addresses| format!("{} addresses", addresses.count()))),
        "clock" => {
            let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let start = Instant::now();
            let passed = start.elapsed();
            format!("{} {}", wall.as_nanos(), passed.as_nanos())
        }
        other => format!("there is no way `{other}`"),
    }
}

fn said(result: std::io::Result<String>) -> String {
    match result {
        Ok(text) => format!("ok: {text}"),
        Err(error) => format!("refused: {:?}", error.kind()),
    }
}
