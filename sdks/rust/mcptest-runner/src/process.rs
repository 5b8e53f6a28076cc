//! The binary as a process: lines in, lines out, the end of its stderr, and an end that is bounded in time.
//!
//! Three threads move the bytes, so that a binary that neither reads nor writes blocks none of them for longer than the
//! deadline of the call.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest line that is read: a message of a server has 64 MiB at most, and an answer may hold it more than once.
pub(crate) const LINE_LIMIT: usize = 256 << 20;
/// How long a binary that was told to end by a signal has for it: it stops the server first, which takes up to two stages of 2 s.
const GRACE: Duration = Duration::from_secs(6);
/// How often a process that is ending is looked at.
const LOOK: Duration = Duration::from_millis(2);
/// How much of stderr is kept.
const KEPT: usize = 8 << 10;

/// A line that the binary wrote, or what came instead.
pub(crate) enum Line {
    /// A line without its end.
    Text(Vec<u8>),
    /// More than [`LINE_LIMIT`] bytes without an end.
    TooLong,
}

/// What came within the deadline.
pub(crate) enum Came {
    /// A line.
    Line(Line),
    /// The end of stdout.
    End,
    /// Nothing.
    Nothing,
}

/// A running binary.
pub(crate) struct Process {
    child: Child,
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Line>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    stderr_ended: Receiver<()>,
}

impl Process {
    /// Starts a command with its three streams piped.
    pub(crate) fn start(command: &mut Command) -> std::io::Result<Process> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (input, lines) = channel();
        let (written, output) = sync_channel(1);
        let (ended, stderr_ended) = channel();
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(pipe) = child.stdin.take() {
            thread::spawn(move || write_lines(pipe, &lines));
        }
        if let Some(pipe) = child.stdout.take() {
            thread::spawn(move || read_lines(pipe, &written));
        }
        if let Some(pipe) = child.stderr.take() {
            let kept = stderr.clone();
            thread::spawn(move || {
                keep_end(pipe, &kept);
                let _ = ended.send(());
            });
        }
        Ok(Process { child, input: Some(input), output, stderr, stderr_ended })
    }

    /// Hands a line to the thread that writes; a binary that does not read is noticed by the deadline of the answer.
    pub(crate) fn send(&self, line: Vec<u8>) {
        if let Some(input) = &self.input {
            let _ = input.send(line);
        }
    }

    /// The next line.
    pub(crate) fn receive(&self, limit: Duration) -> Came {
        match self.output.recv_timeout(limit) {
            Ok(line) => Came::Line(line),
            Err(RecvTimeoutError::Disconnected) => Came::End,
            Err(RecvTimeoutError::Timeout) => Came::Nothing,
        }
    }

    /// Closes stdin, which tells the binary to stop the server and to end; kills it when it does not.
    pub(crate) fn stop(&mut self) -> Option<ExitStatus> {
        self.input = None;
        if let Some(status) = self.wait(GRACE) {
            return Some(status);
        }
        let _ = self.child.kill();
        self.child.wait().ok()
    }

    /// The same for a binary that was asked to end, with time for what suites still have to take down: after that it is told
    /// by a signal. Whether it ended by itself.
    pub(crate) fn stop_within(&mut self, patience: Duration) -> bool {
        self.input = None;
        let ended = self.wait(patience).is_some();
        if !ended {
            // There is nothing in std for any other signal than SIGKILL.
            let pid = self.child.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &pid]).stdin(Stdio::null()).stderr(Stdio::null()).status();
            self.stop();
        }
        ended
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(status)) => return Some(status),
                Err(_) => break,
            }
        }
        None
    }

    /// The end of its stderr; complete once the process has ended.
    pub(crate) fn stderr(&self) -> String {
        // A server that inherited the pipe may hold it open.
        let _ = self.stderr_ended.recv_timeout(Duration::from_millis(200));
        let kept: Vec<u8> = self.stderr.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&kept).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// `exit code 1`, `signal 9`.
pub(crate) fn describe(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "an unknown status".to_owned() };
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

fn write_lines(mut pipe: ChildStdin, lines: &Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if pipe.write_all(&line).and_then(|()| pipe.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(pipe: ChildStdout, written: &SyncSender<Line>) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        let read = (&mut pipe).take(LINE_LIMIT as u64 + 1).read_until(b'\n', &mut line);
        if !read.is_ok_and(|count| count > 0) {
            return;
        }
        let whole = line.pop_if(|last| *last == b'\n').is_some();
        // What has no end when the binary ends is no line.
        if !whole && line.len() <= LINE_LIMIT {
            return;
        }
        if written.send(if whole { Line::Text(line) } else { Line::TooLong }).is_err() || !whole {
            return;
        }
    }
}

fn keep_end(mut pipe: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&buffer[..count]);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
}
