//! The flags.

use std::time::Duration;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
fixture-server [FLAG …], flags combine where that makes sense

start
  --exit-at-start CODE     says `cannot start` on stderr and exits
  --slow-start MS          reads nothing for that long
  --ready-line TEXT        writes TEXT to stderr before it reads anything
  --ready-after MS         … after that long
  --notify-before-init     sends a notification before the `initialize` result
  --ask-at-init METHOD     sends a request of METHOD before the `initialize` result
  --no-init-answer         never answers `initialize`
  --init-error             answers `initialize` with an error
  --bad-version VERSION    answers `initialize` with VERSION

the modern era
  --modern                 speaks 2026-07-28 too, and is locked into it by the first request of that era
  --modern-only            refuses `initialize`
  --discover-error CODE    answers `server/discover` with that error, and goes on in the legacy era
  --discover-exits         exits with code 1 at `server/discover`
  --discover-revisions A,B answers `server/discover` with -32022 and these revisions
  --discover-twice         the same the first time, with the revision that it was asked for
  --init-once              answers `initialize` only when it is the very first request
  --ask-rounds N           tools/call asks for input N times before it answers
  --polled MODE            tools/call becomes a task when the client declares the extension, and comes to MODE: done,
                           asks, fails, cancelled, endless, lost, odd, empty, nameless; forced: undeclared too

HTTP instead of stdio
  --http PORT              listens on PORT of 127.0.0.1, any path; all flags but --pid-file and --slow-start are for stdio
  --http-mode MODE         what tools/call does: echo (the default), headers (tells the request's), events (a stream),
                           plain-error, truncated-sse, slow-body, wrong-type, session-lost, redirect-loop, huge,
                           half-closed, no-http, endless-body|-error|-event|-comments|-events,
                           resume (the stream ends before the answer), resume-refused, close-after, gateway (an error
                           that is no JSON-RPC), packed, busy (429), cut-event (the stream ends without an empty line),
                           session-lost-rpc (the 404 is JSON-RPC), listen (asks on the standalone stream first),
                           astray (answers there), accepted (202 with an answer), broken-result (500 with one),
                           renamed (names another session), packed-events, picky (refuses notifications),
                           dies, dies-midway (the process ends), keeps-session (405 to DELETE);
                           close-each: every connection serves one request;
                           sse, sse-ends, sse-elsewhere, sse-refused, sse-posted: the transport of 2024-11-05;
                           modern: all of it is 2026-07-28, and headers must match

answers
  --hang-on METHOD         never answers METHOD (repeatable)
  --refuse METHOD          answers METHOD with an error (repeatable)
  --odd-names              lists a tool and prompts whose names mean something in a suite
  --crash-at N             exits with code 70 at the n-th request, `initialize` being the first
  --leave-at N             exits with code 7 after it has answered the n-th tools/call
  --late MS                answers the first tools/call that much later; the others at once
  --out-of-order           answers pairs of tools/call in reverse; a single one after 100 ms
  --wrong-id               answers tools/call with another id
  --duplicate-reply        answers everything twice
  --huge-line BYTES        answers tools/call with a text of BYTES
  --batch                  answers tools/call in a JSON array, after a notification
  --invalid-utf8           ends the texts of tools/call with the byte FF
  --lone-surrogate         ends the texts of tools/call with the escape \\ud83d
  --deep N                 nests N arrays in the structured content of tools/call
  --number TEXT            puts TEXT, unquoted, into the structured content of tools/call
  --close-stdout           closes stdout at the first tools/call, and lives until EOF
  --page-size N            lists N tools per page
  --last-page JSON         answers with JSON instead of the last page of tools
  --result JSON            answers tools/call with JSON as its result

bytes
  --bom                    begins with a byte order mark
  --crlf                   ends lines with CR LF
  --split-writes           writes byte by byte
  --garbage                writes a line that is no JSON before every message
  --noisy-stdout           writes a log line to stdout before every message
  --noisy-stderr           writes a log line to stderr before every message
  --flood-stderr BYTES     writes BYTES to stderr before every answer to tools/call
  --flood-stdout LINES     writes LINES of text to stdout before every answer to tools/call

end
  --ignore-eof             goes on living when stdin ends
  --linger MS              ends that long after stdin does
  --ignore-term            ignores SIGTERM
  --die-on-eof-code CODE   exits with CODE when stdin ends
  --fork-child             starts a process that outlives it and holds its streams open
  --setsid-child           starts a process in another session that outlives it, orphaned
  --pid-file PATH          appends its process id, and those of the processes it starts";

/// The flags, parsed.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) exit_at_start: Option<i32>,
    pub(crate) slow_start: Duration,
    pub(crate) ready_line: Option<String>,
    pub(crate) ready_after: Duration,
    pub(crate) notify_before_init: bool,
    pub(crate) ask_at_init: Option<String>,
    pub(crate) no_init_answer: bool,
    pub(crate) init_error: bool,
    pub(crate) bad_version: Option<String>,
    pub(crate) modern: bool,
    pub(crate) modern_only: bool,
    pub(crate) discover_error: Option<i64>,
    pub(crate) discover_exits: bool,
    pub(crate) discover_revisions: Option<String>,
    pub(crate) discover_twice: bool,
    pub(crate) init_once: bool,
    pub(crate) ask_rounds: Option<usize>,
    pub(crate) polled: Option<String>,
    pub(crate) http: Option<u16>,
    pub(crate) http_mode: String,
    pub(crate) hang_on: Vec<String>,
    pub(crate) refuse: Vec<String>,
    pub(crate) odd_names: bool,
    pub(crate) crash_at: Option<usize>,
    pub(crate) leave_at: Option<usize>,
    pub(crate) late: Option<Duration>,
    pub(crate) out_of_order: bool,
    pub(crate) wrong_id: bool,
    pub(crate) duplicate_reply: bool,
    pub(crate) huge_line: Option<usize>,
    pub(crate) batch: bool,
    pub invalid_utf8: bool,
    pub(crate) lone_surrogate: bool,
    pub(crate) deep: Option<usize>,
    pub(crate) number: Option<String>,
    pub(crate) close_stdout: bool,
    pub(crate) page_size: Option<usize>,
    pub(crate) last_page: Option<String>,
    pub(crate) result: Option<String>,
    pub(crate) bom: bool,
    pub(crate) crlf: bool,
    pub(crate) split_writes: bool,
    pub(crate) garbage: bool,
    pub(crate) noisy_stdout: bool,
    pub(crate) noisy_stderr: bool,
    pub(crate) flood_stderr: usize,
    pub(crate) flood_stdout: usize,
    pub(crate) ignore_eof: bool,
    pub(crate) linger: Duration,
    pub(crate) ignore_term: bool,
    pub(crate) die_on_eof_code: i32,
    pub(crate) fork_child: bool,
    pub(crate) setsid_child: bool,
    pub(crate) pid_file: Option<String>,
}

impl Options {
    /// Reads the arguments, or says what is wrong with them.
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        while let Some(flag) = args.next() {
            if flag == "--help" {
                println!("{HELP}");
                std::process::exit(0);
            }
            if let Some(switch) = options.switch(&flag) {
                *switch = true;
                continue;
            }
            let value = args.next().ok_or(format!("`{flag}` is unknown, or lacks its value"))?;
            options.set(&flag, value)?;
        }
        Ok(options)
    }

    fn switch(&mut self, flag: &str) -> Option<&mut bool> {
        Some(match flag {
            "--notify-before-init" => &mut self.notify_before_init,
            "--no-init-answer" => &mut self.no_init_answer,
            "--init-error" => &mut self.init_error,
            "--modern" => &mut self.modern,
            "--modern-only" => &mut self.modern_only,
            "--discover-exits" => &mut self.discover_exits,
            "--discover-twice" => &mut self.discover_twice,
            "--init-once" => &mut self.init_once,
            "--odd-names" => &mut self.odd_names,
            "--out-of-order" => &mut self.out_of_order,
            "--wrong-id" => &mut self.wrong_id,
            "--duplicate-reply" => &mut self.duplicate_reply,
            "--batch" => &mut self.batch,
            "--invalid-utf8" => &mut self.invalid_utf8,
            "--lone-surrogate" => &mut self.lone_surrogate,
            "--close-stdout" => &mut self.close_stdout,
            "--bom" => &mut self.bom,
            "--crlf" => &mut self.crlf,
            "--split-writes" => &mut self.split_writes,
            "--garbage" => &mut self.garbage,
            "--noisy-stdout" => &mut self.noisy_stdout,
            "--noisy-stderr" => &mut self.noisy_stderr,
            "--ignore-eof" => &mut self.ignore_eof,
            "--ignore-term" => &mut self.ignore_term,
            "--fork-child" => &mut self.fork_child,
            "--setsid-child" => &mut self.setsid_child,
            _ => return None,
        })
    }

    fn set(&mut self, flag: &str, value: String) -> Result<(), String> {
        match flag {
            "--exit-at-start" => self.exit_at_start = Some(number(flag, &value)?),
            "--linger" => self.linger = millis(flag, &value)?,
            "--slow-start" => self.slow_start = millis(flag, &value)?,
            "--ready-line" => self.ready_line = Some(value),
            "--ready-after" => self.ready_after = millis(flag, &value)?,
            "--ask-at-init" => self.ask_at_init = Some(value),
            "--bad-version" => self.bad_version = Some(value),
            "--discover-error" => self.discover_error = Some(number(flag, &value)?),
            "--discover-revisions" => self.discover_revisions = Some(value),
            "--ask-rounds" => self.ask_rounds = Some(number(flag, &value)?),
            "--polled" => self.polled = Some(value),
            "--http" => self.http = Some(number(flag, &value)?),
            "--http-mode" => self.http_mode = value,
            "--hang-on" => self.hang_on.push(value),
            "--refuse" => self.refuse.push(value),
            "--crash-at" => self.crash_at = Some(number(flag, &value)?),
            "--leave-at" => self.leave_at = Some(number(flag, &value)?),
            "--late" => self.late = Some(millis(flag, &value)?),
            "--huge-line" => self.huge_line = Some(number(flag, &value)?),
            "--deep" => self.deep = Some(number(flag, &value)?),
            "--number" => self.number = Some(value),
            "--page-size" => self.page_size = Some(number(flag, &value)?),
            "--last-page" => self.last_page = Some(value),
            "--result" => self.result = Some(value),
            "--flood-stderr" => self.flood_stderr = number(flag, &value)?,
            "--flood-stdout" => self.flood_stdout = number(flag, &value)?,
            "--die-on-eof-code" => self.die_on_eof_code = number(flag, &value)?,
            "--pid-file" => self.pid_file = Some(value),
            _ => return Err(format!("`{flag}` is unknown")),
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(flag: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("`{flag} {value}`: not a number"))
}

fn millis(flag: &str, value: &str) -> Result<Duration, String> {
    number(flag, value).map(Duration::from_millis)
}
