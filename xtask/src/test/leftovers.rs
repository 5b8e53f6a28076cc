//! Whether a run left processes behind: each run gets a mark in its environment, which its children inherit.

use anyhow::Result;
use std::time::{Duration, Instant};

/// The environment variable that marks a run's processes.
pub const MARK: &str = "MCPTEST_TEST_RUN";

/// How long a killed process may take to leave the process table.
const GRACE: Duration = Duration::from_secs(2);

/// The processes that carry the mark, once those that are on their way out have gone.
pub fn of(mark: &str) -> Result<Vec<String>> {
    let start = Instant::now();
    loop {
        let found = marked(mark)?;
        if found.is_empty() || start.elapsed() > GRACE {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
fn marked(mark: &str) -> Result<Vec<String>> {
    let entry = format!("{MARK}={mark}");
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc")?.flatten() {
        let Ok(environment) = std::fs::read(process.path().join("environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes()) {
            let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            found.push(format!("{} {command}", process.file_name().to_string_lossy()));
        }
    }
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
fn marked(mark: &str) -> Result<Vec<String>> {
    let listing = crate::process::output(std::process::Command::new("ps").args(["-A", "-E", "-o", "pid,command"]))?;
    let entry = format!("{MARK}={mark}");
    Ok(listing.lines().filter(|line| line.contains(&entry)).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::{MARK, marked};
    use std::process::{Command, Stdio};

    #[test]
    fn a_marked_process_is_found_until_it_ends() {
        let mark = format!("leftovers-{}", std::process::id());
        let mut child = Command::new("cat").env(MARK, &mark).stdin(Stdio::piped()).spawn().unwrap();
        // The mark is there once the child runs its own program.
        while marked(&mark).unwrap().is_empty() {
            std::thread::yield_now();
        }
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(marked(&mark).unwrap(), Vec::<String>::new());
    }
}
