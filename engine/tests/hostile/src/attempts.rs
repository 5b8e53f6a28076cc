//! Attempts at what a sandbox has to refuse, or to stop.

use std::hint::black_box;
use std::io::Write;
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant, SystemTime};

/// Never returns.
pub fn spin() -> ! {
    let mut n = 0u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

/// Tries, and says what came of it.
pub fn attempt(way: &str, what: &str) -> String {
    match way {
        "loop" => spin(),
        "sleep" => {
            std::thread::sleep(Duration::from_secs(100_000));
            "slept".into()
        }
        "nap" => {
            std::thread::sleep(Duration::from_millis(20));
            "slept".into()
        }
        "memory" => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                hoard.push(black_box(vec![1; 1024 * 1024]));
            }
        }
        "stack" => format!("{}", deep(black_box(u64::MAX))),
        "frames" => format!("{}", wide(black_box(u64::MAX))),
        "panic" => panic!("told to panic, and to say so"),
        "exit" => std::process::exit(3),
        "exit-well" => std::process::exit(0),
        "stdout-flood" => {
            (0..20_000).for_each(|n| println!("{n} {}", "o".repeat(100)));
            "flooded".into()
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
        "env" => format!("{:?} of {} variables", std::env::var(what), std::env::vars().count()),
        "args" => format!("{} arguments", std::env::args().count()),
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
        "random" => {
            use std::hash::{BuildHasher, RandomState};
            format!("{:x} {:x}", RandomState::new().hash_one(1), RandomState::new().hash_one(2))
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

#[inline(never)]
fn deep(n: u64) -> u64 {
    if n == 0 { 0 } else { black_box(deep(black_box(n - 1))).wrapping_add(n) }
}

#[inline(never)]
fn wide(n: u64) -> u64 {
    let page = black_box([n; 4096]);
    if n == 0 { 0 } else { wide(black_box(n - 1)).wrapping_add(page[(n % 4096) as usize]) }
}
