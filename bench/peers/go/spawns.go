// Goroutines that goroutines start.
package main

import "sync"

func init() {
	timed("spawn_join", 1_000_000, 1, spawnJoin)
	timed("spawn_await", 200_000, 1, spawnAwait)
	timed("chained_spawn", 1_000_000, 1, chainedSpawn)
}

// A goroutine has no handle and no value: it leaves its number in a place of its own, and counts
// itself off.
func spawnJoin(count uint64) {
	var all sync.WaitGroup
	results := make([]uint64, count)
	all.Add(int(count))
	for i := range count {
		go func() {
			results[i] = i
			all.Done()
		}()
	}
	all.Wait()
	var sum uint64
	for _, one := range results {
		sum += one
	}
	mustBe(sum, sumBelow(count))
}

func spawnAwait(count uint64) {
	var sum uint64
	result := make(chan uint64, 1)
	for i := range count {
		go func() { result <- i }()
		sum += <-result
	}
	mustBe(sum, sumBelow(count))
}

func link(last chan<- struct{}, left uint64) {
	if left == 0 {
		last <- struct{}{}
	} else {
		go link(last, left-1)
	}
}

func chainedSpawn(count uint64) {
	last := make(chan struct{})
	go link(last, count-1)
	<-last
}
