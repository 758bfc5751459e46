package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/easel-canvas/easel/host"
)

// A host is an http.Handler with a data directory. Config also has models, NATS and PostgreSQL.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "easel-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	h, err := host.New(context.Background(), host.Config{Dir: dir, Key: "secret", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	defer h.Close() //nolint:errcheck // the example ends here
	server := httptest.NewServer(h.Handler())
	defer server.Close()

	body := []byte(`{"title": "Hello", "dsl": {"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}}
	}}}`)
	request, err := http.NewRequest("POST", server.URL+"/api/v2/canvases", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer secret")
	request.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	var canvas struct {
		Title string `json:"title"`
		Rev   int    `json:"rev"`
	}
	if err := json.NewDecoder(response.Body).Decode(&canvas); err != nil {
		panic(err)
	}
	fmt.Println(response.StatusCode, canvas.Title, canvas.Rev)
	// Output: 201 Hello 1
}
