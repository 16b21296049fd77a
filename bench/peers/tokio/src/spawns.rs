//! Tasks that tasks and foreign threads start.

use crate::protocol::{sum_below, timed, Answer, Request};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{oneshot, Notify};

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "spawn_join" => |asked| timed(asked, 1_000_000, 1, spawn_join),
        "spawn_await" => |asked| timed(asked, 200_000, 1, spawn_await),
        "chained_spawn" => |asked| timed(asked, 1_000_000, 1, chained_spawn),
        "foreign_spawn_1" => |asked| timed(asked, 400_000, 4, |count| foreign_spawn(count, 1)),
        "foreign_spawn_2" => |asked| timed(asked, 400_000, 4, |count| foreign_spawn(count, 2)),
        "foreign_spawn_4" => |asked| timed(asked, 400_000, 4, |count| foreign_spawn(count, 4)),
        "spawn_blocking" => |asked| timed(asked, 20_000, 1, calls),
        _ => return None,
    })
}

async fn spawn_join(count: u64) {
    let mut all = Vec::with_capacity(count as usize);
    for i in 0..count {
        all.push(tokio::spawn(async move { i }));
    }
    let mut sum = 0;
    for one in all {
        sum += one.await.unwrap();
    }
    assert_eq!(sum, sum_below(count));
}

async fn spawn_await(count: u64) {
    let mut sum = 0;
    for i in 0..count {
        sum += tokio::spawn(async move { i }).await.unwrap();
    }
    assert_eq!(sum, sum_below(count));
}

fn link(last: oneshot::Sender<()>, left: u64) {
    tokio::spawn(async move {
        if left == 0 {
            last.send(()).unwrap();
        } else {
            link(last, left - 1);
        }
    });
}

async fn chained_spawn(count: u64) {
    let (last, ended) = oneshot::channel();
    link(last, count - 1);
    ended.await.unwrap();
}

async fn foreign_spawn(count: u64, threads: u64) {
    // Left behind, so that a task needs no more than a reference to them.
    let left: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(count)));
    let last: &'static Notify = Box::leak(Box::new(Notify::new()));
    for _ in 0..threads {
        let here = tokio::runtime::Handle::current();
        std::thread::spawn(move || {
            for _ in 0..count / threads {
                here.spawn(async move {
                    if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                        last.notify_one();
                    }
                });
            }
        });
    }
    last.notified().await;
    assert_eq!(left.load(Ordering::SeqCst), 0);
}

async fn calls(count: u64) {
    let mut sum = 0;
    for i in 0..count {
        sum += tokio::task::spawn_blocking(move || i).await.unwrap();
    }
    assert_eq!(sum, sum_below(count));
}
