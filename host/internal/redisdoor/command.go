package redisdoor

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// client is one connection; its fields belong to the goroutine that serves it.
type client struct {
	door          *Door
	in            *bufio.Reader
	out           reply
	authenticated bool
	wrong         int // failed attempts to authenticate
	quit          bool
	queued        *queue // after MULTI
}

// command is one supported command. The arguments of run do not include its name.
type command struct {
	least, most int
	run         func(c *client, ctx context.Context, args [][]byte)
}

// commands lists every supported command except EXEC, which runs them.
var commands = map[string]command{
	"AUTH":    {1, 2, (*client).auth},
	"PING":    {0, 1, (*client).ping},
	"QUIT":    {0, 0, (*client).bye},
	"SET":     {2, 8, (*client).set},
	"SETEX":   {3, 3, (*client).setex},
	"GET":     {1, 1, (*client).get},
	"DEL":     {1, mostArgs, (*client).del},
	"EXISTS":  {1, mostArgs, (*client).exists},
	"EXPIRE":  {2, 2, func(c *client, ctx context.Context, a [][]byte) { c.expire(ctx, a, time.Second) }},
	"PEXPIRE": {2, 2, func(c *client, ctx context.Context, a [][]byte) { c.expire(ctx, a, time.Millisecond) }},
	"TTL":     {1, 1, func(c *client, ctx context.Context, a [][]byte) { c.ttl(ctx, a, time.Second) }},
	"PTTL":    {1, 1, func(c *client, ctx context.Context, a [][]byte) { c.ttl(ctx, a, time.Millisecond) }},
	// Sent by client libraries when they connect.
	"INFO":    {0, mostArgs, (*client).info},
	"MULTI":   {0, 0, (*client).multi},
	"DISCARD": {0, 0, (*client).discard},
	"SELECT":  {1, 1, func(c *client, _ context.Context, _ [][]byte) { c.out.simple("OK") }},
	"CLIENT":  {1, mostArgs, func(c *client, _ context.Context, _ [][]byte) { c.out.simple("OK") }},
	"COMMAND": {0, mostArgs, func(c *client, _ context.Context, _ [][]byte) { c.out.array(0) }},
}

func (c *client) answer(ctx context.Context, args [][]byte) {
	name := strings.ToUpper(string(args[0]))
	cmd, ok := commands[name]
	if name == "EXEC" {
		cmd, ok = command{0, 0, (*client).exec}, true
	}
	fits := len(args)-1 >= cmd.least && len(args)-1 <= cmd.most
	if c.queued != nil && !(ok && fits) {
		c.queued.broken = true
	}
	if !ok {
		c.out.fail("ERR unknown command '%.40s'", name)
		return
	}
	if !fits {
		c.out.fail("ERR wrong number of arguments for '%s' command", strings.ToLower(name))
		return
	}
	if !c.authenticated && name != "AUTH" && name != "QUIT" {
		c.out.fail("NOAUTH Authentication required.")
		return
	}
	if c.queued != nil && name != "EXEC" && name != "DISCARD" && name != "QUIT" && name != "AUTH" {
		c.enqueue(name, args)
		return
	}
	args = args[1:]
	once, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	cmd.run(c, once, args)
}

// auth checks the password, with an optional user name before it. It compares hashes so that the
// time taken does not depend on the length of the password.
func (c *client) auth(_ context.Context, args [][]byte) {
	given, want := sha256.Sum256(args[len(args)-1]), sha256.Sum256([]byte(c.door.cfg.Password))
	if c.door.cfg.Password != "" && subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		c.authenticated = false
		c.wrong++
		c.quit = c.wrong >= 3
		c.out.fail("WRONGPASS invalid username-password pair or user is disabled.")
		return
	}
	c.authenticated = true
	c.out.simple("OK")
}

func (c *client) ping(_ context.Context, args [][]byte) {
	if len(args) == 1 {
		c.out.bulk(args[0])
		return
	}
	c.out.simple("PONG")
}

func (c *client) bye(context.Context, [][]byte) {
	c.quit = true
	c.out.simple("OK")
}

// key checks that a key has one of the supported suffixes.
func (c *client) key(arg []byte) (string, bool) {
	key := string(arg)
	if len(key) > 512 || !strings.HasSuffix(key, "-cancel") && !strings.HasSuffix(key, "-logs") {
		c.out.fail("ERR only keys that end in -cancel or -logs are served here")
		return "", false
	}
	return key, true
}

func (c *client) set(ctx context.Context, args [][]byte) {
	var ttl time.Duration
	for rest := args[2:]; len(rest) > 0; rest = rest[2:] {
		option := strings.ToUpper(string(rest[0]))
		unit := map[string]time.Duration{"EX": time.Second, "PX": time.Millisecond}[option]
		if unit == 0 || len(rest) < 2 || ttl != 0 {
			c.out.fail("ERR syntax error: of SET's options only one of EX and PX is served here")
			return
		}
		if ttl = c.lifetime(rest[1], unit); ttl == 0 {
			return
		}
	}
	c.put(ctx, args[0], args[1], ttl)
}

func (c *client) setex(ctx context.Context, args [][]byte) {
	if ttl := c.lifetime(args[1], time.Second); ttl != 0 {
		c.put(ctx, args[0], args[2], ttl)
	}
}

// maxTTL bounds a time to live, so that multiplying it cannot overflow.
const maxTTL = 10 * 365 * 24 * time.Hour

// lifetime parses a positive time to live. It replies with an error and returns 0 if text is
// invalid.
func (c *client) lifetime(text []byte, unit time.Duration) time.Duration {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n <= 0 || n > int64(maxTTL/unit) {
		c.out.fail("ERR value is not an integer or out of range")
		return 0
	}
	return time.Duration(n) * unit
}

func (c *client) put(ctx context.Context, keyArg, value []byte, ttl time.Duration) {
	key, ok := c.key(keyArg)
	if !ok {
		return
	}
	if err := c.door.cfg.Keys.Put(ctx, key, value, ttl); err != nil {
		c.broken(err)
		return
	}
	c.out.simple("OK")
}

// broken logs an error of the store and replies without its details.
func (c *client) broken(err error) {
	c.door.cfg.Log.Warn("redis door", "err", err)
	c.out.fail("ERR keys are unavailable, try again")
}

// find reads a key. If ok is false, it has replied with an error.
func (c *client) find(ctx context.Context, arg []byte) (value []byte, ttl time.Duration, found, ok bool) {
	key, ok := c.key(arg)
	if !ok {
		return nil, 0, false, false
	}
	value, ttl, err := c.door.cfg.Keys.Get(ctx, key)
	if errors.Is(err, broker.ErrNotFound) {
		return nil, 0, false, true
	}
	if err != nil {
		c.broken(err)
		return nil, 0, false, false
	}
	return value, ttl, true, true
}

func (c *client) get(ctx context.Context, args [][]byte) {
	value, _, found, ok := c.find(ctx, args[0])
	switch {
	case !ok:
	case found:
		c.out.bulk(value)
	default:
		c.out.null()
	}
}

func (c *client) del(ctx context.Context, args [][]byte) {
	c.countFound(ctx, args, c.door.cfg.Keys.Delete)
}

func (c *client) exists(ctx context.Context, args [][]byte) {
	c.countFound(ctx, args, func(context.Context, string) error { return nil })
}

// countFound calls f for each key that exists, and replies with their number.
func (c *client) countFound(ctx context.Context, keys [][]byte, f func(ctx context.Context, key string) error) {
	var n int64
	for _, key := range keys {
		_, _, found, ok := c.find(ctx, key)
		if !ok {
			return
		}
		if !found {
			continue
		}
		if err := f(ctx, string(key)); err != nil {
			c.broken(err)
			return
		}
		n++
	}
	c.out.number(n)
}

// expire sets the time to live of a key. Zero or less deletes the key.
func (c *client) expire(ctx context.Context, args [][]byte, unit time.Duration) {
	n, err := strconv.ParseInt(string(args[1]), 10, 64)
	if err != nil || n > int64(maxTTL/unit) {
		c.out.fail("ERR value is not an integer or out of range")
		return
	}
	value, _, found, ok := c.find(ctx, args[0])
	if !ok {
		return
	}
	if !found {
		c.out.number(0)
		return
	}
	if n <= 0 {
		err = c.door.cfg.Keys.Delete(ctx, string(args[0]))
	} else {
		err = c.door.cfg.Keys.Put(ctx, string(args[0]), value, time.Duration(n)*unit)
	}
	if err != nil {
		c.broken(err)
		return
	}
	c.out.number(1)
}

// ttl replies with -2 for a missing key and -1 for one without a time to live.
func (c *client) ttl(ctx context.Context, args [][]byte, unit time.Duration) {
	_, ttl, found, ok := c.find(ctx, args[0])
	switch {
	case !ok:
	case !found:
		c.out.number(-2)
	case ttl == 0:
		c.out.number(-1)
	default:
		c.out.number(int64((ttl + unit/2) / unit))
	}
}
