//! Servers over HTTPS: whom a client trusts, and what it says of those whom it does not.

use crate::kit::{Place, Running};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

const CALLS: &str = "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, expect: { text: hi } }\n  - { it: again, tool: echo, args: { message: ho }, expect: { text: ho } }\n";

/// The scripted server behind TLS, with a certificate for some names that an authority of its own signed.
struct Encrypted {
    authority: String,
    port: u16,
    /// How many clients came.
    connections: Arc<AtomicUsize>,
    _server: Running,
}

impl Encrypted {
    fn new(names: &[&str], valid: impl FnOnce(&mut CertificateParams)) -> Encrypted {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "mcptest's authority");
        let authority =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("names");
        valid(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &authority).expect("a certificate");
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.expect("versions").with_no_client_auth();
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let config = config.with_single_cert(vec![certificate.der().clone()], key).expect("a pair");
        let server = Running::new("echo");
        let connections = Arc::new(AtomicUsize::new(0));
        let port = pipe(TlsAcceptor::from(Arc::new(config)), server.port, connections.clone());
        Encrypted { authority: authority.pem(), port, connections, _server: server }
    }

    /// A place with the authority's certificate, a suite, and a config that may trust it.
    fn place(&self, host: &str, tls: &str) -> Place {
        let place = Place::new();
        place.write("ca.pem", &self.authority);
        place.write("mcptest.yml", &format!("url: \"https://{host}:{}/mcp\"\n{tls}\n", self.port));
        place.write("suite.test.mcp.yml", CALLS);
        place
    }

    /// Why a run gets no connection, and what it says to do about it.
    fn refused(&self, host: &str, tls: &str) -> String {
        let (code, report) = self.place(host, tls).report(&[]);
        assert_eq!(code, 3, "{report:#}");
        let failure = &report["suites"][0]["tests"][0]["failures"][0];
        format!(
            "{}\nhint: {}",
            failure["message"].as_str().unwrap_or_default(),
            failure["hints"][0].as_str().unwrap_or_default()
        )
    }
}

/// Takes the encryption off whatever comes, and hands it on to a port of this machine; ends with the test's process.
fn pipe(acceptor: TlsAcceptor, to: u16, connections: Arc<AtomicUsize>) -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    listener.set_nonblocking(true).expect("a listener");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    std::thread::spawn(move || {
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                let _ = stream.set_nodelay(true);
                connections.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    let Ok(mut outside) = acceptor.accept(stream).await else { return };
                    let Ok(mut inside) = TcpStream::connect(("127.0.0.1", to)).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                });
            }
        });
    });
    port
}

#[test]
fn an_authority_of_the_config_is_trusted_by_name_and_by_address() {
    let server = Encrypted::new(&["localhost", "127.0.0.1"], |_| {});
    for host in ["localhost", "127.0.0.1"] {
        let said = server.place(host, "tls: { caBundle: ./ca.pem }").mcptest(&["run"]);
        assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn a_connection_is_kept_inside_of_its_encryption() {
    let server = Encrypted::new(&["localhost"], |_| {});
    let said = server.place("localhost", "tls: { caBundle: ./ca.pem }").mcptest(&["run"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    let connections = server.connections.load(Ordering::Relaxed);
    // The stream that a server may send on gets one of its own, and so do the calls.
    assert!((1..=2).contains(&connections), "{connections} connections");
}

#[test]
fn an_authority_that_nobody_knows_is_refused_with_what_to_do() {
    let said = Encrypted::new(&["localhost"], |_| {}).refused("localhost", "");
    assert!(
        said.contains("no TLS connection to `localhost`: its certificate is signed by nobody who is trusted"),
        "{said}"
    );
    assert!(said.contains("hint: `tls: { caBundle: FILE }` trusts further authorities"), "{said}");
}

#[test]
fn a_certificate_for_another_host_is_refused_with_its_names() {
    let server = Encrypted::new(&["other.example", "third.example"], |_| {});
    let said = server.refused("localhost", "tls: { caBundle: ./ca.pem }");
    assert!(said.contains("its certificate is for `other.example`, `third.example`, not for `localhost`"), "{said}");
    assert!(said.contains("hint: `url` has to name a host of the certificate"), "{said}");
}

#[test]
fn a_certificate_whose_time_is_over_is_refused_with_its_day() {
    let server = Encrypted::new(&["localhost"], |params| params.not_after = rcgen::date_time_ymd(2020, 2, 29));
    let said = server.refused("localhost", "tls: { caBundle: ./ca.pem }");
    assert!(said.contains("its certificate expired on 2020-02-29"), "{said}");
    assert!(said.contains("hint: the server needs a new certificate"), "{said}");
}

#[test]
fn whoever_answers_is_trusted_where_the_config_says_so_but_not_in_continuous_integration() {
    let server = Encrypted::new(&["other.example"], |_| {});
    let place = server.place("localhost", "tls: { verify: false }");
    let said = place.mcptest(&["run"]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("`verify: false`: whoever answers is trusted"), "{}", said.stderr);
    let refused = place.command(&["run"]).env("CI", "true").output().expect("the binary runs");
    assert_eq!(refused.status.code(), Some(2));
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(why.contains("`verify: false` is refused when `CI=true`"), "{why}");
    assert!(why.contains("hint: `caBundle` trusts the certificate that is meant"), "{why}");
}
