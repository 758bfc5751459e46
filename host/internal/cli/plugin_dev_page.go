package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/page"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// devPage serves the preview page with a plugin under development: a canvas around it, its current
// module and a stream of build results. It is safe for concurrent use.
type devPage struct {
	values    engine.Value // of --arg
	component string       // of --component; "" is the first

	mu     sync.Mutex
	wasm   []byte
	canvas []byte
	build  devBuild
	next   chan struct{} // closed by the next build
}

// devBuild reports a build to pages.
type devBuild struct {
	Digest string `json:"digest"`          // of the current module; "" before the first
	Fault  string `json:"fault,omitempty"` // the error of the last build
}

// devFolder is the URL path of the plugin's files.
const devFolder = "/dev/"

func newDevPage(values engine.Value) *devPage {
	return &devPage{values: values, next: make(chan struct{})}
}

// built stores the module of a successful build.
func (p *devPage) built(wasm []byte, m *plugin.Module) {
	if p == nil {
		return
	}
	about, err := m.Manifest().ByName(p.component)
	if err != nil {
		about = m.Manifest().Nodes()[0]
	}
	p.tell(func() {
		p.wasm, p.canvas, p.build = wasm, tryCanvas(about, p.values), devBuild{Digest: m.Digest()}
	})
}

// failed stores the error of a build; the previous module stays.
func (p *devPage) failed(err error) {
	p.tell(func() { p.build.Fault = err.Error() })
}

// tell updates the state in the pages; without a page it does nothing.
func (p *devPage) tell(change func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.next)
	p.next = make(chan struct{})
}

// serve serves the page until end and prints its address.
func (p *devPage) serve(ctx context.Context, a *app, addr string) (end func() error, err error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w; --addr chooses another address", err)
	}
	srv := &http.Server{
		Handler: p.handler(), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	fmt.Fprintf(a.err, "try it in a page: http://%s/#try=%s\n", l.Addr(), devFolder)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	return func() error {
		err := srv.Close()
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}, nil
}

func (p *devPage) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+devFolder+"canvas.json", func(w http.ResponseWriter, _ *http.Request) {
		p.file(w, "application/json", func() []byte { return p.canvas })
	})
	mux.HandleFunc("GET "+devFolder+"plugin.wasm", func(w http.ResponseWriter, _ *http.Request) {
		p.file(w, "application/wasm", func() []byte { return p.wasm })
	})
	mux.HandleFunc("GET "+devFolder+"builds", p.builds)
	return page.Handler(mux)
}

func (p *devPage) file(w http.ResponseWriter, kind string, of func() []byte) {
	p.mu.Lock()
	content := of()
	p.mu.Unlock()
	if content == nil {
		http.Error(w, "no successful build yet", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(content) // the client may have disconnected
}

// builds streams server-sent events: the current state, then each build.
func (p *devPage) builds(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	for {
		p.mu.Lock()
		build, next := p.build, p.next
		p.mu.Unlock()
		raw, err := json.Marshal(build)
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", raw)
		}
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		if err != nil {
			return // the page has disconnected
		}
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
	}
}

// tryCanvas returns a canvas to try a plugin: the query is the first required text argument that
// --arg does not set, and the output is sent as a message.
func tryCanvas(m *contract.Manifest, values engine.Value) []byte {
	for _, name := range m.Arguments.Required() {
		_, given := values.Lookup(name)
		if p, _ := m.Arguments.Property(name); !given && slices.Contains(p.Types(), "string") {
			values = values.With(name, engine.String("{sys.query}"))
			break
		}
	}
	outputs := m.Outputs.Names()
	if len(outputs) == 0 {
		outputs = []string{"text"}
	}
	said := make([]string, len(outputs))
	for i, name := range outputs {
		said[i] = "{" + pluginNode + "@" + name + "}"
		if len(outputs) > 1 {
			said[i] = "**" + name + ":** " + said[i]
		}
	}
	return engine.Object("title", m.NodeName(), "description", m.Description, "dsl",
		oneNode(m, values, strings.Join(said, "\n\n"))).AppendJSON(nil)
}
