//! The real binary against real processes: one test binary, because linking is slow.

#[path = "engine/floods.rs"]
mod floods;
#[path = "engine/guests.rs"]
mod guests;
#[path = "engine/kit.rs"]
mod kit;

#[path = "engine/aegis.rs"]
mod aegis;
#[path = "engine/asking.rs"]
mod asking;
#[path = "engine/cache.rs"]
mod cache;
#[path = "engine/extensions.rs"]
mod extensions;
#[path = "engine/fixture.rs"]
mod fixture;
#[path = "engine/hostile.rs"]
mod hostile;
#[path = "engine/interrupt.rs"]
mod interrupt;
#[path = "engine/invocation.rs"]
mod invocation;
#[path = "engine/language.rs"]
mod language;
#[path = "engine/layers.rs"]
mod layers;
#[path = "engine/select.rs"]
mod select;
#[path = "engine/streams.rs"]
mod streams;
