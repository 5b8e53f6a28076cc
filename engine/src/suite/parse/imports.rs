//! `imports`: the extensions of one file.

use super::Parser;
use crate::schema::IMPORTS;
use crate::source::Kind;
use crate::source::reader::Given;
use crate::suite::{Import, Imports};

impl Parser<'_> {
    pub(super) fn imports(&mut self, given: Option<Given>) -> Imports {
        let Some(mut fields) = given.and_then(|given| self.reader.fields(given.value, &IMPORTS)) else {
            return Imports::default();
        };
        let imports = Imports {
            matchers: self.files(fields.take("matchers")),
            transforms: self.files(fields.take("transforms")),
        };
        self.reader.finish(fields);
        imports
    }

    fn files(&mut self, given: Option<Given>) -> Vec<Import> {
        let Some(given) = given else { return Vec::new() };
        let mut imports = Vec::new();
        for node in self.reader.list(given) {
            match &node.kind {
                Kind::String(text) if !text.trim().is_empty() => {
                    imports.push(Import { reference: text.clone(), span: node.span });
                }
                _ => {
                    let message = format!("expected the file of an extension or its id, found {}", node.describe());
                    self.reader.error(node.span, message).hints.push("for example: `matchers: [./near.wasm]`".into());
                }
            }
        }
        imports
    }
}
