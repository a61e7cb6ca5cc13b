//! Bounds on what a shader does for a pixel, so that no shader keeps the GPU busy until the system
//! takes it away.
//!
//! An operation is an expression that the shader evaluates, or a part of it as large as a vector.
//! All operations of a function and of those that it calls are counted once, which bounds what is
//! done outside loops and what drivers have to compile, as they inline all calls. Loops count their
//! own operations as they run, in a variable that all loops of a pixel share: when there are too
//! many, functions with loops return zero.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal,
    Module, Range, Scalar, Span, Statement, Type, TypeInner,
};

/// The most operations that a shader may have, loops counted once and as 64 more each.
pub const MAX_SHADER_OPERATIONS: u64 = 1 << 14;

/// The most operations that a shader does in loops for a pixel. A function that would do more
/// returns zero.
pub const MAX_OPERATIONS_IN_LOOPS: u32 = 1 << 16;

/// Bounds all functions of a module, which has been validated.
///
/// # Errors
///
/// The number of operations, if there are more than [`MAX_SHADER_OPERATIONS`].
pub(super) fn bound(module: &mut Module, info: &ModuleInfo) -> Result<(), u64> {
    // A function comes after those that it calls.
    let mut costs = Costs::default();
    let variable = |ty| vectors(module, &module.types[ty].inner);
    let globals = module
        .global_variables
        .iter()
        .map(|(_, global)| variable(global.ty));
    let globals: u64 = globals.sum();
    for (handle, function) in module.functions.iter() {
        costs.begin(module, function, &info[handle]);
        // Variables begin with a value, too.
        let locals = function
            .local_variables
            .iter()
            .map(|(_, local)| variable(local.ty));
        let cost = costs
            .of(&function.body)
            .saturating_add(locals.sum::<u64>() + globals);
        if cost > MAX_SHADER_OPERATIONS {
            return Err(cost);
        }
        costs.functions.push(cost);
    }

    let u32_type = module.types.insert(
        Type {
            name: None,
            inner: TypeInner::Scalar(Scalar::U32),
        },
        Span::UNDEFINED,
    );
    let counter = module.global_variables.append(
        GlobalVariable {
            name: Some("operations_in_loops".to_owned()),
            space: AddressSpace::Private,
            binding: None,
            ty: u32_type,
            init: None,
            memory_decorations: naga::MemoryDecorations::empty(),
        },
        Span::UNDEFINED,
    );
    for (handle, mut function, span) in std::mem::take(&mut module.functions).drain() {
        costs.begin(module, &function, &info[handle]);
        let mut body = std::mem::take(&mut function.body);
        let mut bounding = Bounding {
            function: &mut function,
            counter,
            costs: &costs,
        };
        bounding.loops(&mut body, Exit::Return);
        function.body = body;
        module.functions.append(function, span);
    }
    Ok(())
}

/// What a loop counts as where it stands: compilers take that much longer over it.
const LOOP_OPERATIONS: u64 = 64;

/// How many operations there are in what.
#[derive(Default)]
struct Costs {
    /// In the functions so far, with all that they call.
    functions: Vec<u64>,
    /// In the expressions of the function at hand: one for each vector's worth of its value, so that
    /// copies of arrays count.
    expressions: Vec<u64>,
}

impl Costs {
    fn begin(&mut self, module: &Module, function: &Function, info: &FunctionInfo) {
        let cost =
            |handle: Handle<Expression>| vectors(module, info[handle].ty.inner_with(&module.types));
        let handles = function.expressions.iter().map(|(handle, _)| handle);
        self.expressions = handles.map(cost).collect();
    }

    /// In a block of the function at hand.
    fn of(&self, block: &Block) -> u64 {
        block.iter().fold(0, |sum: u64, statement| {
            let inner = blocks(statement).map(|block| self.of(block));
            inner.fold(
                sum.saturating_add(self.of_statement(statement)),
                u64::saturating_add,
            )
        })
    }

    /// In a statement without its blocks.
    fn of_statement(&self, statement: &Statement) -> u64 {
        let expression = |handle: &Handle<Expression>| self.expressions[handle.index()];
        match statement {
            Statement::Emit(range) => range.clone().map(|handle| expression(&handle)).sum(),
            Statement::Store { value, .. } => expression(value),
            Statement::Call {
                function,
                arguments,
                result,
            } => {
                let values: u64 = arguments.iter().chain(result).map(expression).sum();
                self.functions[function.index()].saturating_add(1 + values)
            }
            Statement::Loop { .. } => LOOP_OPERATIONS,
            _ => 1,
        }
    }
}

/// How many vectors are as large as a value, at least one.
fn vectors(module: &Module, ty: &TypeInner) -> u64 {
    const VECTOR_BYTES: u64 = 16;
    let bytes = ty.try_size(module.to_ctx()).map_or(0, u64::from);
    bytes.div_ceil(VECTOR_BYTES).max(1)
}

/// The blocks in a statement.
pub(super) fn blocks(statement: &Statement) -> impl Iterator<Item = &Block> {
    let (pair, cases): ([Option<&Block>; 2], &[_]) = match statement {
        Statement::Block(block) => ([Some(block), None], &[]),
        Statement::If { accept, reject, .. } => ([Some(accept), Some(reject)], &[]),
        Statement::Loop {
            body, continuing, ..
        } => ([Some(body), Some(continuing)], &[]),
        Statement::Switch { cases, .. } => ([None, None], cases),
        _ => ([None, None], &[]),
    };
    let pair = pair.into_iter().flatten();
    pair.chain(cases.iter().map(|case| &case.body))
}

/// How a loop ends that has done too much.
#[derive(Clone, Copy)]
enum Exit {
    /// The function returns zero.
    Return,
    /// The loop is left: it lies where nothing may return, between two rounds of another loop, which
    /// will end in the next round.
    Break,
}

/// A function whose loops are being bounded.
struct Bounding<'a> {
    function: &'a mut Function,
    counter: Handle<GlobalVariable>,
    costs: &'a Costs,
}

impl Bounding<'_> {
    fn loops(&mut self, block: &mut Block, exit: Exit) {
        for statement in block.iter_mut() {
            match statement {
                Statement::Block(block) => self.loops(block, exit),
                Statement::If { accept, reject, .. } => {
                    self.loops(accept, exit);
                    self.loops(reject, exit);
                }
                Statement::Switch { cases, .. } => {
                    for case in cases {
                        self.loops(&mut case.body, exit);
                    }
                }
                Statement::Loop {
                    body, continuing, ..
                } => {
                    // A loop that does nothing goes round, too.
                    let cost = 1 + self.costs.of(body) + self.costs.of(continuing);
                    self.loops(body, exit);
                    self.loops(continuing, Exit::Break);
                    // No more than all of the shader's.
                    let count = self.count_round(cost as u32, exit);
                    body.splice(0..0, count);
                }
                _ => {}
            }
        }
    }

    /// `if counter > MAX { return zero; } counter += cost;`
    fn count_round(&mut self, cost: u32, exit: Exit) -> Block {
        let zero = self.function.result.as_ref().map(|result| result.ty);
        let expressions = &mut self.function.expressions;
        let mut add = |expression| expressions.append(expression, Span::UNDEFINED);
        let literal = |number| Expression::Literal(Literal::U32(number));
        let end = match exit {
            Exit::Return => Statement::Return {
                value: zero.map(|ty| add(Expression::ZeroValue(ty))),
            },
            Exit::Break => Statement::Break,
        };
        let pointer = add(Expression::GlobalVariable(self.counter));
        let limit = add(literal(MAX_OPERATIONS_IN_LOOPS));
        let cost = add(literal(cost));
        let so_far = add(Expression::Load { pointer });
        let is_beyond = add(Expression::Binary {
            op: BinaryOperator::Greater,
            left: so_far,
            right: limit,
        });
        let with_this = add(Expression::Binary {
            op: BinaryOperator::Add,
            left: so_far,
            right: cost,
        });
        Block::from_vec(vec![
            Statement::Emit(Range::new_from_bounds(so_far, with_this)),
            Statement::If {
                condition: is_beyond,
                accept: Block::from_vec(vec![end]),
                reject: Block::new(),
            },
            Statement::Store {
                pointer,
                value: with_this,
            },
        ])
    }
}
