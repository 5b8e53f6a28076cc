//! Splits an absolute URL as RFC 3986 does: `scheme://user@host:port/path?query#fragment`.

pub(crate) struct Parts<'a> {
    pub(crate) scheme: &'a str,
    pub(crate) host: &'a str,
    pub(crate) port: Option<u16>,
    pub(crate) path: &'a str,
    pub(crate) query: Option<&'a str>,
    pub(crate) fragment: Option<&'a str>,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(text: &'a str) -> Result<Parts<'a>, String> {
        if let Some(bad) = text.chars().find(|c| c.is_whitespace() || c.is_control() || "<>\"{}|\\^`".contains(*c)) {
            return Err(format!("expected a URL, found {bad:?} in it"));
        }
        let (scheme, rest) = text.split_once(':').ok_or("expected a URL with a scheme")?;
        let starts_well = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
        if !starts_well || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) {
            return Err("expected a URL with a scheme".into());
        }
        let (rest, fragment) = cut(rest, '#');
        let (rest, query) = cut(rest, '?');
        let Some(rest) = rest.strip_prefix("//") else {
            return Ok(Parts { scheme, host: "", port: None, path: rest, query, fragment });
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let address = authority.rsplit_once('@').map_or(authority, |(_, address)| address);
        let colon = address.rfind(':').filter(|at| address.rfind(']').is_none_or(|bracket| bracket < *at));
        let (host, port) = match colon.map(|at| (&address[..at], &address[at + 1..])) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.parse().map_err(|_| format!("`{port}` is no port"))?)),
            None => (address, None),
        };
        if host.is_empty() && scheme != "file" {
            return Err("expected a URL with a host".into());
        }
        Ok(Parts { scheme, host, port, path, query, fragment })
    }

    /// The query's parameters, percent-decoded.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        form_urlencoded::parse(self.query.unwrap_or_default().as_bytes()).into_owned().collect()
    }
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}
