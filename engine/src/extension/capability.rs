//! What an extension asks for, and what the user grants.
//!
//! A manifest asks for *kinds* (`fs.read`, `env:NAME`); a user grants *things* (`fs.read:./fixtures`, `env:HOME`). Both
//! are needed. Grants are the user's, never the guest's, and belong to one extension.

use super::fault::{Code, Fault};
use super::naming::quoted;
use crate::source::visible::is_invisible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What grants look like, for messages.
pub const FORMS: &str = "`fs.read:DIR`, `fs.write:DIR`, `env:NAME`, `clock`, `random` or `net:HOST:PORT`";

/// A kind of capability that a manifest can ask for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `fs.read`.
    FsRead,
    /// `fs.write`.
    FsWrite,
    /// `env:NAME`.
    Env(String),
    /// `clock`.
    Clock,
    /// `random`.
    Random,
    /// `net`.
    Net,
}

/// One thing that the user grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// Reads below a folder.
    FsRead(Folder),
    /// Reads and writes below a folder.
    FsWrite(Folder),
    /// Sees one environment variable.
    Env(String),
    /// Sees the real time.
    Clock,
    /// Gets real randomness.
    Random,
    /// Connects to one host and port.
    Net {
        /// A name or an address.
        host: String,
        /// The port.
        port: u16,
    },
}

/// A folder as it was written and where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// As the user wrote it; the guest sees it under this name.
    pub written: String,
    /// On disk.
    pub path: PathBuf,
}

impl Grant {
    /// Reads `fs.read:DIR` and the like; folders are taken against `base`.
    pub fn parse(text: &str, base: &Path) -> Result<Grant, String> {
        let folder = |written: &str| Folder { written: written.to_owned(), path: base.join(written) };
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        match (kind, rest) {
            ("fs.read" | "fs.write", "") => Err(format!("`{kind}` needs a folder: `{kind}:DIR`")),
            ("fs.read", dir) => Ok(Grant::FsRead(folder(dir))),
            ("fs.write", dir) => Ok(Grant::FsWrite(folder(dir))),
            ("env", name) if is_variable(name) => Ok(Grant::Env(name.to_owned())),
            ("env", _) => Err("`env` needs the name of a variable: `env:NAME`".to_owned()),
            ("clock", "") if !text.contains(':') => Ok(Grant::Clock),
            ("random", "") if !text.contains(':') => Ok(Grant::Random),
            ("net", target) => net(target),
            _ => Err(format!("`{text}` is no grant; a grant is {FORMS}")),
        }
    }

    /// The kind that it answers.
    pub fn kind(&self) -> Kind {
        match self {
            Grant::FsRead(_) => Kind::FsRead,
            Grant::FsWrite(_) => Kind::FsWrite,
            Grant::Env(name) => Kind::Env(name.clone()),
            Grant::Clock => Kind::Clock,
            Grant::Random => Kind::Random,
            Grant::Net { .. } => Kind::Net,
        }
    }
}

fn is_variable(name: &str) -> bool {
    let is_strange = |c: char| c == '=' || c.is_whitespace() || is_invisible(c);
    !name.is_empty() && !name.contains(is_strange)
}

fn net(target: &str) -> Result<Grant, String> {
    let problem = || format!("`net:{target}` needs a host and a port: `net:HOST:PORT`");
    let (host, port) = target.rsplit_once(':').ok_or_else(problem)?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let port = port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(problem)?;
    if host.is_empty() || host.contains(char::is_whitespace) || host.contains('*') {
        return Err(problem());
    }
    Ok(Grant::Net { host: host.to_owned(), port })
}

impl Kind {
    /// Reads what a manifest asks for; an empty, padded or unknown one is the manifest's fault.
    pub fn parse(text: &str) -> Result<Kind, String> {
        match text {
            "fs.read" => Ok(Kind::FsRead),
            "fs.write" => Ok(Kind::FsWrite),
            "clock" => Ok(Kind::Clock),
            "random" => Ok(Kind::Random),
            "net" => Ok(Kind::Net),
            _ => match text.strip_prefix("env:") {
                Some(name) if is_variable(name) => Ok(Kind::Env(name.to_owned())),
                _ if text.trim().is_empty() => Err("an empty capability".to_owned()),
                _ if text.trim() != text => Err(format!("the capability {} with white space around it", quoted(text))),
                _ => Err(format!("the unknown capability {}", quoted(text))),
            },
        }
    }

    /// Whether a grant answers it: writing includes reading.
    fn is_answered_by(&self, grant: &Grant) -> bool {
        grant.kind() == *self || (*self == Kind::FsRead && matches!(grant, Grant::FsWrite(_)))
    }

    fn example(&self) -> String {
        match self {
            Kind::FsRead => "fs.read:DIR".to_owned(),
            Kind::FsWrite => "fs.write:DIR".to_owned(),
            Kind::Net => "net:HOST:PORT".to_owned(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::FsRead => f.write_str("fs.read"),
            Kind::FsWrite => f.write_str("fs.write"),
            Kind::Env(name) => write!(f, "env:{name}"),
            Kind::Clock => f.write_str("clock"),
            Kind::Random => f.write_str("random"),
            Kind::Net => f.write_str("net"),
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Grant::FsRead(folder) => write!(f, "fs.read:{}", folder.written),
            Grant::FsWrite(folder) => write!(f, "fs.write:{}", folder.written),
            Grant::Net { host, port } if host.contains(':') => write!(f, "net:[{host}]:{port}"),
            Grant::Net { host, port } => write!(f, "net:{host}:{port}"),
            other => other.kind().fmt(f),
        }
    }
}

/// Holds what is asked for against what is granted; gives the grants that nobody asked for.
pub fn settle<'a>(source: &Arc<str>, asked: &[Kind], granted: &'a [Grant]) -> Result<Vec<&'a Grant>, Fault> {
    let missing: Vec<&Kind> =
        asked.iter().filter(|kind| !granted.iter().any(|grant| kind.is_answered_by(grant))).collect();
    if let [first, ..] = missing[..] {
        let all = missing.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ");
        return Err(Fault::new(
            Code::CapabilityNotAllowed,
            source,
            format!("extension `{source}` asks for {all}, which was not granted"),
        )
        .hint(format!("if you trust it with that: `--allow {source}={}`, or in the config (`allow` of an extension, `capabilities` of a plugin)", first.example())));
    }
    if asked.is_empty() && !granted.is_empty() {
        let all = granted.iter().map(|grant| format!("`{grant}`")).collect::<Vec<_>>().join(", ");
        return Err(Fault::new(
            Code::CapabilityNotDeclared,
            source,
            format!("extension `{source}` was granted {all}, and declares that it needs nothing"),
        )
        .hint("remove the grant, or let the extension's manifest ask for it"));
    }
    Ok(granted.iter().filter(|grant| !asked.contains(&grant.kind())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(text: &str) -> Result<Grant, String> {
        Grant::parse(text, Path::new("/base"))
    }

    #[test]
    fn grants_are_read_and_written_alike() {
        for text in ["fs.read:./a", "fs.write:/b", "env:HOME", "clock", "random", "net:example.org:443", "net:[::1]:80"]
        {
            assert_eq!(grant(text).unwrap().to_string(), text);
        }
        let Ok(Grant::FsRead(folder)) = grant("fs.read:./a:b") else { panic!() };
        assert_eq!(folder.path, Path::new("/base/./a:b"));
        for bad in [
            "",
            "fs.read",
            "fs.read:",
            "fs",
            "env",
            "env:",
            "env: A",
            "env:A=B",
            "clock:",
            "random:x",
            "net",
            "net:h",
            "net:h:0",
            "net:h:99999",
            "net::1",
            "net:*:1",
            "net:a b:1",
            "everything",
        ] {
            assert!(grant(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn asking_and_granting_are_both_needed() {
        let name: Arc<str> = "near".into();
        let read = [grant("fs.read:a").unwrap()];
        let write = [grant("fs.write:a").unwrap()];
        assert_eq!(settle(&name, &[Kind::FsRead], &[]).unwrap_err().code, Code::CapabilityNotAllowed);
        assert_eq!(settle(&name, &[Kind::FsWrite], &read).unwrap_err().code, Code::CapabilityNotAllowed);
        assert_eq!(settle(&name, &[], &read).unwrap_err().code, Code::CapabilityNotDeclared);
        assert_eq!(settle(&name, &[Kind::FsRead], &write).unwrap(), [&write[0]], "more than it asked for");
        assert!(settle(&name, &[], &[]).unwrap().is_empty());
        let both = [read[0].clone(), Grant::Clock];
        assert_eq!(settle(&name, &[Kind::FsRead], &both).unwrap(), [&Grant::Clock]);
        let env = [grant("env:A").unwrap()];
        assert!(settle(&name, &[Kind::Env("B".into())], &env).is_err());
    }

    #[test]
    fn kinds_are_exact() {
        for text in ["fs.read", "fs.write", "env:HOME", "clock", "random", "net"] {
            assert_eq!(Kind::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", " ", " clock", "clock ", "env:", "env: A", "env:A\u{202e}", "fs", "fs.read:/etc", "NET"] {
            assert!(Kind::parse(bad).is_err(), "{bad}");
        }
    }
}
