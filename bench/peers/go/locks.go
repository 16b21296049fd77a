// A hundred goroutines that want the same thing.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	lockCrowd = 100
	permits   = 10
)

func init() {
	timed("mutex_100", 1_000_000, lockCrowd, mutex100)
	timed("semaphore", 200_000, lockCrowd, semaphore)
}

func mutex100(count uint64) {
	var one sync.Mutex
	var total uint64
	var all sync.WaitGroup
	for range lockCrowd {
		all.Add(1)
		go func() {
			for range count / lockCrowd {
				one.Lock()
				total++
				one.Unlock()
			}
			all.Done()
		}()
	}
	all.Wait()
	mustBe(total, count)
}

// What one has in place of a semaphore: a channel with as many places.
func semaphore(count uint64) {
	limit := make(chan struct{}, permits)
	var total atomic.Uint64
	var all sync.WaitGroup
	for range lockCrowd {
		all.Add(1)
		go func() {
			for range count / lockCrowd {
				limit <- struct{}{}
				runtime.Gosched()
				total.Add(1)
				<-limit
			}
			all.Done()
		}()
	}
	all.Wait()
	mustBe(total.Load(), count)
}
