//! The export macros: from a type to a component's exports.
//!
//! Outside of a component they only check that the type plays its role, so that the same crate can be tested natively.

/// Exports one or more [`Matcher`](crate::Matcher)s as an extension. Its id and version are those of the package.
#[macro_export]
macro_rules! export_matcher {
    ($first:ty $(, $more:ty)* $(,)?) => {
        const _: fn() -> $crate::Matchers = || $crate::Matchers::of::<$first>()$(.and::<$more>())*;
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, missing_docs)]
        const _: () = {
            ::std::thread_local! {
                static MATCHERS: $crate::Matchers = $crate::Matchers::of::<$first>()$(.and::<$more>())*;
            }
            struct Exported;
            impl $crate::bindings::Describe for Exported {
                fn describe() -> $crate::bindings::Manifest {
                    let (id, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
                    MATCHERS.with(|matchers| $crate::bindings::manifest(id, version, Some(matchers), &[]))
                }
            }
            impl $crate::bindings::Match for Exported {
                fn check(matcher: String, expected: String) -> Result<(), $crate::bindings::Failure> {
                    MATCHERS.with(|matchers| $crate::bindings::check(matchers, &matcher, &expected))
                }
                fn evaluate(
                    request: $crate::bindings::MatchRequest,
                ) -> Result<$crate::bindings::Verdict, $crate::bindings::Failure> {
                    MATCHERS.with(|matchers| $crate::bindings::evaluate(matchers, &request))
                }
            }
            $crate::bindings::describing::export!(Exported with_types_in $crate::bindings::describing);
            $crate::bindings::matching::export!(Exported with_types_in $crate::bindings::matching);
        };
    };
}

/// Exports a [`Reporter`](crate::Reporter) as an extension. Its id and version are those of the package.
#[macro_export]
macro_rules! export_reporter {
    ($reporter:ty) => {
        const _: fn() -> $reporter = <$reporter as ::core::default::Default>::default;
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, missing_docs)]
        const _: () = {
            ::std::thread_local! {
                static REPORTER: ::core::cell::RefCell<$reporter> = ::core::default::Default::default();
            }
            struct Exported;
            impl $crate::bindings::Describe for Exported {
                fn describe() -> $crate::bindings::Manifest {
                    let asked = <$reporter as $crate::Reporter>::CAPABILITIES;
                    $crate::bindings::manifest(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), None, asked)
                }
            }
            impl $crate::bindings::Report for Exported {
                fn observe(event: String) -> Result<Vec<$crate::bindings::Output>, $crate::bindings::Failure> {
                    REPORTER.with_borrow_mut(|reporter| $crate::bindings::observe(reporter, &event))
                }
                fn finish() -> Result<Vec<$crate::bindings::Output>, $crate::bindings::Failure> {
                    REPORTER.with_borrow_mut(|reporter| $crate::bindings::finish(reporter))
                }
            }
    $crate::bindings::describing::export!(Exported with_types_in $crate::bindings::describing);
    $crate::bindings::reporting::export!(Exported with_types_in $crate::bindings::reporting);
        };
    };
}

/// Exports a [`Transform`](crate::Transform) as an extension. Its id and version are those of the package.
#[macro_export]
macro_rules! export_transform {
    ($transform:ty) => {
        const _: fn($crate::Value) -> Result<$crate::Value, $crate::Failure> =
            <$transform as $crate::Transform>::transform;
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, missing_docs)]
        const _: () = {
            struct Exported;
            impl $crate::bindings::Describe for Exported {
                fn describe() -> $crate::bindings::Manifest {
                    let asked = <$transform as $crate::Transform>::CAPABILITIES;
                    $crate::bindings::manifest(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), None, asked)
                }
            }
            impl $crate::bindings::Rewrite for Exported {
                fn transform(suite: String) -> Result<String, $crate::bindings::Failure> {
                    $crate::bindings::transform::<$transform>(&suite)
                }
            }
    $crate::bindings::describing::export!(Exported with_types_in $crate::bindings::describing);
    $crate::bindings::transforming::export!(Exported with_types_in $crate::bindings::transforming);
        };
    };
}
