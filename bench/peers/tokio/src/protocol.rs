//! What a contestant is asked, and how it answers.

use std::future::Future;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

pub struct Request {
    pub question: String,
    pub workers: usize,
    pub scale: f64,
    pub buffer: usize,
    pub hog: bool,
    pub path: String,
}

pub struct Answer {
    pub unit: &'static str,
    pub value: f64,
    pub operations: u64,
}

impl Request {
    /// `program QUESTION --workers N [--scale K] ...`
    pub fn from_command_line() -> Request {
        let mut words = std::env::args().skip(1);
        let mut asked = Request {
            question: words.next().expect("usage: QUESTION --workers N [--scale K]"),
            workers: 1,
            scale: 1.0,
            buffer: 16_384,
            hog: false,
            path: "/var/tmp".to_string(),
        };
        while let (Some(flag), Some(value)) = (words.next(), words.next()) {
            match flag.as_str() {
                "--workers" => asked.workers = value.parse().expect("a number"),
                "--scale" => asked.scale = value.parse().expect("a number"),
                "--buffer" => asked.buffer = value.parse().expect("a number"),
                "--hog" => asked.hog = value == "1",
                "--path" => asked.path = value,
                other => panic!("unknown flag {other}"),
            }
        }
        asked
    }

    /// So many operations at scale 1; at least one, and always a multiple of `multiple`.
    pub fn scaled(&self, full: u64, multiple: u64) -> u64 {
        ((full as f64 * self.scale) as u64 / multiple).max(1) * multiple
    }

    pub fn start_runtime(&self) -> Runtime {
        Builder::new_multi_thread().worker_threads(self.workers).enable_all().build().unwrap()
    }
}

pub fn sum_below(count: u64) -> u64 {
    count * (count - 1) / 2
}

pub fn per_operation(time: Duration, operations: u64) -> Answer {
    Answer { unit: "ns/op", value: time.as_nanos() as f64 / operations as f64, operations }
}

/// By a task on a worker, not by the thread that waits in block_on().
pub fn on_worker<T: Send + 'static>(
    runtime: &Runtime,
    what: impl Future<Output = T> + Send + 'static,
) -> T {
    runtime.block_on(async { tokio::spawn(what).await.unwrap() })
}

/// A body, by a task, first to warm up and then by the clock.
pub fn timed<Body, Run>(asked: &Request, full: u64, multiple: u64, body: Body) -> Answer
where
    Body: Fn(u64) -> Run + Send + 'static,
    Run: Future<Output = ()> + Send,
{
    let count = asked.scaled(full, multiple);
    let taken = on_worker(&asked.start_runtime(), async move {
        body(count).await;
        let begun = Instant::now();
        body(count).await;
        begun.elapsed()
    });
    per_operation(taken, count)
}

/// What this process has in memory, in bytes.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}

pub fn print(asked: &Request, got: &Answer) {
    let mimalloc = cfg!(feature = "mimalloc");
    println!(
        "{{\"question\": \"{}\", \"runtime\": \"{}\", \"version\": \"{}\", \"flags\": \"{}\", \
         \"workers\": {}, \"unit\": \"{}\", \"value\": {:.6}, \"operations\": {}}}",
        asked.question,
        if mimalloc { "tokio-mimalloc" } else { "tokio" },
        env!("TOKIO_VERSION"),
        if mimalloc { "release, lto, one codegen unit, mimalloc" } else { "release, lto, one codegen unit" },
        asked.workers,
        got.unit,
        got.value,
        got.operations
    );
}
