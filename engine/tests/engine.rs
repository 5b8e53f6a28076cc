//! The real binary against real processes: one test binary, because linking is slow.

#[path = "engine/floods.rs"]
mod floods;
#[path = "engine/guests.rs"]
mod guests;
#[path = "engine/kit.rs"]
mod kit;

#[path = "engine/advice.rs"]
mod advice;
#[path = "engine/aegis.rs"]
mod aegis;
#[path = "engine/asking.rs"]
mod asking;
#[path = "engine/authors.rs"]
mod authors;
#[path = "engine/backends.rs"]
mod backends;
#[path = "engine/cache.rs"]
mod cache;
#[path = "engine/call.rs"]
mod call;
#[path = "engine/cassettes.rs"]
mod cassettes;
#[path = "engine/coprocess.rs"]
mod coprocess;
#[path = "engine/demo_http.rs"]
mod demo_http;
#[path = "engine/direct.rs"]
mod direct;
#[path = "engine/discover.rs"]
mod discover;
#[path = "engine/eras.rs"]
mod eras;
#[path = "engine/extensions.rs"]
mod extensions;
#[path = "engine/fixture.rs"]
mod fixture;
#[path = "engine/garbage.rs"]
mod garbage;
#[path = "engine/grants.rs"]
mod grants;
#[path = "engine/homebody.rs"]
mod homebody;
#[path = "engine/hostile.rs"]
mod hostile;
#[path = "engine/http.rs"]
mod http;
#[path = "engine/http_odd.rs"]
mod http_odd;
#[path = "engine/interrupt.rs"]
mod interrupt;
#[path = "engine/invocation.rs"]
mod invocation;
#[path = "engine/killed.rs"]
mod killed;
#[path = "engine/language.rs"]
mod language;
#[path = "engine/layers.rs"]
mod layers;
#[path = "engine/plugins.rs"]
mod plugins;
#[path = "engine/plugins_bound.rs"]
mod plugins_bound;
#[path = "engine/protocol.rs"]
mod protocol;
#[path = "engine/replays.rs"]
mod replays;
#[path = "engine/roles.rs"]
mod roles;
#[path = "engine/secrets.rs"]
mod secrets;
#[path = "engine/seeds.rs"]
mod seeds;
#[path = "engine/select.rs"]
mod select;
#[path = "engine/slots.rs"]
mod slots;
#[path = "engine/streams.rs"]
mod streams;
#[path = "engine/tls.rs"]
mod tls;
#[path = "engine/uploads.rs"]
mod uploads;
#[path = "engine/variables.rs"]
mod variables;
