//! The generated bindings, and the conversions between them and this crate's types.
//!
//! Exists only inside a component. The export macros are its only user. There is one generated world for each exported
//! interface; the world of a component is the union of those that its export macro names.

use crate::matchers::{Call, Matchers};
use crate::reporter::Reporter;
use crate::transform::Transform;

/// Exports the interface `describing`, and holds what all roles share.
pub mod describing {
    #![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]
    wit_bindgen::generate!({
        path: "wit",
        inline: "
            package mcptest:guest;
            world guest-describing { import mcptest:extension/host@0.1.0; export mcptest:extension/describing@0.1.0; }
        ",
        pub_export_macro: true,
        generate_all,
    });
}

/// Exports the interface `matching`.
pub mod matching {
    #![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]
    wit_bindgen::generate!({
        path: "wit",
        inline: "
            package mcptest:guest;
            world guest-matching { export mcptest:extension/matching@0.1.0; }
        ",
        pub_export_macro: true,
        with: { "mcptest:extension/types@0.1.0": crate::bindings::describing::mcptest::extension::types },
    });
}

/// Exports the interface `reporting`.
pub mod reporting {
    #![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]
    wit_bindgen::generate!({
        path: "wit",
        inline: "
            package mcptest:guest;
            world guest-reporting { export mcptest:extension/reporting@0.1.0; }
        ",
        pub_export_macro: true,
        with: { "mcptest:extension/types@0.1.0": crate::bindings::describing::mcptest::extension::types },
    });
}

/// Exports the interface `transforming`.
pub mod transforming {
    #![allow(unsafe_code, missing_docs, unreachable_pub, clippy::all)]
    wit_bindgen::generate!({
        path: "wit",
        inline: "
            package mcptest:guest;
            world guest-transforming { export mcptest:extension/transforming@0.1.0; }
        ",
        pub_export_macro: true,
        with: { "mcptest:extension/types@0.1.0": crate::bindings::describing::mcptest::extension::types },
    });
}

pub use describing::exports::mcptest::extension::describing::Guest as Describe;
pub use describing::mcptest::extension::types::{
    Failure, Manifest, MatchRequest, MatcherInfo, Mismatch, Output, Verdict,
};
pub use matching::exports::mcptest::extension::matching::Guest as Match;
pub use reporting::exports::mcptest::extension::reporting::Guest as Report;
pub use transforming::exports::mcptest::extension::transforming::Guest as Rewrite;

use describing::mcptest::extension::host;

/// Makes a manifest from what the exported types say.
pub fn manifest(id: &str, version: &str, matchers: Option<&Matchers>, asked: &[&str]) -> Manifest {
    let mut capabilities: Vec<String> = asked.iter().map(ToString::to_string).collect();
    capabilities.extend(matchers.into_iter().flat_map(Matchers::capabilities).map(str::to_owned));
    let info = |info: crate::Info| MatcherInfo {
        name: info.name.to_owned(),
        summary: info.summary.to_owned(),
        argument_schema: info.argument_schema.map(str::to_owned),
    };
    let matchers = matchers.into_iter().flat_map(Matchers::infos).map(info).collect();
    Manifest { id: id.to_owned(), version: version.to_owned(), matchers, capabilities }
}

/// `matching.check`.
pub fn check(matchers: &Matchers, matcher: &str, expected: &str) -> Result<(), Failure> {
    matchers.check(matcher, expected).map_err(Into::into)
}

/// `matching.evaluate`.
pub fn evaluate(matchers: &Matchers, request: &MatchRequest) -> Result<Verdict, Failure> {
    let MatchRequest { matcher, expected, actual, path, step } = request;
    let verdict = matchers.evaluate(&Call { matcher, expected, actual, path, step })?;
    Ok(match verdict {
        crate::Verdict::Pass => Verdict::Pass,
        crate::Verdict::Fail(mismatch) => Verdict::Fail(Mismatch {
            message: mismatch.message,
            path: mismatch.path,
            expected: mismatch.expected.map(|value| value.to_string()),
            actual: mismatch.actual.map(|value| value.to_string()),
        }),
    })
}

/// `reporting.observe`.
pub fn observe(reporter: &mut impl Reporter, event: &str) -> Result<Vec<Output>, Failure> {
    outputs(crate::reporter::observe(reporter, event))
}

/// `reporting.finish`.
pub fn finish(reporter: &mut impl Reporter) -> Result<Vec<Output>, Failure> {
    outputs(reporter.finish())
}

/// `transforming.transform`.
pub fn transform<T: Transform>(suite: &str) -> Result<String, Failure> {
    crate::transform::transform::<T>(suite).map_err(Into::into)
}

/// `host.log`.
pub fn log(level: crate::Level, message: &str) {
    let level = match level {
        crate::Level::Debug => host::Level::Debug,
        crate::Level::Info => host::Level::Info,
        crate::Level::Warn => host::Level::Warn,
        crate::Level::Error => host::Level::Error,
    };
    host::log(level, message);
}

fn outputs(outputs: Result<Vec<crate::Output>, crate::Failure>) -> Result<Vec<Output>, Failure> {
    let outputs = outputs?;
    Ok(outputs.into_iter().map(|crate::Output { name, text }| Output { name, text }).collect())
}

impl From<crate::Failure> for Failure {
    fn from(failure: crate::Failure) -> Failure {
        match failure {
            crate::Failure::UnknownMatcher(name) => Failure::UnknownMatcher(name),
            crate::Failure::InvalidArgument(reason) => Failure::InvalidArgument(reason),
            crate::Failure::Internal(reason) => Failure::Internal(reason),
        }
    }
}
