// What a contestant is asked, and how it answers.
package main

import (
	"fmt"
	"os"
	"time"
)

type request struct {
	question string
	workers  int
	scale    float64
	buffer   int
	hog      bool
	path     string
}

type answer struct {
	unit       string
	value      float64
	operations uint64
}

// So many operations at scale 1; at least one, and always a multiple of multiple.
func (asked request) scaled(full, multiple uint64) uint64 {
	return max(uint64(float64(full)*asked.scale)/multiple, 1) * multiple
}

func sumBelow(count uint64) uint64 {
	return count * (count - 1) / 2
}

func mustBe(is, wanted uint64) {
	if is != wanted {
		panic(fmt.Sprintf("wrong result: %d, not %d", is, wanted))
	}
}

func mustWork(err error) {
	if err != nil {
		panic(err)
	}
}

func perOperation(taken time.Duration, operations uint64) answer {
	return answer{"ns/op", float64(taken.Nanoseconds()) / float64(operations), operations}
}

// A body, first to warm up and then by the clock.
func timed(name string, full, multiple uint64, body func(count uint64)) {
	questions[name] = func(asked request) answer {
		count := asked.scaled(full, multiple)
		body(count)
		begun := time.Now()
		body(count)
		return perOperation(time.Since(begun), count)
	}
}

// What this process has in memory, in bytes.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	mustWork(err)
	var all, resident uint64
	_, err = fmt.Sscan(string(text), &all, &resident)
	mustWork(err)
	return resident * uint64(os.Getpagesize())
}
