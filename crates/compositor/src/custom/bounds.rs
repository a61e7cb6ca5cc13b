//! Bounds on what a shader does for a pixel, so that no shader keeps the GPU busy until the system
//! takes it away.
//!
//! An operation is an expression that the shader evaluates. All operations of a function and of
//! those that it calls are counted once, which bounds what is done outside loops and what drivers
//! have to compile, as they inline all calls. Loops count their own operations as they run, in a
//! variable that all loops of a pixel share: when there are too many, functions with loops return
//! zero.

use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal,
    Module, Range, Scalar, Span, Statement, Type, TypeInner,
};

/// The most operations that a shader may have, loops counted once.
pub const MAX_SHADER_OPERATIONS: u64 = 1 << 14;

/// The most operations that a shader does in loops for a pixel. A function that would do more
/// returns zero.
pub const MAX_OPERATIONS_IN_LOOPS: u32 = 1 << 16;

/// Bounds all functions of a module.
///
/// # Errors
///
/// The number of operations, if there are more than [`MAX_SHADER_OPERATIONS`].
pub(super) fn bound(module: &mut Module) -> Result<(), u64> {
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
    // A function comes after those that it calls.
    let mut costs = Vec::with_capacity(module.functions.len());
    for (_, function) in module.functions.iter_mut() {
        let cost = cost(&function.body, &costs);
        if cost > MAX_SHADER_OPERATIONS {
            return Err(cost);
        }
        costs.push(cost);
        let mut body = std::mem::take(&mut function.body);
        bound_loops(&mut body, function, counter, &costs);
        function.body = body;
    }
    Ok(())
}

/// The number of operations in a block, `costs` being those of the functions before.
fn cost(block: &Block, costs: &[u64]) -> u64 {
    block.iter().fold(0, |sum: u64, statement| {
        let own = match statement {
            Statement::Emit(range) => range.clone().count() as u64,
            Statement::Call { function, .. } => 1 + costs[function.index()],
            _ => 1,
        };
        let inner = blocks(statement).map(|block| cost(block, costs));
        inner.fold(sum.saturating_add(own), u64::saturating_add)
    })
}

/// The blocks in a statement.
fn blocks(statement: &Statement) -> impl Iterator<Item = &Block> {
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

fn bound_loops(
    block: &mut Block,
    function: &mut Function,
    counter: Handle<GlobalVariable>,
    costs: &[u64],
) {
    for statement in block.iter_mut() {
        match statement {
            Statement::Block(block) => bound_loops(block, function, counter, costs),
            Statement::If { accept, reject, .. } => {
                bound_loops(accept, function, counter, costs);
                bound_loops(reject, function, counter, costs);
            }
            Statement::Switch { cases, .. } => {
                for case in cases {
                    bound_loops(&mut case.body, function, counter, costs);
                }
            }
            Statement::Loop {
                body, continuing, ..
            } => {
                // A loop that does nothing goes round, too.
                let cost = 1 + cost(body, costs) + cost(continuing, costs);
                bound_loops(body, function, counter, costs);
                // At most MAX_SHADER_OPERATIONS.
                let count = count_iteration(function, counter, cost as u32);
                body.splice(0..0, count);
            }
            _ => {}
        }
    }
}

/// `if counter > MAX { return zero; } counter += cost;`
fn count_iteration(function: &mut Function, counter: Handle<GlobalVariable>, cost: u32) -> Block {
    let zero = function.result.as_ref().map(|result| result.ty);
    let mut add = |expression| function.expressions.append(expression, Span::UNDEFINED);
    let value = zero.map(|ty| add(Expression::ZeroValue(ty)));
    let literal = |number| Expression::Literal(Literal::U32(number));
    let pointer = add(Expression::GlobalVariable(counter));
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
            accept: Block::from_vec(vec![Statement::Return { value }]),
            reject: Block::new(),
        },
        Statement::Store {
            pointer,
            value: with_this,
        },
    ])
}
