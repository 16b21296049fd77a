//! Trees of tasks that wait for their children.

use crate::protocol::{on_worker, per_operation, sum_below, Answer, Request};
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "fib" => |asked| grow(asked, fib_tree),
        "skynet" => |asked| grow(asked, skynet_tree),
        "nqueens" => |asked| grow(asked, queens_tree),
        _ => return None,
    })
}

type Sum = Pin<Box<dyn Future<Output = u64> + Send>>;

struct Tree {
    tasks: u64,
    result: u64,
    root: Sum,
}

fn grow(asked: &Request, make: fn(f64) -> Tree) -> Answer {
    let (warm, full) = (make(asked.scale), make(asked.scale));
    let tasks = full.tasks;
    let taken = on_worker(&asked.start_runtime(), async move {
        assert_eq!(tokio::spawn(warm.root).await.unwrap(), warm.result);
        let begun = Instant::now();
        assert_eq!(tokio::spawn(full.root).await.unwrap(), full.result);
        begun.elapsed()
    });
    per_operation(taken, tasks)
}

fn fib(n: u64) -> Sum {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let one = tokio::spawn(fib(n - 1));
        let other = tokio::spawn(fib(n - 2));
        one.await.unwrap() + other.await.unwrap()
    })
}

fn fib_of(n: u64) -> u64 {
    (0..n).fold((0, 1), |(one, next), _| (next, one + next)).0
}

fn fib_tree(scale: f64) -> Tree {
    let steps = (scale.ln() / 1.618_f64.ln()).round();
    let n = (30.0 + steps).clamp(10.0, 40.0) as u64;
    Tree { tasks: 2 * fib_of(n + 1) - 1, result: fib_of(n), root: fib(n) }
}

fn skynet(number: u64, leaves: u64) -> Sum {
    Box::pin(async move {
        if leaves == 1 {
            return number;
        }
        let mut children = Vec::with_capacity(10);
        for i in 0..10 {
            children.push(tokio::spawn(skynet(number + i * leaves / 10, leaves / 10)));
        }
        let mut sum = 0;
        for one in children {
            sum += one.await.unwrap();
        }
        sum
    })
}

fn skynet_tasks(leaves: u64) -> u64 {
    if leaves == 1 { 1 } else { leaves + skynet_tasks(leaves / 10) }
}

fn skynet_tree(scale: f64) -> Tree {
    let (mut leaves, mut left) = (1_000_000, scale);
    while left < 0.9 && leaves > 100 {
        leaves /= 10;
        left *= 10.0;
    }
    Tree { tasks: skynet_tasks(leaves), result: sum_below(leaves), root: skynet(0, leaves) }
}

/// Where queens stand so far: columns, and diagonals that fall and rise.
#[derive(Clone, Copy, Default)]
struct Board {
    columns: u32,
    falling: u32,
    rising: u32,
}

impl Board {
    fn is_free(self, column: u32) -> bool {
        (self.columns | self.falling | self.rising) & (1 << column) == 0
    }
    fn with(self, column: u32) -> Board {
        let here = 1 << column;
        Board {
            columns: self.columns | here,
            falling: (self.falling | here) << 1,
            rising: (self.rising | here) >> 1,
        }
    }
}

fn queens(size: u32, so_far: Board, row: u32) -> Sum {
    Box::pin(async move {
        if row == size {
            return 1;
        }
        let mut children = Vec::with_capacity(size as usize);
        for column in 0..size {
            if so_far.is_free(column) {
                children.push(tokio::spawn(queens(size, so_far.with(column), row + 1)));
            }
        }
        let mut sum = 0;
        for one in children {
            sum += one.await.unwrap();
        }
        sum
    })
}

fn queens_tasks(size: u32, so_far: Board, row: u32) -> u64 {
    let columns = if row < size { 0..size } else { 0..0 };
    let below = columns.filter(|column| so_far.is_free(*column));
    1 + below.map(|column| queens_tasks(size, so_far.with(column), row + 1)).sum::<u64>()
}

fn queens_tree(scale: f64) -> Tree {
    let (size, result) = match scale {
        scale if scale > 0.9 => (11, 2_680),
        scale if scale > 0.09 => (10, 724),
        _ => (8, 92),
    };
    let root = queens(size, Board::default(), 0);
    Tree { tasks: queens_tasks(size, Board::default(), 0), result, root }
}
