//! Whom the client trusts.

use super::outcome::Trouble;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// What a handshake that failed means.
pub(super) fn trouble(host: &str, error: &io::Error) -> Trouble {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    let (why, hint) = match cause {
        Some(Error::InvalidCertificate(problem)) => certificate(problem, host),
        Some(Error::InvalidMessage(_)) => {
            ("what came is no TLS".to_owned(), Some("the `url` of a server without TLS begins with `http://`"))
        }
        Some(Error::AlertReceived(alert)) => (
            format!("the server refused it ({alert:?})"),
            Some("mcptest speaks TLS 1.2 and 1.3, without a certificate of its own"),
        ),
        Some(other) => (other.to_string(), None),
        None => (error.to_string(), None),
    };
    let trouble = Trouble::new("tls", format!("no TLS connection to `{host}`: {why}"));
    hint.into_iter().fold(trouble, Trouble::hint)
}

/// What is wrong with a certificate, and what to do about it.
fn certificate(problem: &CertificateError, host: &str) -> (String, Option<&'static str>) {
    const RENEW: &str = "the server needs a new certificate, or one of the clocks is wrong";
    match problem {
        CertificateError::UnknownIssuer => {
            let why = "its certificate is signed by nobody who is trusted".to_owned();
            (why, Some("`tls: { caBundle: FILE }` trusts further authorities; FILE is a PEM file"))
        }
        CertificateError::NotValidForName => {
            (format!("its certificate is not for `{host}`"), Some("`url` has to name a host of the certificate"))
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<String> = presented.iter().map(|name| format!("`{}`", plain_name(name))).collect();
            let names = if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
            let why = format!("its certificate is for {names}, not for `{host}`");
            (why, Some("`url` has to name a host of the certificate"))
        }
        CertificateError::Expired => ("its certificate has expired".to_owned(), Some(RENEW)),
        CertificateError::ExpiredContext { not_after, .. } => {
            (format!("its certificate expired on {}", day(*not_after)), Some(RENEW))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            (format!("its certificate is not valid before {}", day(*not_before)), Some(RENEW))
        }
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            let why = "its certificate is one of an authority (`CA:TRUE`), which cannot be a server's".to_owned();
            (why, Some("a certificate that is signed by itself has to be made with `basicConstraints=CA:FALSE`"))
        }
        other => (format!("its certificate is refused: {other}"), None),
    }
}

/// A name of a certificate: rustls writes `DnsName("localhost")`.
fn plain_name(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    inner.trim_matches('"')
}

fn day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds)
        .map_or_else(|_| "a day out of reach".to_owned(), |time| time.strftime("%F").to_string())
}

/// How a server's certificate is judged.
#[derive(Debug, Clone)]
pub struct Tls {
    /// Certificates that are trusted beside the system's, as a PEM file.
    pub ca_bundle: Option<PathBuf>,
    /// Whether certificates are judged at all.
    pub verify: bool,
}

impl Default for Tls {
    fn default() -> Tls {
        Tls { ca_bundle: None, verify: true }
    }
}

impl Tls {
    /// What a TLS connection is made with; the error says which certificates cannot be read.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let config = if self.verify {
            builder.with_root_certificates(self.roots()?).with_no_client_auth()
        } else {
            let anyone = Arc::new(Anyone(provider));
            builder.dangerous().with_custom_certificate_verifier(anyone).with_no_client_auth()
        };
        Ok(Arc::new(config))
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        // A certificate of the system's that cannot be read is none of ours: who needs it hears of an unknown issuer.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(path) = &self.ca_bundle {
            for certificate in bundle(path)? {
                roots.add(certificate).map_err(|error| format!("`{}`: {error}", path.display()))?;
            }
        }
        Ok(roots)
    }
}

fn bundle(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let problem = |error: &dyn std::fmt::Display| format!("`{}` cannot be read: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| problem(&error))?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = certificates.map_err(|error| problem(&error))?;
    if certificates.is_empty() {
        return Err(format!("`{}` holds no certificate", path.display()));
    }
    Ok(certificates)
}

/// `verify: false`: whoever answers is trusted.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
