// Command peers runs a graph of tasks on eino and prints its duration in seconds.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cloudwego/eino/compose"
)

type task struct {
	ID    string   `json:"id"`
	Delay float64  `json:"delay"`
	After []string `json:"after"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run() error {
	var in struct {
		Unit  float64 `json:"unit_ms"`
		Tasks []task  `json:"tasks"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	graph := compose.NewGraph[map[string]any, map[string]any]()
	for _, t := range in.Tasks {
		wait := time.Duration(t.Delay * in.Unit * float64(time.Millisecond))
		call := compose.InvokableLambda(func(context.Context, map[string]any) (string, error) {
			time.Sleep(wait)
			return t.ID, nil
		})
		if err := graph.AddLambdaNode(t.ID, call, compose.WithOutputKey(t.ID)); err != nil {
			return err
		}
	}
	for _, t := range in.Tasks {
		before := t.After
		if len(before) == 0 {
			before = []string{compose.START}
		}
		for _, id := range before {
			if err := graph.AddEdge(id, t.ID); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(in.Tasks, func(o task) bool { return slices.Contains(o.After, t.ID) }) {
			continue
		}
		if err := graph.AddEdge(t.ID, compose.END); err != nil {
			return err
		}
	}
	ctx := context.Background()
	compiled, err := graph.Compile(ctx, compose.WithNodeTriggerMode(compose.AllPredecessor))
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := compiled.Invoke(ctx, map[string]any{"query": "go"}); err != nil {
		return err
	}
	_, err = fmt.Println(time.Since(began).Seconds())
	return err
}
