// Goroutines that give way.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const yieldCrowd = 1000

func init() {
	timed("yield_one", 1_000_000, 1, func(count uint64) { mustBe(givesWay(count), count) })
	timed("yield_many", 1_000_000, yieldCrowd, yieldMany)
}

func givesWay(times uint64) uint64 {
	var turns uint64
	for turns < times {
		runtime.Gosched()
		turns++
	}
	return turns
}

func yieldMany(count uint64) {
	var all sync.WaitGroup
	var sum atomic.Uint64
	all.Add(yieldCrowd)
	for range yieldCrowd {
		go func() {
			sum.Add(givesWay(count / yieldCrowd))
			all.Done()
		}()
	}
	all.Wait()
	mustBe(sum.Load(), count)
}
