//! The export macros: from types to a component's exports.
//!
//! Outside of a component they only check that the types play their roles, so that the same crate can be tested natively.

/// Exports one or more [`Matcher`](crate::Matcher)s as an extension. Its id and version are those of the package.
#[macro_export]
macro_rules! export_matcher {
    ($($matcher:ty),+ $(,)?) => {
        $crate::export_extension! { matchers: [$($matcher),+], }
    };
}

/// Exports a [`Reporter`](crate::Reporter) as an extension. Its id and version are those of the package.
#[macro_export]
macro_rules! export_reporter {
    ($reporter:ty) => {
        $crate::export_extension! { reporter: $reporter, }
    };
}

/// Exports a [`Transform`](crate::Transform) as an extension. Its id and version are those of the package.
#[macro_export]
macro_rules! export_transform {
    ($transform:ty) => {
        $crate::export_extension! { transform: $transform, }
    };
}

/// Exports an extension that plays several roles, in this order, each with a comma after it; any of them can be left out.
/// Its id and version are those of the package.
///
/// ```
/// # use mcptest_guest::*;
/// # #[derive(Default)] struct Counting;
/// # impl Reporter for Counting { fn observe(&mut self, _: &Event) -> Result<Vec<Output>, Failure> { Ok(Vec::new()) } }
/// # struct Tagging;
/// # impl Transform for Tagging { fn transform(suite: Value) -> Result<Value, Failure> { Ok(suite) } }
/// export_extension! {
///     reporter: Counting,
///     transform: Tagging,
/// }
/// ```
#[macro_export]
macro_rules! export_extension {
    (
        $(matchers: [$first:ty $(, $more:ty)* $(,)?],)?
        $(reporter: $reporter:ty,)?
        $(transform: $transform:ty,)?
    ) => {
        $(const _: fn() -> $crate::Matchers = || $crate::Matchers::of::<$first>()$(.and::<$more>())*;)?
        $(const _: fn() -> $reporter = <$reporter as ::core::default::Default>::default;)?
        $(
            const _: fn($crate::Value) -> Result<$crate::Value, $crate::Failure> =
                <$transform as $crate::Transform>::transform;
        )?
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, missing_docs)]
        const _: () = {
            struct Exported;
            impl $crate::bindings::Describe for Exported {
                #[allow(unused_mut, unreachable_code)]
                fn describe() -> $crate::bindings::Manifest {
                    let mut asked: Vec<&str> = Vec::new();
                    $(asked.extend_from_slice(<$reporter as $crate::Reporter>::CAPABILITIES);)?
                    $(asked.extend_from_slice(<$transform as $crate::Transform>::CAPABILITIES);)?
                    let (id, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
                    $(
                        const _: ::core::marker::PhantomData<$first> = ::core::marker::PhantomData;
                        return MATCHERS.with(|all| $crate::bindings::manifest(id, version, Some(all), &asked));
                    )?
                    $crate::bindings::manifest(id, version, None, &asked)
                }
            }
            $crate::bindings::describing::export!(Exported with_types_in $crate::bindings::describing);
            $(
                ::std::thread_local! {
                    static MATCHERS: $crate::Matchers = $crate::Matchers::of::<$first>()$(.and::<$more>())*;
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
                $crate::bindings::matching::export!(Exported with_types_in $crate::bindings::matching);
            )?
            $(
                ::std::thread_local! {
                    static REPORTER: ::core::cell::RefCell<$reporter> = ::core::default::Default::default();
                }
                impl $crate::bindings::Report for Exported {
                    fn observe(event: String) -> Result<Vec<$crate::bindings::Output>, $crate::bindings::Failure> {
                        REPORTER.with_borrow_mut(|reporter| $crate::bindings::observe(reporter, &event))
                    }
                    fn finish() -> Result<Vec<$crate::bindings::Output>, $crate::bindings::Failure> {
                        REPORTER.with_borrow_mut(|reporter| $crate::bindings::finish(reporter))
                    }
                }
                $crate::bindings::reporting::export!(Exported with_types_in $crate::bindings::reporting);
            )?
            $(
                impl $crate::bindings::Rewrite for Exported {
                    fn transform(suite: String) -> Result<String, $crate::bindings::Failure> {
                        $crate::bindings::transform::<$transform>(&suite)
                    }
                }
                $crate::bindings::transforming::export!(Exported with_types_in $crate::bindings::transforming);
            )?
        };
    };
}
