//! Time, memory and CPU of whole processes.

use crate::process::line;
use anyhow::{Context, Result, bail, ensure};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The wall times of one contestant.
pub struct Sample {
    times: Vec<Duration>,
}

impl Sample {
    /// The middle one.
    pub fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    /// The same in milliseconds.
    pub fn milliseconds(&self) -> f64 {
        self.median().as_secs_f64() * 1e3
    }

    /// How far the slowest is from the fastest, against the median.
    pub fn spread(&self) -> f64 {
        let least = self.times.iter().min().copied().unwrap_or_default();
        let most = self.times.iter().max().copied().unwrap_or_default();
        (most - least).as_secs_f64() / self.median().as_secs_f64()
    }
}

/// Runs the contestants in turn, so often, after one round that does not count.
pub fn interleaved<const N: usize>(
    rounds: usize,
    mut contestants: [&mut dyn FnMut() -> Command; N],
) -> Result<[Sample; N]> {
    let mut samples = [(); N].map(|()| Sample { times: Vec::new() });
    for round in 0..=rounds {
        for (contestant, sample) in contestants.iter_mut().zip(&mut samples) {
            let mut command = contestant();
            let start = Instant::now();
            let status = quiet(&mut command).status().with_context(|| format!("cannot run `{}`", line(&command)))?;
            let time = start.elapsed();
            ensure!(status.success(), "`{}` ended with {status}", line(&command));
            if round > 0 {
                sample.times.push(time);
            }
        }
    }
    Ok(samples)
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

/// The most memory a process held, from the kernel's high-water mark, read until it ends.
pub fn peak_memory(command: &mut Command) -> Result<u64> {
    let mut child = quiet(command).spawn()?;
    let mut peak = 0;
    while !is_over(&child)? {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
        let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = mark.and_then(|mark| mark.trim().strip_suffix(" kB")).and_then(|mark| mark.parse::<u64>().ok());
        peak = kilobytes.map_or(peak, |kilobytes| kilobytes * 1024);
        std::thread::sleep(Duration::from_millis(1));
    }
    succeed(&mut child, command)?;
    Ok(peak)
}

/// The CPU time a process took, in user and system mode.
pub fn cpu_time(command: &mut Command) -> Result<Duration> {
    let mut child = quiet(command).spawn()?;
    while !is_over(&child)? {
        std::thread::sleep(Duration::from_millis(1));
    }
    let fields = stat(&child)?;
    let ticks: u64 = [11, 12].iter().filter_map(|index| fields.get(*index)?.parse::<u64>().ok()).sum();
    succeed(&mut child, command)?;
    // Linux counts in hundredths of a second, whatever its own clock is (USER_HZ).
    Ok(Duration::from_millis(ticks * 10))
}

/// Whether a process has ended; it is not waited for, so that its figures can still be read.
fn is_over(child: &Child) -> Result<bool> {
    Ok(stat(child)?.first().is_some_and(|state| state == "Z"))
}

/// The fields of /proc/PID/stat from the state on.
fn stat(child: &Child) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).context("this needs Linux's /proc")?;
    let Some((_, fields)) = text.rsplit_once(')') else { bail!("cannot read {text}") };
    Ok(fields.split_whitespace().map(str::to_owned).collect())
}

fn succeed(child: &mut Child, command: &Command) -> Result<()> {
    let status = child.wait()?;
    ensure!(status.success(), "`{}` ended with {status}", line(command));
    Ok(())
}
