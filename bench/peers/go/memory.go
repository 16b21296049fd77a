// What a goroutine costs that waits.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

func init() {
	questions["memory_parked"] = func(asked request) answer { return park(asked, false) }
	questions["memory_parked_channel"] = func(asked request) answer { return park(asked, true) }
}

// On one channel for all, or on one for each.
func park(asked request, oneEach bool) answer {
	count := asked.scaled(1_000_000, 1)
	silent := make([]chan uint64, 0, count)
	shared := make(chan uint64)
	var waiting atomic.Uint64
	var ended sync.WaitGroup
	ended.Add(int(count))
	runtime.GC()
	before := residentBytes()
	for range count {
		never := shared
		if oneEach {
			never = make(chan uint64, 1)
			silent = append(silent, never)
		}
		go func() {
			waiting.Add(1)
			<-never
			ended.Done()
		}()
	}
	for waiting.Load() != count {
		runtime.Gosched()
	}
	bytes := residentBytes() - before
	close(shared)
	for _, one := range silent {
		close(one)
	}
	ended.Wait()
	return answer{"bytes/task", float64(bytes) / float64(count), count}
}
