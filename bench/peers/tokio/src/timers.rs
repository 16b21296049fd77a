//! Many timers at once, and many that never strike.

use crate::protocol::{timed, Answer, Request};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{sleep, timeout};

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "sleeps" => |asked| timed(asked, 1_000_000, 1, sleeps),
        "timeouts" => |asked| timed(asked, 1_000_000, 1, timeouts),
        _ => return None,
    })
}

async fn sleeps(count: u64) {
    let mut all = Vec::with_capacity(count as usize);
    for i in 0..count {
        all.push(tokio::spawn(async move {
            sleep(Duration::from_millis(1 + i * 7 % 100)).await;
            1
        }));
    }
    let mut woken = 0;
    for one in all {
        woken += one.await.unwrap();
    }
    assert_eq!(woken, count);
}

/// Suspends once. Cheaper than yield_now(), which waits until the runtime has looked at its driver.
async fn waits_a_little() -> u64 {
    let mut waited = false;
    poll_fn(|context| {
        if waited {
            return Poll::Ready(1);
        }
        waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

async fn timeouts(count: u64) {
    let mut in_time = 0;
    for _ in 0..count {
        in_time += timeout(Duration::from_secs(3_600), waits_a_little()).await.unwrap_or(0);
    }
    assert_eq!(in_time, count);
}
