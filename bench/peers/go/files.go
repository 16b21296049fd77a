// Many reads of a file at once, or one after the other.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	blockSize = 4096
	blocks    = 16384
)

func init() {
	questions["file_reads_1"] = func(asked request) answer { return fileReads(asked, 1) }
	questions["file_reads_64"] = func(asked request) answer { return fileReads(asked, 64) }
}

// A file whose blocks begin with their number.
func makeFile(directory string) string {
	path := fmt.Sprintf("%s/blocks.%d", directory, os.Getpid())
	bytes := make([]byte, blockSize*blocks)
	for number := range uint64(blocks) {
		binary.LittleEndian.PutUint64(bytes[number*blockSize:], number)
	}
	mustWork(os.WriteFile(path, bytes, 0o600))
	return path
}

// The same places in the same order for everybody who begins with the same number.
type placeSequence struct{ state uint64 }

func (from *placeSequence) next() uint64 {
	from.state = from.state*6364136223846793005 + 1442695040888963407
	return (from.state >> 33) % blocks
}

func readSome(from *os.File, seed, times uint64) {
	block := make([]byte, blockSize)
	places := placeSequence{seed*2654435761 + 1}
	for range times {
		place := places.next()
		_, err := from.ReadAt(block, int64(place*blockSize))
		mustWork(err)
		mustBe(binary.LittleEndian.Uint64(block), place)
	}
}

func readAll(from *os.File, depth, count uint64) {
	var readers sync.WaitGroup
	for seed := range depth {
		readers.Add(1)
		go func() {
			readSome(from, seed, count/depth)
			readers.Done()
		}()
	}
	readers.Wait()
}

func fileReads(asked request, depth uint64) answer {
	path := makeFile(asked.path)
	defer func() { mustWork(os.Remove(path)) }()
	from, err := os.Open(path)
	mustWork(err)
	count := asked.scaled(102_400, depth)
	readAll(from, depth, count)
	begun := time.Now()
	readAll(from, depth, count)
	return perOperation(time.Since(begun), count)
}
