//! A path through a document: `/catalog//book[@id='7'][1]/@lang`.

use roxmltree::{Document, Node};

pub(crate) struct Path {
    steps: Vec<Step>,
    attribute: Option<String>,
}

struct Step {
    any_depth: bool,
    name: String,
    tests: Vec<Test>,
}

enum Test {
    Index(usize),
    Attribute(String, Option<String>),
}

impl Path {
    pub(crate) fn parse(text: &str) -> Result<Path, String> {
        let mut path = Path { steps: Vec::new(), attribute: None };
        let mut rest = text;
        while let Some(after) = rest.strip_prefix('/').filter(|_| path.attribute.is_none()) {
            let (any_depth, after) = after.strip_prefix('/').map_or((false, after), |after| (true, after));
            let (name, after) = after.split_at(after.find(['/', '[']).unwrap_or(after.len()));
            if name.is_empty() || name == "@" {
                return Err(format!("`{text}` has a step without a name"));
            }
            rest = after;
            match name.strip_prefix('@') {
                Some(attribute) => path.attribute = Some(attribute.to_owned()),
                None => path.steps.push(Step { any_depth, name: name.to_owned(), tests: tests(&mut rest)? }),
            }
        }
        if rest.is_empty() && !path.steps.is_empty() {
            Ok(path)
        } else {
            Err(format!("`{text}` is no path: found {rest:?}"))
        }
    }

    /// The texts of what the path finds, in document order.
    pub(crate) fn find(&self, document: &Document<'_>) -> Vec<String> {
        let mut nodes = vec![document.root()];
        for step in &self.steps {
            let mut found: Vec<Node<'_, '_>> = nodes.into_iter().flat_map(|node| step.from(node)).collect();
            found.sort_unstable();
            found.dedup();
            nodes = found;
        }
        let inner =
            |node: &Node<'_, '_>| node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
        match &self.attribute {
            Some(name) => nodes.iter().filter_map(|node| node.attribute(name.as_str())).map(str::to_owned).collect(),
            None => nodes.iter().map(inner).collect(),
        }
    }
}

impl Step {
    fn from<'a, 'i>(&self, node: Node<'a, 'i>) -> Vec<Node<'a, 'i>> {
        let named =
            |node: &Node<'a, 'i>| node.is_element() && (self.name == "*" || node.tag_name().name() == self.name);
        let mut found: Vec<_> = match self.any_depth {
            true => node.descendants().skip(1).filter(named).collect(),
            false => node.children().filter(named).collect(),
        };
        for test in &self.tests {
            found = match test {
                Test::Index(index) => found.into_iter().skip(index - 1).take(1).collect(),
                Test::Attribute(name, value) => found
                    .into_iter()
                    .filter(|node| {
                        node.attribute(name.as_str()).is_some_and(|is| value.as_ref().is_none_or(|v| v == is))
                    })
                    .collect(),
            };
        }
        found
    }
}

fn tests(rest: &mut &str) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    while let Some(after) = rest.strip_prefix('[') {
        let (inside, after) = after.split_once(']').ok_or("a `[` is not closed")?;
        let quoted = |text: &str| text.strip_prefix('\'')?.strip_suffix('\'').map(str::to_owned);
        let test = match (inside.parse(), inside.strip_prefix('@').map(|test| test.split_once('='))) {
            (Ok(index), _) if index > 0 => Some(Test::Index(index)),
            (_, Some(Some((name, value)))) => quoted(value).map(|value| Test::Attribute(name.to_owned(), Some(value))),
            (_, Some(None)) => Some(Test::Attribute(inside[1..].to_owned(), None)),
            _ => None,
        };
        tests.push(test.ok_or_else(|| format!("`[{inside}]` is not understood: there are `[2]`, `[@a]`, `[@a='b']`"))?);
        *rest = after;
    }
    Ok(tests)
}
