//! WASI with nothing in it, and what grants put there.
//!
//! No files, no environment, no arguments, no network. Clocks and randomness exist, because language runtimes ask for
//! them to seed their hash maps, and are the same in every call of every run unless they were granted.

use super::state::State;
use super::tail::Tail;
use crate::extension::capability::Grant;
use rand_core::TryRng;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{
    self, Host, HostResolveAddressStream, ResolveAddressStream,
};
use wasmtime_wasi::p2::bindings::sockets::network::{self, ErrorCode, IpAddress, Network};
use wasmtime_wasi::p2::{DynPollable, SocketError};
use wasmtime_wasi::sockets::{SocketAddrUse, WasiSocketsCtxView, WasiSocketsView};
use wasmtime_wasi::{FsPerms, HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder};

/// The moment at which every call begins for a guest without the `clock` grant: 2000-01-01T00:00:00Z.
const WHEN: Duration = Duration::from_secs(946_684_800);
/// How far each look at such a clock moves it: a guest that waits for time to pass sees it pass.
const STEP: u64 = 1_000;
/// Where the dice of a guest without the `random` grant start in every call.
const SEED: u64 = 0x6d63_7074_6573_7421;

/// What one extension was granted.
#[derive(Debug, Clone, Default)]
pub(super) struct Sandbox {
    grants: Arc<[Grant]>,
    environment: Arc<[(String, String)]>,
}

impl Sandbox {
    /// Opens what is granted; variables are read from `environment`.
    pub(super) fn new(grants: &[Grant], environment: &dyn Fn(&str) -> Option<String>) -> Sandbox {
        let variables = grants.iter().filter_map(|grant| match grant {
            Grant::Env(name) => Some((name.clone(), environment(name)?)),
            _ => None,
        });
        Sandbox { environment: variables.collect(), grants: grants.into() }
    }

    /// What it was granted.
    pub(super) fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Hosts whose names may be looked up.
    pub(super) fn names(&self) -> Arc<[String]> {
        let net = self.grants.iter().filter_map(|grant| match grant {
            Grant::Net { host, .. } => Some(host.clone()),
            _ => None,
        });
        net.collect()
    }

    pub(super) fn wasi(&self, pace: &Pace, stdout: &Tail, stderr: &Tail) -> Result<WasiCtx, String> {
        let mut builder = WasiCtxBuilder::new();
        builder.stdout(stdout.clone()).stderr(stderr.clone());
        builder.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
        builder.envs(&self.environment);
        if !self.grants.contains(&Grant::Clock) {
            builder.wall_clock(pace.clone()).monotonic_clock(pace.clone());
        }
        if !self.grants.contains(&Grant::Random) {
            builder.secure_random(pace.clone()).insecure_random(pace.clone()).insecure_random_seed(SEED.into());
        }
        let mut targets = Vec::new();
        for grant in self.grants.iter() {
            let (folder, permissions) = match grant {
                Grant::FsRead(folder) => (folder, FsPerms::ReadOnly),
                Grant::FsWrite(folder) => (folder, FsPerms::ReadWrite),
                Grant::Net { host, port } => {
                    targets.push((host.clone(), *port));
                    continue;
                }
                _ => continue,
            };
            builder
                .preopened_dir(&folder.path, &folder.written, permissions)
                .map_err(|error| format!("the granted folder `{}` cannot be opened: {error}", folder.written))?;
        }
        if !targets.is_empty() {
            let targets: Arc<[(String, u16)]> = targets.into();
            builder.allow_tcp(true).allow_ip_name_lookup(true).socket_addr_check(move |address, usage| {
                let targets = targets.clone();
                Box::pin(async move {
                    match usage {
                        SocketAddrUse::TcpConnect => {}
                        // What connecting does by itself; listening is asked for separately, and refused.
                        SocketAddrUse::TcpBind => return address.ip().is_unspecified() && address.port() == 0,
                        _ => return false,
                    }
                    let resolved = tokio::task::spawn_blocking(move || is_granted(&targets, address));
                    resolved.await.unwrap_or(false)
                })
            });
        }
        Ok(builder.build())
    }
}

fn is_granted(targets: &[(String, u16)], address: SocketAddr) -> bool {
    targets.iter().filter(|(_, port)| *port == address.port()).any(|(host, port)| match host.parse::<IpAddr>() {
        Ok(granted) => granted == address.ip(),
        Err(_) => (host.as_str(), *port).to_socket_addrs().is_ok_and(|mut found| found.any(|one| one == address)),
    })
}

/// A clock and dice that start anew with every call.
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    looks: Arc<AtomicU64>,
    dice: Arc<AtomicU64>,
}

impl Pace {
    pub(super) fn reset(&self) {
        self.looks.store(0, Ordering::Relaxed);
        self.dice.store(SEED, Ordering::Relaxed);
    }

    fn roll(&self) -> u64 {
        let mut z = self.dice.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl HostMonotonicClock for Pace {
    fn resolution(&self) -> u64 {
        STEP
    }

    fn now(&self) -> u64 {
        self.looks.fetch_add(1, Ordering::Relaxed).saturating_mul(STEP)
    }
}

impl HostWallClock for Pace {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(STEP)
    }

    fn now(&self) -> Duration {
        WHEN + Duration::from_nanos(HostMonotonicClock::now(self))
    }
}

impl TryRng for Pace {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.roll() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.roll())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.roll().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// Name lookups for granted hosts only: a name that is looked up is a message to whoever answers for it.
pub(super) fn guard_name_lookup(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    ip_name_lookup::add_to_linker::<State, Guarded>(linker, |state| Lookup {
        names: state.names.clone(),
        view: state.sockets(),
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

struct Guarded;

impl HasData for Guarded {
    type Data<'a> = Lookup<'a>;
}

struct Lookup<'a> {
    names: Arc<[String]>,
    view: WasiSocketsCtxView<'a>,
}

impl Host for Lookup<'_> {
    fn resolve_addresses(
        &mut self,
        network: Resource<Network>,
        name: String,
    ) -> Result<Resource<ResolveAddressStream>, SocketError> {
        if !self.names.contains(&name) {
            return Err(ErrorCode::AccessDenied.into());
        }
        self.view.resolve_addresses(network, name)
    }
}

impl network::Host for Lookup<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        self.view.convert_error_code(error)
    }

    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.view.network_error_code(error)
    }
}

impl network::HostNetwork for Lookup<'_> {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        network::HostNetwork::drop(&mut self.view, network)
    }
}

impl HostResolveAddressStream for Lookup<'_> {
    fn resolve_next_address(
        &mut self,
        stream: Resource<ResolveAddressStream>,
    ) -> Result<Option<IpAddress>, SocketError> {
        self.view.resolve_next_address(stream)
    }

    fn subscribe(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<Resource<DynPollable>> {
        self.view.subscribe(stream)
    }

    fn drop(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<()> {
        HostResolveAddressStream::drop(&mut self.view, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_starts_with_the_same_moment_and_the_same_dice() {
        let mut pace = Pace::default();
        let look = |pace: &mut Pace| {
            pace.reset();
            let mut bytes = [0; 13];
            pace.try_fill_bytes(&mut bytes).unwrap();
            (HostWallClock::now(pace), HostMonotonicClock::now(pace), HostMonotonicClock::now(pace), bytes)
        };
        let first = look(&mut pace);
        assert_eq!(first, look(&mut pace));
        assert!(first.1 < first.2, "time passes within a call");
        assert_ne!(first.3[..6], first.3[6..12]);
    }

    #[test]
    fn only_the_granted_address_is_reached() {
        let targets = [("127.0.0.1".to_owned(), 80), ("localhost".to_owned(), 81)];
        let granted = |address: &str| is_granted(&targets, address.parse().unwrap());
        assert!(granted("127.0.0.1:80"));
        assert!(granted("127.0.0.1:81"));
        assert!(!granted("127.0.0.1:82"));
        assert!(!granted("127.0.0.2:80"));
    }
}
