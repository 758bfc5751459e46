package redisdoor

import (
	"context"
	"strings"
)

// Client libraries put several commands between MULTI and EXEC, redis-py by default. They run one
// after another: nothing here depends on that no other client is served between two of them.

// Bounds of a transaction of one connection.
const (
	mostQueued  = 100
	queuedBytes = 1 << 20
)

// queue has the commands that follow MULTI.
type queue struct {
	commands [][][]byte
	size     int
	broken   bool // a command was refused, so EXEC runs nothing
}

// ioredis waits for serverInfo before it sends commands.
const serverInfo = "# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\n# Persistence\r\nloading:0\r\n"

func (c *client) info(context.Context, [][]byte) { c.out.bulk([]byte(serverInfo)) }

func (c *client) multi(context.Context, [][]byte) {
	c.queued = &queue{}
	c.out.simple("OK")
}

// enqueue keeps a command for EXEC.
func (c *client) enqueue(name string, args [][]byte) {
	q := c.queued
	for _, a := range args {
		q.size += len(a)
	}
	switch {
	case name == "MULTI":
		c.out.fail("ERR MULTI calls can not be nested")
	case len(q.commands) == mostQueued || q.size > queuedBytes:
		q.broken = true
		c.out.fail("ERR a transaction has at most %d commands and %d bytes", mostQueued, queuedBytes)
	default:
		q.commands = append(q.commands, args)
		c.out.simple("QUEUED")
	}
}

func (c *client) discard(context.Context, [][]byte) {
	if c.queued == nil {
		c.out.fail("ERR DISCARD without MULTI")
		return
	}
	c.queued = nil
	c.out.simple("OK")
}

func (c *client) exec(ctx context.Context, _ [][]byte) {
	q := c.queued
	c.queued = nil
	switch {
	case q == nil:
		c.out.fail("ERR EXEC without MULTI")
		return
	case q.broken:
		c.out.fail("EXECABORT Transaction discarded because of previous errors.")
		return
	}
	c.out.array(len(q.commands))
	for _, args := range q.commands {
		commands[strings.ToUpper(string(args[0]))].run(c, ctx, args[1:])
	}
}
