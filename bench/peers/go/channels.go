// Messages from some goroutines to others. Go has no channel without a limit.
package main

import "sync"

const places = 64

func init() {
	timed("mpsc_bounded_1", 1_000_000, 8, func(count uint64) { through(count, 1, 1) })
	timed("mpsc_bounded_8", 1_000_000, 8, func(count uint64) { through(count, 8, 1) })
	timed("mpmc_8", 1_000_000, 8, func(count uint64) { through(count, 8, 8) })
}

// Closes the channel when all is sent.
func startSenders(to chan<- uint64, count, senders uint64) {
	var all sync.WaitGroup
	share := count / senders
	for sender := range senders {
		all.Add(1)
		go func() {
			for i := range share {
				to <- sender*share + i
			}
			all.Done()
		}()
	}
	go func() {
		all.Wait()
		close(to)
	}()
}

func through(count, senders uint64, receivers int) {
	channel, sums := make(chan uint64, places), make(chan uint64, receivers)
	for range receivers {
		go func() {
			var sum uint64
			for one := range channel {
				sum += one
			}
			sums <- sum
		}()
	}
	startSenders(channel, count, senders)
	var sum uint64
	for range receivers {
		sum += <-sums
	}
	mustBe(sum, sumBelow(count))
}
