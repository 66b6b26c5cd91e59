//! Imports and exports: a script has none, so they are taken out and remembered.

use std::collections::HashSet;

use oxc::allocator::{Allocator, TakeIn as _};
use oxc::ast::ast::{
    Class, ClassType, ExportDefaultDeclarationKind, Expression, Function, FunctionType,
    ImportDeclaration, ImportDeclarationSpecifier, Program, Statement, TSModuleReference,
};

use super::compile_error::{CompileError, Kind};
use super::needs;

/// The imports and exports of a module.
#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    /// The default export.
    pub default: Option<Exported<'a>>,
    /// Names that it imports from React, each with its full name.
    pub names: Vec<(String, String)>,
    /// The modules that these were imported from, as they were written.
    pub dropped: Vec<String>,
    /// Names that it imports from elsewhere, which is a fault already.
    pub foreign: HashSet<String>,
    /// Imports of features that only React has, each with its first byte.
    pub needs: Vec<(u32, &'static str)>,
    /// Imports that cannot be had.
    pub faults: Vec<CompileError>,
}

/// A default export.
#[derive(Debug)]
pub(super) enum Exported<'a> {
    /// Of something that is declared.
    Name(String),
    /// Of something without a name.
    Expression(Expression<'a>),
}

/// Takes imports and exports out of the program. What is exported stays as a declaration.
pub(super) fn open<'a>(program: &mut Program<'a>, allocator: &'a Allocator) -> Module<'a> {
    let mut module = Module::default();
    let statements = program.body.take_in(&allocator);
    for statement in statements {
        if let Some(kept) = module.statement(statement) {
            program.body.push(kept);
        }
    }
    module
}

impl<'a> Module<'a> {
    /// Whether a name is imported from React.
    pub fn imports(&self, name: &str) -> bool {
        self.names.iter().any(|(local, _)| local == name)
    }

    /// Whether a name is React or `ReactDOM` as a whole, by an import.
    pub fn is_react(&self, name: &str) -> bool {
        let is_whole = |value: &str| matches!(value, "React" | "ReactDOM");
        (self.names.iter()).any(|(local, value)| local == name && is_whole(value))
    }

    fn statement(&mut self, statement: Statement<'a>) -> Option<Statement<'a>> {
        match statement {
            Statement::ImportDeclaration(import) => {
                self.import(&import);
                None
            }
            Statement::TSImportEqualsDeclaration(import) => {
                if let TSModuleReference::ExternalModuleReference(outer) = &import.module_reference
                {
                    self.refuse(import.span.start, &outer.expression.value);
                    self.foreign.insert(import.id.name.to_string());
                    return None;
                }
                Some(Statement::TSImportEqualsDeclaration(import))
            }
            Statement::ExportAllDeclaration(export) => {
                self.refuse(export.span.start, &export.source.value);
                None
            }
            Statement::ExportFromDeclaration(export) => {
                match global(&export.source.value) {
                    Some(_) => self.drop_module(&export.source.value),
                    None => self.refuse(export.span.start, &export.source.value),
                }
                None
            }
            Statement::ExportNamedDeclaration(export) => {
                let default = export
                    .specifiers
                    .iter()
                    .find(|specifier| specifier.exported.name() == "default");
                if let Some(specifier) = default {
                    self.default = Some(Exported::Name(specifier.local.name().to_string()));
                }
                None
            }
            Statement::ExportDeclaration(export) => {
                Some(Statement::from(export.unbox().declaration))
            }
            Statement::ExportDefaultDeclaration(export) => {
                self.by_default(export.unbox().declaration)
            }
            Statement::TSExportAssignment(export) => {
                self.export(export.unbox().expression);
                None
            }
            Statement::TSNamespaceExportDeclaration(_) => None,
            other => Some(other),
        }
    }

    fn import(&mut self, import: &ImportDeclaration<'a>) {
        let module = import.source.value.as_str();
        let specifiers = import.specifiers.iter().flatten();
        let Some(global) = global(module) else {
            self.refuse(import.span.start, module);
            self.foreign
                .extend(specifiers.map(|specifier| specifier.local().name.to_string()));
            return;
        };
        self.drop_module(module);
        for specifier in specifiers {
            let value = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(named) => {
                    match named.imported.name().as_str() {
                        "default" => global.to_owned(),
                        imported => {
                            let need = needs::of_react_only(imported);
                            let start = named.span.start;
                            self.needs.extend(need.map(|feature| (start, feature)));
                            format!("{global}[{}]", serde_json::Value::from(imported))
                        }
                    }
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_)
                | ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => global.to_owned(),
            };
            let local = specifier.local().name.to_string();
            // The parameters of the script have these names already.
            let given = matches!(local.as_str(), "React" | "ReactDOM");
            if !given && !self.names.iter().any(|(name, _)| *name == local) {
                self.names.push((local, value));
            }
        }
    }

    fn by_default(
        &mut self,
        declaration: ExportDefaultDeclarationKind<'a>,
    ) -> Option<Statement<'a>> {
        match declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(mut function) => {
                // Without a body it is a signature for TypeScript alone.
                function.body.as_ref()?;
                let Function { id, r#type, .. } = &mut *function;
                if let Some(id) = id {
                    self.default = Some(Exported::Name(id.name.to_string()));
                    return Some(Statement::FunctionDeclaration(function));
                }
                *r#type = FunctionType::FunctionExpression;
                self.export(Expression::FunctionExpression(function));
                None
            }
            ExportDefaultDeclarationKind::ClassDeclaration(mut class) => {
                let Class { id, r#type, .. } = &mut *class;
                if let Some(id) = id {
                    self.default = Some(Exported::Name(id.name.to_string()));
                    return Some(Statement::ClassDeclaration(class));
                }
                *r#type = ClassType::ClassExpression;
                self.export(Expression::ClassExpression(class));
                None
            }
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(interface) => {
                Some(Statement::TSInterfaceDeclaration(interface))
            }
            expression => {
                if let Ok(expression) = Expression::try_from(expression) {
                    self.export(expression);
                }
                None
            }
        }
    }

    fn export(&mut self, expression: Expression<'a>) {
        self.default = Some(match expression.get_inner_expression() {
            Expression::Identifier(name) => Exported::Name(name.name.to_string()),
            _ => Exported::Expression(expression),
        });
    }

    fn drop_module(&mut self, module: &str) {
        if !self.dropped.iter().any(|dropped| dropped == module) {
            self.dropped.push(module.to_owned());
        }
    }

    fn refuse(&mut self, at: u32, module: &str) {
        self.faults
            .push(CompileError::new(Kind::Import, at, refusal(module)));
    }
}

/// The reason why a module cannot be imported.
pub(super) fn refusal(module: &str) -> String {
    format!(
        "{module:?} cannot be imported; React and ReactDOM are in scope, everything else comes by props"
    )
}

/// The global in place of a module.
fn global(module: &str) -> Option<&'static str> {
    match module {
        "react" => Some("React"),
        "react-dom" | "react-dom/client" => Some("ReactDOM"),
        _ => None,
    }
}
