// Command hello is the baseline for the start time of the engine.
package main

import "fmt"

func main() { fmt.Println("hello, world") }
