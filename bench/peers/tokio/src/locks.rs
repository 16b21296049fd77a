//! A hundred tasks that want the same thing.

use crate::protocol::{timed, Answer, Request};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tokio::sync::{Mutex, Semaphore};

const CROWD: u64 = 100;
const PERMITS: usize = 10;

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "mutex_100" => |asked| timed(asked, 1_000_000, CROWD, mutex_100),
        "semaphore" => |asked| timed(asked, 200_000, CROWD, semaphore),
        _ => return None,
    })
}

async fn mutex_100(count: u64) {
    let total = Arc::new(Mutex::new(0));
    let mut all = Vec::new();
    for _ in 0..CROWD {
        let total = total.clone();
        all.push(tokio::spawn(async move {
            for _ in 0..count / CROWD {
                *total.lock().await += 1;
            }
        }));
    }
    for one in all {
        one.await.unwrap();
    }
    assert_eq!(*total.lock().await, count);
}

async fn semaphore(count: u64) {
    let limit = Arc::new(Semaphore::new(PERMITS));
    let total = Arc::new(AtomicU64::new(0));
    let mut all = Vec::new();
    for _ in 0..CROWD {
        let (limit, total) = (limit.clone(), total.clone());
        all.push(tokio::spawn(async move {
            for _ in 0..count / CROWD {
                let _held = limit.acquire().await.unwrap();
                tokio::task::yield_now().await;
                total.fetch_add(1, Ordering::SeqCst);
            }
        }));
    }
    for one in all {
        one.await.unwrap();
    }
    assert_eq!(total.load(Ordering::SeqCst), count);
}
