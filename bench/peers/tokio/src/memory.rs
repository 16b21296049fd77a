//! What a task costs that waits.

use crate::protocol::{on_worker, resident_bytes, Answer, Request};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tokio::sync::{mpsc, Notify};
use tokio::task::yield_now;

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "memory_parked" => |asked| measure(asked, park_on_notify),
        "memory_parked_channel" => |asked| measure(asked, park_on_channels),
        _ => return None,
    })
}

fn measure<Run>(asked: &Request, park: fn(u64) -> Run) -> Answer
where
    Run: Future<Output = u64> + Send + 'static,
{
    let count = asked.scaled(1_000_000, 1);
    let bytes = on_worker(&asked.start_runtime(), park(count));
    Answer { unit: "bytes/task", value: bytes as f64 / count as f64, operations: count }
}

async fn until(is: &AtomicU64, wanted: u64) {
    while is.load(Ordering::SeqCst) != wanted {
        yield_now().await;
    }
}

async fn park_on_notify(count: u64) -> u64 {
    let never = Arc::new(Notify::new());
    let waiting = Arc::new(AtomicU64::new(0));
    let before = resident_bytes();
    for _ in 0..count {
        let (never, waiting) = (never.clone(), waiting.clone());
        tokio::spawn(async move {
            waiting.fetch_add(1, Ordering::SeqCst);
            never.notified().await;
            waiting.fetch_sub(1, Ordering::SeqCst);
        });
    }
    until(&waiting, count).await;
    let after = resident_bytes();
    while waiting.load(Ordering::SeqCst) != 0 {
        never.notify_waiters();
        yield_now().await;
    }
    after - before
}

async fn park_on_channels(count: u64) -> u64 {
    let mut silent = Vec::with_capacity(count as usize);
    let waiting = Arc::new(AtomicU64::new(0));
    let before = resident_bytes();
    for _ in 0..count {
        let (tx, mut rx) = mpsc::channel::<u64>(1);
        silent.push(tx);
        let waiting = waiting.clone();
        tokio::spawn(async move {
            waiting.fetch_add(1, Ordering::SeqCst);
            let _ = rx.recv().await;
            waiting.fetch_sub(1, Ordering::SeqCst);
        });
    }
    until(&waiting, count).await;
    let after = resident_bytes();
    drop(silent);
    until(&waiting, 0).await;
    after - before
}
