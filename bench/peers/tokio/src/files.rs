//! Many reads of a file at once, or one after the other.

use crate::protocol::{on_worker, per_operation, Answer, Request};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

const BLOCK: usize = 4_096;
const BLOCKS: u64 = 16_384;

pub fn find(question: &str) -> Option<fn(&Request) -> Answer> {
    Some(match question {
        "file_reads_1" => |asked| file_reads(asked, 1),
        "file_reads_64" => |asked| file_reads(asked, 64),
        _ => return None,
    })
}

/// A file whose blocks begin with their number.
fn make_file(directory: &str) -> PathBuf {
    let path = PathBuf::from(format!("{directory}/blocks.{}", std::process::id()));
    let mut bytes = vec![0; BLOCK * BLOCKS as usize];
    for (number, block) in bytes.chunks_mut(BLOCK).enumerate() {
        block[..8].copy_from_slice(&(number as u64).to_le_bytes());
    }
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The same places in the same order for everybody who begins with the same number.
struct Places(u64);

impl Places {
    fn new(seed: u64) -> Places {
        Places(seed.wrapping_mul(2_654_435_761).wrapping_add(1))
    }
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % BLOCKS
    }
}

/// On the pool for blocking calls, as tokio::fs does it, but with one call for place and bytes.
async fn read_some(from: Arc<File>, seed: u64, times: u64) {
    let mut block = vec![0; BLOCK];
    let mut places = Places::new(seed);
    for _ in 0..times {
        let (place, from) = (places.next(), from.clone());
        block = tokio::task::spawn_blocking(move || {
            from.read_exact_at(&mut block, place * BLOCK as u64).unwrap();
            block
        })
        .await
        .unwrap();
        assert_eq!(u64::from_le_bytes(block[..8].try_into().unwrap()), place);
    }
}

async fn read_all(from: Arc<File>, depth: u64, count: u64) {
    let start = |seed| tokio::spawn(read_some(from.clone(), seed, count / depth));
    let readers: Vec<_> = (0..depth).map(start).collect();
    for one in readers {
        one.await.unwrap();
    }
}

fn file_reads(asked: &Request, depth: u64) -> Answer {
    let path = make_file(&asked.path);
    let from = Arc::new(File::open(&path).unwrap());
    let count = asked.scaled(102_400, depth);
    let taken = on_worker(&asked.start_runtime(), async move {
        read_all(from.clone(), depth, count).await;
        let begun = Instant::now();
        read_all(from, depth, count).await;
        begun.elapsed()
    });
    std::fs::remove_file(path).unwrap();
    per_operation(taken, count)
}
