// Command hello is the program that the engine's start is measured against.
package main

import "fmt"

func main() { fmt.Println("hello, world") }
