//! YAML text to a spanned tree, and JSON text by way of [`super::json`].
//!
//! The tree is exactly the YAML 1.2 core schema: `no` is text, `012` is twelve, `1_000` is text. What JSON cannot hold
//! (`.nan`, an integer beyond 64 bits) is an error that says to quote it, so that no value changes silently. Aliases are
//! expanded under a budget, merge keys are merged, and everything else that would make a tree ambiguous (duplicate keys,
//! several documents, keys that are no scalars, unknown tags) is reported at its place.

mod frame;
mod offsets;
mod pairs;
mod scalar;

use super::{Kind, Node, Source, Span, json};
use crate::diagnostic::{Diagnostic, Diagnostics};
use frame::{Anchored, Frame};
use offsets::Offsets;
use pairs::Joined;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use std::collections::HashMap;
use std::sync::Arc;

/// How deep a document may nest: no suite comes near it, and every recursive walk over a tree stays within any stack.
pub const MAX_DEPTH: usize = 200;

/// How many nodes aliases may add, whatever the document's size.
const ALIAS_BUDGET: usize = 200_000;
/// How many nodes aliases may add for every node that is written: shared blocks may be used often, bombs may not.
const ALIAS_FACTOR: usize = 10;

/// Parses one document; every problem goes into `diagnostics`, and `None` means that there is no usable tree.
///
/// A tree can come back beside errors (a duplicate key, say), so that later stages can report their problems too.
pub fn parse(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Node> {
    if source.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return json::parse(source, diagnostics);
    }
    let known = diagnostics.list.len();
    let mut built = build(source, None, diagnostics);
    // Pasted JSON may have escapes that the scanner refuses.
    if built.is_err()
        && let Some(joined) = pairs::join(&source.text)
    {
        diagnostics.list.truncate(known);
        built = build(source, Some(&joined), diagnostics);
    }
    match built {
        Ok(root) => root.filter(|root| !is_nothing(root, source)).or_else(|| {
            diagnostics.push(empty(source));
            None
        }),
        Err(fatal) => {
            diagnostics.push(*fatal);
            None
        }
    }
}

/// One pass over the text, or over the one with joined pairs; places are those of the text as it was written.
fn build(source: &Arc<Source>, joined: Option<&Joined>, diagnostics: &mut Diagnostics) -> Result<Option<Node>, Fatal> {
    let mut builder = Builder {
        source,
        joined,
        offsets: Offsets::new(&source.text),
        diagnostics,
        stack: Vec::new(),
        root: None,
        anchors: HashMap::new(),
        written: 0,
        copied: 0,
    };
    builder.run()?;
    Ok(builder.root)
}

/// The error for a file with nothing in it, shared by YAML and JSON.
pub(super) fn empty(source: &Arc<Source>) -> Diagnostic {
    let mut lines = source.text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let problem = match (lines.peek().is_none(), lines.all(|line| line.starts_with('#'))) {
        (true, _) => "is empty",
        (false, true) => "holds nothing but comments",
        (false, false) => "holds no value",
    };
    Diagnostic::error(format!("`{}` {problem}", source.name))
}

fn is_nothing(root: &Node, source: &Source) -> bool {
    matches!(root.kind, Kind::Null) && source.slice(root.span).trim().is_empty()
}

type Fatal = Box<Diagnostic>;

struct Builder<'a> {
    source: &'a Arc<Source>,
    joined: Option<&'a Joined>,
    offsets: Offsets<'a>,
    diagnostics: &'a mut Diagnostics,
    stack: Vec<Frame>,
    root: Option<Node>,
    anchors: HashMap<usize, Anchored>,
    written: usize,
    copied: usize,
}

impl<'a> Builder<'a> {
    fn run(&mut self) -> Result<(), Fatal> {
        let mut parser = Parser::new_from_str(self.joined.map_or(&self.source.text, |joined| &joined.text));
        let mut documents = 0;
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| self.syntax(&error))?;
            let (start, end) = (span.start.index(), span.end.index());
            let span = Span::new(self.byte(start), self.byte(end));
            match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        self.diagnostics.push(self.second_document(span));
                        return Ok(());
                    }
                }
                Event::Scalar(text, style, anchor, tag) => {
                    let text = match self.joined.filter(|_| style != ScalarStyle::DoubleQuoted) {
                        Some(joined) => joined.restore(text.into_owned(), start, end),
                        None => text.into_owned(),
                    };
                    self.scalar(text, style, anchor, tag.as_deref(), span)?
                }
                Event::SequenceStart(anchor, tag) => self.open(Frame::list(span, anchor), tag.as_deref(), "seq")?,
                Event::MappingStart(anchor, tag) => self.open(Frame::map(span, anchor), tag.as_deref(), "map")?,
                Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
                Event::Alias(anchor) => self.alias(anchor, span)?,
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            }
        }
        Ok(())
    }

    /// The byte of the written text at which a character of the scanned one stands.
    fn byte(&self, index: usize) -> usize {
        self.offsets.byte(self.joined.map_or(index, |joined| joined.written_at(index)))
    }

    fn scalar(
        &mut self,
        text: String,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), Fatal> {
        self.written += 1;
        let span = self.trim(span);
        let plain = style == ScalarStyle::Plain;
        let is_key = self.stack.last().is_some_and(Frame::wants_key);
        if is_key && tag.is_none() {
            self.remember(anchor, || Node::new(Kind::String(text.clone()), span), 1, 0)?;
            return self.place_key(text, span, plain);
        }
        let kind = self.resolve(text, plain, tag, span);
        let span = match self.stack.last().and_then(Frame::pending_key) {
            Some(key_span)
                if span.start >= span.end || matches!(kind, Kind::Null) && self.source.slice(span).is_empty() =>
            {
                key_span
            }
            _ => span,
        };
        let node = Node::new(kind, span);
        self.remember(anchor, || node.clone(), 1, 0)?;
        self.place(node, 1, 0)
    }

    fn resolve(&mut self, text: String, plain: bool, tag: Option<&Tag>, span: Span) -> Kind {
        let resolved = match tag {
            None if plain => scalar::core(&text),
            None => return Kind::String(text),
            Some(tag) => scalar::tagged(&text, &tag.handle, &tag.suffix),
        };
        match resolved {
            Ok(Some(kind)) => kind,
            Ok(None) => Kind::String(text),
            Err(problem) => {
                self.diagnostics.push(problem.diagnostic(&text).at(self.source, span));
                Kind::String(text)
            }
        }
    }

    fn open(&mut self, frame: Frame, tag: Option<&Tag>, expected: &str) -> Result<(), Fatal> {
        self.written += 1;
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.too_deep(frame.span));
        }
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && tag.suffix == expected)
        {
            let problem = scalar::Problem::unknown_tag(&tag.handle, &tag.suffix);
            self.diagnostics.push(problem.diagnostic("").at(self.source, frame.span));
        }
        self.stack.push(frame);
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), Fatal> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let (anchor, size, height) = (frame.anchor, frame.size, frame.height + 1);
        let node = frame.finish(end, self.source, self.diagnostics);
        self.remember(anchor, || node.clone(), size, height)?;
        self.place(node, size, height)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Fatal> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            return Err(Box::new(
                Diagnostic::error(format!("`{}` is used inside the value it names", self.source.slice(span)))
                    .at(self.source, span)
                    .label("an alias cannot contain itself"),
            ));
        };
        let (size, height) = (anchored.size, anchored.height);
        if self.stack.len() + height > MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        self.spend(size, span)?;
        let node = self.anchors[&anchor].node.clone();
        self.place(node, size, height)
    }

    /// Keeps a copy of an anchored node; copies count against the same budget as the aliases that use them.
    fn remember(
        &mut self,
        anchor: usize,
        node: impl FnOnce() -> Node,
        size: usize,
        height: usize,
    ) -> Result<(), Fatal> {
        if anchor == 0 {
            return Ok(());
        }
        let node = node();
        self.spend(size, node.span)?;
        self.anchors.insert(anchor, Anchored { node, size, height });
        Ok(())
    }

    fn spend(&mut self, size: usize, span: Span) -> Result<(), Fatal> {
        self.copied += size;
        let budget = ALIAS_BUDGET + ALIAS_FACTOR * self.written;
        if self.copied <= budget {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error(format!("aliases expand to more than {budget} values"))
                .at(self.source, span)
                .label("the limit is passed here")
                .hint("aliases of aliases multiply; write the value out, or generate rows with `each`"),
        ))
    }

    fn place_key(&mut self, text: String, span: Span, plain: bool) -> Result<(), Fatal> {
        if let Some(frame) = self.stack.last_mut() {
            frame.key(text, span, plain);
        }
        Ok(())
    }

    fn place(&mut self, node: Node, size: usize, height: usize) -> Result<(), Fatal> {
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.size += size;
        frame.height = frame.height.max(height);
        if !frame.wants_key() {
            frame.value(node, self.source, self.diagnostics);
            return Ok(());
        }
        let text = match node.kind {
            Kind::String(text) => text,
            Kind::List(_) | Kind::Map(_) => {
                self.diagnostics.push(
                    Diagnostic::error(format!("a key must be text, found {}", node.describe()))
                        .at(self.source, node.span)
                        .hint("if this is text that begins with `{` or `[`, put it in quotes"),
                );
                self.source.slice(node.span).to_owned()
            }
            _ => node.to_json().to_string(),
        };
        self.place_key(text, node.span, false)
    }

    /// Block scalars end after their last line break; a caret has no business there.
    fn trim(&self, span: Span) -> Span {
        let text = self.source.slice(span);
        Span { start: span.start, end: span.start + text.trim_end().len() as u32 }
    }

    fn too_deep(&self, span: Span) -> Fatal {
        Box::new(
            Diagnostic::error(format!("nested more than {MAX_DEPTH} levels deep"))
                .at(self.source, span)
                .label("one level too many"),
        )
    }

    fn second_document(&self, span: Span) -> Diagnostic {
        Diagnostic::error("a file holds one document, and a second one begins here")
            .at(self.source, span)
            .label("second document")
            .hint("put it in a file of its own, or remove the `---`")
    }

    fn syntax(&self, error: &ScanError) -> Fatal {
        let at = self.byte(error.marker().index());
        // The scanner has a limit of its own for flow collections, and meets it before it hands out their events.
        if error.info().contains("recursion limit") {
            return self.too_deep(Span::new(at, at));
        }
        let (message, hint) = scalar::explain(error.info(), &self.source.text, at);
        let width = self.source.text[at..].chars().next().filter(|c| !c.is_control()).map_or(0, char::len_utf8);
        let diagnostic = Diagnostic::error(message).at(self.source, Span::new(at, at + width));
        Box::new(match hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        })
    }
}

#[cfg(test)]
mod tests;
