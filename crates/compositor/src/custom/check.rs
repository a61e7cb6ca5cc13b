//! Checks a shader's source and puts it together with ours.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{
    AddressSpace, Block, Expression, Handle, MathFunction, Module, ScalarKind, Span, Statement,
    Type, TypeInner, VectorSize, back::wgsl,
};

use super::bounds;
use super::error::{MAX_SHADER_BYTES, MAX_VARIABLE_BYTES, ShaderProblem};
use super::spec::Uniform;
use super::uniforms;

/// A shader that can be compiled.
#[derive(Debug)]
pub(crate) struct CheckedShader {
    /// A number that no other shader has.
    pub(crate) id: u64,
    /// All of its source, ours included.
    pub(crate) wgsl: String,
    /// Whether it may take many operations for a pixel.
    pub(crate) has_loops: bool,
    /// Whether its colours may change with `place.time`.
    pub(crate) reads_time: bool,
}

/// The same number is the same shader.
impl PartialEq for CheckedShader {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// What the author's source finds declared.
const PLACE: &str =
    "struct Place { position: vec2<f32>, uv: vec2<f32>, size: vec2<f32>, pixel: f32, time: f32 } ";

/// Before all names of the author's, so that none is one of ours.
const PREFIX: &str = "author_";

/// Checks the author's source.
pub(crate) fn check(
    source: &str,
    uniforms: &BTreeMap<String, Uniform>,
) -> Result<CheckedShader, ShaderProblem> {
    let source_bytes = source.len() as u64;
    if source_bytes > MAX_SHADER_BYTES {
        return Err(ShaderProblem::TooLong { source_bytes });
    }
    uniforms.keys().try_for_each(|name| uniform_name(name))?;
    let wgsl = on_large_stack(|| compose(source, &uniforms::members(uniforms)))
        .map_err(ShaderProblem::NoThread)??;
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Ok(CheckedShader {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        wgsl,
        has_loops: ["loop", "for", "while"]
            .iter()
            .any(|word| source.contains(word)),
        // The member can be had by its name alone.
        reads_time: source.contains("time"),
    })
}

/// Runs what may nest as deep as the author's source: the compiler recurses up to its own limits,
/// for which the stack of an ordinary thread may be too small.
///
/// # Errors
///
/// If the system starts no thread.
pub(crate) fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> io::Result<T> {
    const STACK_BYTES: usize = 64 << 20;
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("framefence shader".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, run)?;
        Ok(thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn uniform_name(name: &str) -> Result<(), ShaderProblem> {
    let is_identifier = name
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || character == '_');
    // Words that the language keeps for itself are known to its parser.
    let is_allowed = is_identifier
        && naga::front::wgsl::parse_str(&format!("struct Uniforms {{ {name}: f32 }}")).is_ok();
    match is_allowed {
        true => Ok(()),
        false => Err(ShaderProblem::UniformName {
            name: name.to_owned(),
        }),
    }
}

fn compose(source: &str, members: &str) -> Result<String, ShaderProblem> {
    let mut declared = PLACE.to_owned();
    if !members.is_empty() {
        declared += &format!("struct Uniforms {{ {members}}} var<private> uniforms: Uniforms; ");
    }
    let text = Text {
        whole: declared.clone() + source,
        source_start: declared.len(),
    };
    let mut module = parse(&text)?;
    let info = validate(&module, &text)?;
    available(&module, &info, &text)?;
    shade(&module)?;
    bounds::bound(&mut module, &info)
        .map_err(|operations| ShaderProblem::TooManyOperations { operations })?;
    prefix_names(&mut module);

    let not_compiled = |message| ShaderProblem::NotCompiled { message };
    let info = validator()
        .validate(&module)
        .map_err(|error| not_compiled(chain(error.as_inner())))?;
    let author = wgsl::write_string(&module, &info, wgsl::WriterFlags::EXPLICIT_TYPES)
        .map_err(|error| not_compiled(chain(&error)))?;
    let glue = match members.is_empty() {
        true => "struct Paint { draw: Custom } fn begin() {}",
        false => {
            "struct Paint { draw: Custom, uniforms: author_Uniforms }
            fn begin() { author_uniforms = paint.uniforms; }"
        }
    };
    let whole = [
        author.as_str(),
        glue,
        include_str!("../../../../shaders/layer.wgsl"),
        include_str!("../../../../shaders/layer_custom.wgsl"),
    ]
    .concat();
    // What only an entry point decides, such as whether a fragment may do something.
    let module = naga::front::wgsl::parse_str(&whole)
        .map_err(|error| not_compiled(error.message().to_owned()))?;
    validator()
        .validate(&module)
        .map_err(|error| not_compiled(chain(error.as_inner())))?;
    Ok(whole)
}

/// The author's source behind what we declare.
struct Text {
    whole: String,
    source_start: usize,
}

impl Text {
    /// Line and column in the author's source, both from 1.
    fn place(&self, span: Span) -> (usize, usize) {
        let offset = span
            .to_range()
            .map_or(0, |range| range.start.saturating_sub(self.source_start));
        let source = &self.whole[self.source_start..];
        let before = source.get(..offset).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }

    fn invalid(&self, spans: impl Iterator<Item = Span>, message: String) -> ShaderProblem {
        let is_authors = |span: &Span| {
            span.to_range()
                .is_some_and(|range| range.start >= self.source_start)
        };
        let span = spans.into_iter().find(is_authors).unwrap_or_default();
        let (line, column) = self.place(span);
        ShaderProblem::Invalid {
            line,
            column,
            message,
        }
    }

    fn unavailable(&self, span: Span, what: &'static str) -> ShaderProblem {
        let (line, column) = self.place(span);
        ShaderProblem::Unavailable { line, column, what }
    }
}

fn parse(text: &Text) -> Result<Module, ShaderProblem> {
    naga::front::wgsl::parse_str(&text.whole).map_err(|error| {
        let spans = error.labels().map(|(span, _)| span);
        text.invalid(spans, error.message().to_owned())
    })
}

fn validate(module: &Module, text: &Text) -> Result<ModuleInfo, ShaderProblem> {
    validator().validate(module).map_err(|error| {
        let spans = error.spans().map(|(span, _)| *span);
        text.invalid(spans, chain(error.as_inner()))
    })
}

fn validator() -> Validator {
    Validator::new(ValidationFlags::all(), Capabilities::empty())
}

/// Refuses what a layer's shader must not have.
fn available(module: &Module, info: &ModuleInfo, text: &Text) -> Result<(), ShaderProblem> {
    if let Some(entry) = module.entry_points.first() {
        // Its own place is not known; that of its first statement is.
        let span = entry.function.body.span_iter().next();
        return Err(text.unavailable(
            span.map_or(Span::UNDEFINED, |(_, span)| *span),
            "an entry point",
        ));
    }
    if let Some((handle, _)) = module.overrides.iter().next() {
        return Err(text.unavailable(module.overrides.get_span(handle), "an override"));
    }
    for (handle, variable) in module.global_variables.iter() {
        if variable.space != AddressSpace::Private {
            let span = module.global_variables.get_span(handle);
            return Err(text.unavailable(span, "a binding or shared memory"));
        }
    }
    for (handle, ty) in module.types.iter() {
        let type_bytes = ty.inner.try_size(module.to_ctx());
        if type_bytes.is_none_or(|bytes| bytes > MAX_VARIABLE_BYTES) {
            let (line, column) = text.place(span_of_type(module, handle));
            return Err(ShaderProblem::TypeTooLarge {
                line,
                column,
                type_bytes: type_bytes.map_or(u64::from(u32::MAX), u64::from),
            });
        }
    }
    for (function_handle, function) in module.functions.iter() {
        for (handle, expression) in function.expressions.iter() {
            let what = match expression {
                Expression::Derivative { .. } => "a derivative",
                // They return structures whose types cannot be written down as WGSL again.
                Expression::Math { fun, .. } if *fun == MathFunction::Modf => "`modf`",
                Expression::Math { fun, .. } if *fun == MathFunction::Frexp => "`frexp`",
                _ => continue,
            };
            return Err(text.unavailable(function.expressions.get_span(handle), what));
        }
        // The validator lets them pass; the writer of SPIR-V panics.
        let is_pointer = |handle: Handle<Expression>| {
            let ty = info[function_handle][handle].ty.inner_with(&module.types);
            ty.pointer_space().is_some()
        };
        let part = arguments(&function.body).into_iter().find(|&argument| {
            let expression = &function.expressions[argument];
            let is_part = matches!(
                expression,
                Expression::Access { .. } | Expression::AccessIndex { .. }
            );
            is_part && is_pointer(argument)
        });
        if let Some(part) = part {
            return Err(text.unavailable(
                function.expressions.get_span(part),
                "a pointer to a part of a variable, as an argument,",
            ));
        }
    }
    Ok(())
}

/// What a block's calls are given.
fn arguments(block: &Block) -> Vec<Handle<Expression>> {
    let mut all = Vec::new();
    for statement in block {
        if let Statement::Call { arguments, .. } = statement {
            all.extend(arguments);
        }
        all.extend(bounds::blocks(statement).flat_map(arguments));
    }
    all
}

/// The place of a type, or that of the first variable of it.
fn span_of_type(module: &Module, ty: Handle<Type>) -> Span {
    let globals = module
        .global_variables
        .iter()
        .filter(|(_, variable)| variable.ty == ty);
    let globals = globals.map(|(handle, _)| module.global_variables.get_span(handle));
    let locals = module.functions.iter().flat_map(|(_, function)| {
        let locals = function
            .local_variables
            .iter()
            .filter(|(_, variable)| variable.ty == ty);
        locals.map(|(handle, _)| function.local_variables.get_span(handle))
    });
    [module.types.get_span(ty)]
        .into_iter()
        .chain(globals)
        .chain(locals)
        .find(Span::is_defined)
        .unwrap_or_default()
}

/// The function that finds colours is there, and takes and gives what it must.
fn shade(module: &Module) -> Result<(), ShaderProblem> {
    let function = module
        .functions
        .iter()
        .find(|(_, function)| function.name.as_deref() == Some("shade"));
    let fits = function.is_some_and(|(_, function)| {
        let result = function.result.as_ref().map(|result| result.ty);
        let is_color = result.is_some_and(|ty| {
            matches!(
                module.types[ty].inner,
                TypeInner::Vector { size: VectorSize::Quad, scalar }
                    if scalar.kind == ScalarKind::Float && scalar.width == 4
            )
        });
        let takes_place = match function.arguments.as_slice() {
            [place] => module.types[place.ty].name.as_deref() == Some("Place"),
            _ => false,
        };
        is_color && takes_place
    });
    match fits {
        true => Ok(()),
        false => Err(ShaderProblem::NoShade),
    }
}

fn prefix_names(module: &mut Module) {
    let prefix = |name: &mut Option<String>| {
        if let Some(name) = name {
            name.insert_str(0, PREFIX);
        }
    };
    for (_, function) in module.functions.iter_mut() {
        prefix(&mut function.name);
    }
    for (_, variable) in module.global_variables.iter_mut() {
        prefix(&mut variable.name);
    }
    for (_, constant) in module.constants.iter_mut() {
        prefix(&mut constant.name);
    }
    let named: Vec<_> = module
        .types
        .iter()
        .filter(|(_, ty)| ty.name.as_ref().is_some_and(|name| !name.starts_with("__")))
        .map(|(handle, ty)| (handle, ty.clone()))
        .collect();
    for (handle, mut ty) in named {
        prefix(&mut ty.name);
        module.types.replace(handle, ty);
    }
}

/// An error with all that caused it.
fn chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        message += &format!(": {error}");
        source = error.source();
    }
    message
}
