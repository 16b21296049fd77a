// Trees of goroutines that wait for their children.
package main

import (
	"math"
	"time"
)

func init() {
	questions["fib"] = func(asked request) answer { return grow(asked, fibTree) }
	questions["skynet"] = func(asked request) answer { return grow(asked, skynetTree) }
	questions["nqueens"] = func(asked request) answer { return grow(asked, queensTree) }
}

type tree struct {
	tasks  uint64
	result uint64
	root   func(to chan<- uint64)
}

func (one tree) grow() {
	sum := make(chan uint64, 1)
	go one.root(sum)
	mustBe(<-sum, one.result)
}

func grow(asked request, makeTree func(scale float64) tree) answer {
	full := makeTree(asked.scale)
	full.grow() // to warm up
	begun := time.Now()
	full.grow()
	return perOperation(time.Since(begun), full.tasks)
}

func sumOf(children chan uint64, count int) uint64 {
	var sum uint64
	for range count {
		sum += <-children
	}
	return sum
}

func fib(n uint64, to chan<- uint64) {
	if n < 2 {
		to <- n
		return
	}
	children := make(chan uint64, 2)
	go fib(n-1, children)
	go fib(n-2, children)
	to <- sumOf(children, 2)
}

func fibOf(n uint64) uint64 {
	var one, next uint64 = 0, 1
	for range n {
		one, next = next, one+next
	}
	return one
}

func fibTree(scale float64) tree {
	steps := math.Round(math.Log(scale) / math.Log(1.618))
	n := uint64(min(max(30+steps, 10), 40))
	return tree{2*fibOf(n+1) - 1, fibOf(n), func(to chan<- uint64) { fib(n, to) }}
}

func skynet(number, leaves uint64, to chan<- uint64) {
	if leaves == 1 {
		to <- number
		return
	}
	children := make(chan uint64, 10)
	for i := range uint64(10) {
		go skynet(number+i*leaves/10, leaves/10, children)
	}
	to <- sumOf(children, 10)
}

func skynetTasks(leaves uint64) uint64 {
	if leaves == 1 {
		return 1
	}
	return leaves + skynetTasks(leaves/10)
}

func skynetTree(scale float64) tree {
	leaves := uint64(1_000_000)
	for left := scale; left < 0.9 && leaves > 100; left *= 10 {
		leaves /= 10
	}
	root := func(to chan<- uint64) { skynet(0, leaves, to) }
	return tree{skynetTasks(leaves), sumBelow(leaves), root}
}

// Where queens stand so far: columns, and diagonals that fall and rise.
type board struct{ columns, falling, rising uint32 }

func (at board) isFree(column int) bool {
	return (at.columns|at.falling|at.rising)&(1<<column) == 0
}

func (at board) with(column int) board {
	here := uint32(1) << column
	return board{at.columns | here, (at.falling | here) << 1, (at.rising | here) >> 1}
}

func queens(size int, soFar board, row int, to chan<- uint64) {
	if row == size {
		to <- 1
		return
	}
	children := make(chan uint64, size)
	started := 0
	for column := range size {
		if soFar.isFree(column) {
			go queens(size, soFar.with(column), row+1, children)
			started++
		}
	}
	to <- sumOf(children, started)
}

func queensTasks(size int, soFar board, row int) uint64 {
	boards := uint64(1)
	for column := 0; row < size && column < size; column++ {
		if soFar.isFree(column) {
			boards += queensTasks(size, soFar.with(column), row+1)
		}
	}
	return boards
}

func queensTree(scale float64) tree {
	size, solutions := 8, uint64(92)
	if scale > 0.9 {
		size, solutions = 11, 2680
	} else if scale > 0.09 {
		size, solutions = 10, 724
	}
	root := func(to chan<- uint64) { queens(size, board{}, 0, to) }
	return tree{queensTasks(size, board{}, 0), solutions, root}
}
