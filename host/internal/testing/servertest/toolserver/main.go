// Command toolserver is an MCP server over HTTP for tests in other languages. It prints its address
// and stops when its standard input ends. Requests without the header "X-Key: let me in" are
// refused. With an argument it writes a SQLite file of a shop there first.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "modernc.org/sqlite" // the driver of the file
)

type order struct {
	Number int `json:"number" jsonschema:"number of the order"`
}

func answer(text string) mcp.ToolHandlerFor[order, any] {
	return func(_ context.Context, _ *mcp.CallToolRequest, in order) (*mcp.CallToolResult, any, error) {
		content := &mcp.TextContent{Text: fmt.Sprintf("order %d: %s", in.Number, text)}
		return &mcp.CallToolResult{Content: []mcp.Content{content}}, nil, nil
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "toolserver:", err)
		os.Exit(1)
	}
}

// writeShop writes a database with the tables orders and items.
func writeShop(file string) error {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	_, err = db.Exec("CREATE TABLE orders (id INTEGER); CREATE TABLE items (id INTEGER, name TEXT)")
	return errors.Join(err, db.Close())
}

func run() error {
	if len(os.Args) > 1 {
		if err := writeShop(os.Args[1]); err != nil {
			return err
		}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	for _, tool := range [][3]string{
		{"track_order", "Tells where an order is: packed, on its way or delivered, and when it arrives.", "sent"},
		{"cancel_order", "Cancels an order that was not sent yet. This cannot be undone.", "canceled"},
		{"refund_order", "Pays the price of an order back.", "refunded"},
		{"list_items", "Lists what an order consists of.", "boots"},
		{"change_address", "Sends an order to another address.", "changed"},
		{"gift_wrap", "Wraps an order as a gift.", "wrapped"},
		{"invoice", "Sends the invoice of an order again.", "sent"},
		{"warranty", "Says how long the warranty of an order lasts.", "two years"},
		{"rate", "Stores a rating.", "stored"},
	} {
		mcp.AddTool(server, &mcp.Tool{Name: tool[0], Description: tool[1]}, answer(tool[2]))
	}
	open := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "let me in" {
			http.Error(w, "not allowed", http.StatusUnauthorized)
			return
		}
		open.ServeHTTP(w, r)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- http.Serve(listener, guarded) }() //nolint:gosec // a server of tests
	fmt.Printf("mcp: http://%s/mcp\n", listener.Addr())
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		failed <- err
	}()
	return <-failed
}
