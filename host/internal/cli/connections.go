package cli

import (
	"container/list"
	"net"
	"net/http"
	"sync"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// connections bounds how many connections a server has. At the bound a new connection replaces the
// one that has been idle for longest; when none is idle, the new one is closed.
type connections struct {
	most int

	mu   sync.Mutex
	open int
	idle list.List // of net.Conn, those first that have been idle for longest
	at   map[net.Conn]*list.Element
}

func newConnections(memory int64) *connections {
	return &connections{most: memlimit.Connections(memory), at: map[net.Conn]*list.Element{}}
}

// watch implements http.Server.ConnState.
func (c *connections) watch(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.at[conn]; e != nil {
		c.idle.Remove(e)
		delete(c.at, conn)
	}
	switch state {
	case http.StateNew:
		c.open++
		c.at[conn] = c.idle.PushBack(conn)
		if c.open > c.most {
			oldest, _ := c.idle.Remove(c.idle.Front()).(net.Conn)
			delete(c.at, oldest)
			_ = oldest.Close() // an error does not matter: the server notices the closed connection
		}
	case http.StateIdle:
		c.at[conn] = c.idle.PushBack(conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
}
