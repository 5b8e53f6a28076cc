//! Attempts at what a sandbox has to stop, by guests that reach for nothing outside.

use std::hint::black_box;
use std::io::Read;

/// Never returns.
pub fn spin() -> ! {
    let mut n = 0u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

/// Tries, and says what came of it; none when this is no way.
pub fn attempt(way: &str, what: &str) -> Option<String> {
    Some(match way {
        "loop" => spin(),
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
        "env" => format!("{:?} of {} variables", std::env::var(what), std::env::vars().count()),
        "args" => format!("{} arguments", std::env::args().count()),
        "random" => {
            use std::hash::{BuildHasher, RandomState};
            format!("{:x} {:x}", RandomState::new().hash_one(1), RandomState::new().hash_one(2))
        }
        "stdin" => format!("{} bytes of stdin", std::io::stdin().bytes().count()),
        _ => return None,
    })
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
