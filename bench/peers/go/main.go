// The contestant Go: the same questions as all others, see bench/README.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
)

var questions = map[string]func(request) answer{}

func main() {
	asked := readCommandLine()
	runtime.GOMAXPROCS(asked.workers)
	ask, known := questions[asked.question]
	if !known {
		fmt.Fprintf(os.Stderr, "go: no question '%s'\n", asked.question)
		os.Exit(2)
	}
	print(asked, ask(asked))
}

func readCommandLine() request {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: QUESTION --workers N [--scale K]")
		os.Exit(2)
	}
	asked := request{question: os.Args[1]}
	flags := flag.NewFlagSet("go", flag.ExitOnError)
	flags.IntVar(&asked.workers, "workers", 1, "GOMAXPROCS")
	flags.Float64Var(&asked.scale, "scale", 1, "of how often something is done")
	flags.IntVar(&asked.buffer, "buffer", 16384, "of each connection of an echo server")
	hog := flags.Int("hog", 0, "1: beside an echo server, a goroutine that computes")
	flags.StringVar(&asked.path, "path", "/var/tmp", "the directory for files")
	_ = flags.Parse(os.Args[2:])
	asked.hog = *hog == 1
	return asked
}

func print(asked request, got answer) {
	line, _ := json.Marshal(map[string]any{
		"question": asked.question, "runtime": "go", "version": runtime.Version()[2:],
		"flags": "go build", "workers": asked.workers,
		"unit": got.unit, "value": got.value, "operations": got.operations,
	})
	fmt.Println(string(line))
}
