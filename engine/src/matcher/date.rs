//! `$dateAfter $dateBefore` `$dateBetween` `$dateWithin` `$dateFormat`.

mod format;
mod instant;
mod parse;
mod spelt;

pub(super) use format::{Format, NAMES};
pub(super) use parse::{duration, of_json, of_text, written};

use super::argument::Call;
use super::leaf::{Leaf, Rule, Verdict};
use super::tree::Tree;
use crate::source::{Json, Node};
use instant::Instant;
use jiff::SignedDuration;

/// A moment that a suite names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moment {
    At(Instant),
    /// `now`, `now-5s`: taken when the check runs.
    FromNow(SignedDuration),
}

impl Moment {
    pub(super) fn parse(text: &str) -> Option<Moment> {
        let Some(offset) = text.trim().strip_prefix("now") else { return of_text(text).map(Moment::At) };
        let offset = offset.trim();
        match offset.chars().next() {
            None => Some(Moment::FromNow(SignedDuration::ZERO)),
            Some('-') => duration(offset[1..].trim()).map(|by| Moment::FromNow(-by)),
            Some('+') => duration(offset[1..].trim()).map(Moment::FromNow),
            Some(_) => None,
        }
    }

    /// The moment, for a sentence: what is taken from the clock without its last digits.
    fn show(self) -> Instant {
        let at = self.get();
        match self {
            Moment::At(_) => at,
            Moment::FromNow(_) => at.rounded(),
        }
    }

    fn get(self) -> Instant {
        match self {
            Moment::At(at) => at,
            Moment::FromNow(by) => Instant::now().plus(by),
        }
    }
}

/// The span of time in which a date must lie.
#[derive(Debug)]
pub(super) enum Span {
    After(Moment),
    Before(Moment),
    /// Inclusive.
    Between(Moment, Moment),
    Within {
        of: Moment,
        by: SignedDuration,
    },
    /// No older than.
    Age(SignedDuration),
    /// Exactly.
    Equal(Moment),
    /// Any date.
    Any,
}

impl Span {
    fn holds(&self, at: Instant) -> bool {
        match self {
            Span::After(bound) => at > bound.get(),
            Span::Before(bound) => at < bound.get(),
            Span::Between(from, to) => from.get() <= at && at <= to.get(),
            Span::Within { of, by } => at.since(of.get()).abs() <= *by,
            Span::Age(oldest) => Instant::now().since(at) <= *oldest,
            Span::Equal(moment) => at == moment.get(),
            Span::Any => true,
        }
    }

    fn reason(&self, at: Instant) -> String {
        match self {
            Span::After(bound) => format!("{at} is not after {}", bound.show()),
            Span::Before(bound) => format!("{at} is not before {}", bound.show()),
            Span::Between(from, to) => format!("{at} is not between {} and {}", from.show(), to.show()),
            Span::Within { of, .. } => {
                format!("{at} is {} away from {}", about(at.since(of.get())), of.show())
            }
            Span::Age(_) => format!("{at} is {} ago", about(Instant::now().since(at))),
            Span::Equal(moment) => format!("{at} is not {}", moment.show()),
            Span::Any => String::new(),
        }
    }
}

/// A length of time in its two largest units.
fn about(length: SignedDuration) -> String {
    let (seconds, milliseconds) = (length.as_secs().unsigned_abs(), length.subsec_millis().unsigned_abs());
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{}s", seconds as f64 + f64::from(milliseconds) / 1000.0),
        (0, 0, minutes) => format!("{minutes}m {}s", seconds % 60),
        (0, hours, minutes) => format!("{hours}h {}m", minutes % 60),
        (days, hours, _) => format!("{days}d {}h", hours % 24),
    }
}

impl Rule for Span {
    fn judge(&self, actual: &Json) -> Verdict {
        match (of_json(actual), actual) {
            (Some(at), _) => self.holds(at).into(),
            (None, Json::String(_) | Json::Number(_)) => Verdict::Fails,
            _ => Verdict::Needs("a date"),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        match of_json(actual) {
            Some(at) => self.reason(at),
            None => format!("{} is not a date", super::shown::inline(actual, 60)),
        }
    }
}

pub(super) fn after(mut call: Call<'_, '_>) -> Option<Tree> {
    let moment = moment(&mut call, None)?;
    Some(Leaf::tree(call.head(), Span::After(moment)))
}

pub(super) fn before(mut call: Call<'_, '_>) -> Option<Tree> {
    let moment = moment(&mut call, None)?;
    Some(Leaf::tree(call.head(), Span::Before(moment)))
}

pub(super) fn between(mut call: Call<'_, '_>) -> Option<Tree> {
    let [from, to] = call.pair("two dates")?;
    let (from, to) = (moment(&mut call, Some(&from))?, moment(&mut call, Some(&to))?);
    if from.get() > to.get() {
        return call.bad(call.node.span, "the first date of `$dateBetween` is after the second");
    }
    Some(Leaf::tree(call.head(), Span::Between(from, to)))
}

pub(super) fn within(mut call: Call<'_, '_>) -> Option<Tree> {
    let node = call.node;
    let (of, by) = match node.entries() {
        None => (Moment::FromNow(SignedDuration::ZERO), Some(node)),
        Some(_) => {
            call.options(&["of", "by"])?;
            let of = node.get("of").map(|of| moment(&mut call, Some(of)));
            (of.unwrap_or(Some(Moment::FromNow(SignedDuration::ZERO)))?, node.get("by"))
        }
    };
    let Some(by) = by else { return call.bad(node.span, "`$dateWithin` needs `by`, a duration") };
    match by.as_str().and_then(duration) {
        Some(length) => Some(Leaf::tree(call.head(), Span::Within { of, by: length })),
        None => call.bad(by.span, "`$dateWithin` takes a duration such as `5s`, `10m` or `1d`"),
    }
}

pub(super) fn format(mut call: Call<'_, '_>) -> Option<Tree> {
    let name = call.text()?;
    match Format::parse(&name) {
        Some(format) => Some(Leaf::tree(call.head(), format)),
        None => {
            let known = NAMES.join("`, `");
            let message =
                format!("there is no date format `{name}`; there are `{known}`, and patterns with `%Y %m %d`");
            call.bad(call.node.span, message)
        }
    }
}

fn moment(call: &mut Call<'_, '_>, node: Option<&Node>) -> Option<Moment> {
    let node = node.unwrap_or(call.node);
    let moment = match node.to_json() {
        Json::String(text) => Moment::parse(&text),
        number @ Json::Number(_) => of_json(&number).map(Moment::At),
        _ => None,
    };
    match moment {
        Some(moment) => Some(moment),
        None => {
            let message = format!("`{}` takes dates such as `2026-01-31T12:00:00Z`, `now` or `now-5s`", call.name());
            call.bad(node.span, message)
        }
    }
}
