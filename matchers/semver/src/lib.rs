//! `$semver`: text is a semantic version that fulfils a requirement.
//!
//! ```yaml
//! version: { $semver: ">=1.2, <2" }      # or ^1.2, ~1.2.3, =1.2.3, 1.*
//! version: { $semver: true }             # any version
//! version: { $semver: { matches: "^1", prerelease: false, build: false } }
//! ```
//!
//! A requirement without an operator means `^`: `1.2` takes `1.9`, not `2.0`. A prerelease fulfils a requirement only
//! when that names a prerelease of the same version.

use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, export_matcher, text};
use semver_version::{Version, VersionReq};
use serde::Deserialize;

#[derive(Default)]
struct Semver {
    requirement: Option<VersionReq>,
    prerelease: Option<bool>,
    build: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    matches: Option<String>,
    prerelease: Option<bool>,
    build: Option<bool>,
}

impl Matcher for Semver {
    const NAME: &'static str = "semver";
    const SUMMARY: &'static str = "text is a semantic version that fulfils a requirement";

    fn prepare(expected: &Value) -> Result<Semver, Failure> {
        match expected {
            Value::Bool(true) => Ok(Semver::default()),
            Value::String(requirement) => Ok(Semver { requirement: Some(parse(requirement)?), ..Semver::default() }),
            _ => {
                let Argument { matches, prerelease, build } = decode(expected)?;
                Ok(Semver { requirement: matches.as_deref().map(parse).transpose()?, prerelease, build })
            }
        }
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Semver {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let version = Version::parse(text(actual)?)
            .map_err(|error| Mismatch::new(format_args!("expected a semantic version: {error}")))?;
        if let Some(requirement) = self.requirement.as_ref().filter(|requirement| !requirement.matches(&version)) {
            return Err(Mismatch::new(format_args!("expected a version that fulfils `{requirement}`")));
        }
        has("prerelease", version.pre.as_str(), self.prerelease)?;
        has("build metadata", version.build.as_str(), self.build)
    }
}

fn has(what: &str, found: &str, wanted: Option<bool>) -> Result<(), Mismatch> {
    match wanted {
        Some(true) if found.is_empty() => Err(Mismatch::new(format_args!("expected a version with a {what} part"))),
        Some(false) if !found.is_empty() => {
            Err(Mismatch::new(format_args!("expected a version without a {what} part, got `{found}`")))
        }
        _ => Ok(()),
    }
}

fn parse(requirement: &str) -> Result<VersionReq, Failure> {
    VersionReq::parse(requirement)
        .map_err(|error| Failure::invalid(format_args!("`{requirement}` is no version requirement: {error}")))
}

export_matcher!(Semver);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Semver>("cases.json");
    }
}
