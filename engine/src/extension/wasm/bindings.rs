//! What crosses the boundary, generated from `wit/`.
#![allow(missing_docs, unreachable_pub, reason = "generated")]
#![allow(unsafe_code, reason = "generated: wasmtime checks the types against the component when it is linked")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "extension",
    ownership: Borrowing { duplicate_if_necessary: true },
    exports: { default: async },
});
