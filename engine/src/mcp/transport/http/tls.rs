//! Whom the client trusts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

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
