// Many timers at once, and many that never strike.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

func init() {
	timed("sleeps", 1_000_000, 1, sleeps)
	timed("timeouts", 1_000_000, 1, timeouts)
}

func sleeps(count uint64) {
	var all sync.WaitGroup
	var woken atomic.Uint64
	all.Add(int(count))
	for i := range count {
		go func() {
			time.Sleep(time.Duration(1+i*7%100) * time.Millisecond)
			woken.Add(1)
			all.Done()
		}()
	}
	all.Wait()
	mustBe(woken.Load(), count)
}

func timeouts(count uint64) {
	var inTime uint64
	for range count {
		limit := time.NewTimer(time.Hour)
		runtime.Gosched()
		if limit.Stop() {
			inTime++
		}
	}
	mustBe(inTime, count)
}
