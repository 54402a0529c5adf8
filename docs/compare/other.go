//go:build !unix

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "compare: what it reads of processes is there on Unix only")
	os.Exit(1)
}
