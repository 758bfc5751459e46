package redisdoor

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/logtest"
	"github.com/stretchr/testify/require"
)

// patience bounds every wait. Even on a slow machine the awaited events take a small part of it.
const patience = 3 * time.Minute

var quiet = slog.New(slog.DiscardHandler)

func openDoor(t testing.TB, cfg Config) *Door {
	cfg.Addr, cfg.Log = "127.0.0.1:0", quiet
	d, err := Listen(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// send writes text and a QUIT, and returns the replies until the connection is closed.
func send(t testing.TB, d *Door, text string) string {
	conn, err := net.Dial("tcp", d.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	go func() {
		// The door may have closed the connection before everything is sent.
		_, _ = io.WriteString(conn, text+"QUIT\r\n")
	}()
	got, err := io.ReadAll(conn)
	var reset *net.OpError
	if !errors.As(err, &reset) {
		require.NoError(t, err)
	}
	return string(got)
}

func TestDoorSpeaksRedis(t *testing.T) {
	d := openDoor(t, Config{Keys: logtest.Open(t, broker.Config{}).Keys, Password: "pw"})
	tests := []struct{ name, send, want string }{
		{
			"no commands without the password", "PING\r\nGET a-cancel\r\n",
			"-NOAUTH Authentication required.\r\n-NOAUTH Authentication required.\r\n+OK\r\n",
		},
		{
			"three wrong passwords close the connection", "AUTH x\r\nAUTH y\r\nAUTH z\r\nPING\r\n",
			strings.Repeat("-WRONGPASS invalid username-password pair or user is disabled.\r\n", 3),
		},
		{"user name is ignored", "AUTH default pw\r\nPING\r\n", "+OK\r\n+PONG\r\n+OK\r\n"},
		{
			"set, get, delete", "AUTH pw\r\nSET t-cancel x\r\nGET t-cancel\r\nDEL t-cancel t-logs\r\nGET t-cancel\r\n",
			"+OK\r\n+OK\r\n$1\r\nx\r\n:1\r\n$-1\r\n+OK\r\n",
		},
		{
			"arrays with arbitrary bytes",
			"AUTH pw\r\n*3\r\n$3\r\nSET\r\n$6\r\na-logs\r\n$4\r\n\r\n\x00\xff\r\nGET a-logs\r\n",
			"+OK\r\n+OK\r\n$4\r\n\r\n\x00\xff\r\n+OK\r\n",
		},
		{
			"times to live", "AUTH pw\r\nSET b-logs x EX 600\r\nTTL b-logs\r\nEXPIRE b-logs 60\r\nTTL b-logs\r\nTTL " +
				"none-logs\r\nSET b-logs y\r\nTTL b-logs\r\nEXPIRE b-logs 0\r\nEXISTS b-logs\r\n",
			"+OK\r\n+OK\r\n:600\r\n:1\r\n:60\r\n:-2\r\n+OK\r\n:-1\r\n:1\r\n:0\r\n+OK\r\n",
		},
		{
			"setex", "AUTH pw\r\nSETEX c-logs 9 v\r\nTTL c-logs\r\nSETEX c-logs 0 v\r\n",
			"+OK\r\n+OK\r\n:9\r\n-ERR value is not an integer or out of range\r\n+OK\r\n",
		},
		{"other keys are refused", "AUTH pw\r\nSET password x\r\nGET session:1\r\n", "+OK\r\n-ERR only keys that " +
			"end in -cancel or -logs are served here\r\n-ERR only keys that end in -cancel or -logs are served " +
			"here\r\n+OK\r\n"},
		{"other commands are refused", "AUTH pw\r\nFLUSHALL\r\n", "+OK\r\n-ERR unknown command 'FLUSHALL'\r\n+OK\r\n"},
		{
			"unsupported options are refused",
			"AUTH pw\r\nSET a-logs x NX\r\nSET a-logs x EX\r\nSET a-logs x EX 1 PX 1\r\nSET a-logs x EX -1\r\n",
			"+OK\r\n" + strings.Repeat("-ERR syntax error: of SET's options only one of EX and PX is served here\r\n",
				3) + "-ERR value is not an integer or out of range\r\n+OK\r\n",
		},
		{
			"overflowing time to live is refused",
			"AUTH pw\r\nSET a-logs x EX 9223372036854775807\r\nEXPIRE a-logs 9223372036854775807\r\n",
			"+OK\r\n" + strings.Repeat("-ERR value is not an integer or out of range\r\n", 2) + "+OK\r\n",
		},
		{
			"wrong number of arguments", "AUTH pw\r\nGET\r\n",
			"+OK\r\n-ERR wrong number of arguments for 'get' command\r\n+OK\r\n",
		},
		{
			"transactions",
			"AUTH pw\r\nMULTI\r\nSET m-logs x\r\nGET m-logs\r\nMULTI\r\nGET other\r\nEXEC\r\nGET m-logs\r\n",
			"+OK\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n-ERR MULTI calls can not be nested\r\n+QUEUED\r\n" +
				"*3\r\n+OK\r\n$1\r\nx\r\n-ERR only keys that end in -cancel or -logs are served here\r\n" +
				"$1\r\nx\r\n+OK\r\n",
		},
		{
			"transactions with a mistake run nothing",
			"AUTH pw\r\nMULTI\r\nSET n-logs x\r\nFLUSHALL\r\nGET\r\nEXEC\r\nGET n-logs\r\nEXEC\r\nDISCARD\r\n",
			"+OK\r\n+OK\r\n+QUEUED\r\n-ERR unknown command 'FLUSHALL'\r\n" +
				"-ERR wrong number of arguments for 'get' command\r\n" +
				"-EXECABORT Transaction discarded because of previous errors.\r\n$-1\r\n" +
				"-ERR EXEC without MULTI\r\n-ERR DISCARD without MULTI\r\n+OK\r\n",
		},
		{
			"a discarded transaction", "AUTH pw\r\nMULTI\r\nSET o-logs x\r\nDISCARD\r\nGET o-logs\r\nEXEC\r\n",
			"+OK\r\n+OK\r\n+QUEUED\r\n+OK\r\n$-1\r\n-ERR EXEC without MULTI\r\n+OK\r\n",
		},
		{
			"transactions are bounded", "AUTH pw\r\nMULTI\r\n" + strings.Repeat("PING\r\n", 101) + "EXEC\r\n",
			"+OK\r\n+OK\r\n" + strings.Repeat("+QUEUED\r\n", 100) +
				"-ERR a transaction has at most 100 commands and 1048576 bytes\r\n" +
				"-EXECABORT Transaction discarded because of previous errors.\r\n+OK\r\n",
		},
		{
			"nothing before the password", "MULTI\r\nEXEC\r\nINFO\r\n",
			strings.Repeat("-NOAUTH Authentication required.\r\n", 3) + "+OK\r\n",
		},
		{
			"what ioredis waits for", "AUTH pw\r\nINFO\r\n",
			"+OK\r\n$" + strconv.Itoa(len(serverInfo)) + "\r\n" + serverInfo + "\r\n+OK\r\n",
		},
		{"an empty array and an empty line are ignored", "*0\r\n\r\nAUTH pw\r\n", "+OK\r\n+OK\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			began := time.Now()
			got := send(t, d, test.send)
			require.Equal(t, test.want, normalizeTTL(test.want, got, time.Since(began)))
		})
	}
}

// normalizeTTL replaces a time to live in reply by the one in want if it is shorter by at most
// took.
func normalizeTTL(want, reply string, took time.Duration) string {
	wanted, lines := strings.Split(want, "\r\n"), strings.Split(reply, "\r\n")
	for i := range min(len(wanted), len(lines)) {
		full, _ := strconv.Atoi(strings.TrimPrefix(wanted[i], ":")) // 0 if it is not a number
		left, _ := strconv.Atoi(strings.TrimPrefix(lines[i], ":"))
		if full > 1 && left > 0 && left < full && float64(full-left) <= took.Seconds()+0.5 {
			lines[i] = wanted[i]
		}
	}
	return strings.Join(lines, "\r\n")
}

func TestDoorRejectsMalformedCommands(t *testing.T) {
	d := openDoor(t, Config{Keys: logtest.Open(t, broker.Config{}).Keys, Password: "pw"})
	for name, text := range map[string]string{
		"length larger than memory":          "*1\r\n$9223372036854775807\r\n",
		"array larger than memory":           "*1000000000\r\n",
		"a negative length":                  "*1\r\n$-1\r\n",
		"large string before authentication": "*2\r\n$4\r\nAUTH\r\n$100000\r\n" + strings.Repeat("x", 100000),
		"unterminated line":                  strings.Repeat("x", 100000),
		"missing length":                     "*\r\n",
		"nested arrays":                      strings.Repeat("*1\r\n", 100000),
		"empty arrays":                       strings.Repeat("*0\r\n", 100000) + "*-1\r\n",
		"not a bulk string":                  "*1\r\n:1\r\n",
		"string longer than its length":      "*1\r\n$1\r\nabcdef\r\n",
		"HTTP":                               "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, send(t, d, text), "+PONG")
			require.Contains(t, send(t, d, "AUTH pw\r\nPING\r\n"), "+PONG", "the door still serves")
		})
	}
}

// Existing server libraries for the protocol allocate the length that a client declares.
func TestDoorAllocatesNoDeclaredLengths(t *testing.T) {
	const clients = 64
	d := openDoor(t, Config{Keys: logtest.Open(t, broker.Config{}).Keys, Password: "pw", Conns: clients})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range clients {
		conn, err := net.Dial("tcp", d.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(conn, "*2\r\n$4\r\nAUTH\r\n$536870912\r\n")
		require.NoError(t, err)
		got, err := bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, got, "-ERR protocol error: length")
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(clients*256<<10), "bytes allocated")
}

func TestDoorIsClosedByDefault(t *testing.T) {
	_, err := Listen(Config{Addr: "127.0.0.1:0"})
	require.ErrorIs(t, err, ErrOpenDoor)
	require.ErrorContains(t, err, "password")
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		_, err = Listen(Config{Addr: addr, Password: "pw"})
		require.ErrorIs(t, err, ErrOpenDoor, addr)
	}
	d, err := Listen(Config{Addr: "127.0.0.1:0", Open: true, Keys: logtest.Open(t, broker.Config{}).Keys})
	require.NoError(t, err)
	require.Equal(t, "+PONG\r\n+OK\r\n", send(t, d, "PING\r\n"))
	require.NoError(t, d.Close())
}

func TestDoorLimitsConnections(t *testing.T) {
	d := openDoor(t, Config{Keys: logtest.Open(t, broker.Config{}).Keys, Password: "pw", Conns: 2})
	var open []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp", d.Addr().String())
		require.NoError(t, err)
		_, err = io.WriteString(conn, "AUTH pw\r\n")
		require.NoError(t, err)
		_, err = bufio.NewReader(conn).ReadString('\n')
		require.NoError(t, err)
		open = append(open, conn)
	}
	require.Contains(t, send(t, d, ""), "max number of clients")
	for _, conn := range open {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { return send(t, d, "") == "+OK\r\n" }, patience, 5*time.Millisecond)
}

type brokenKeys struct{ Keys }

func (brokenKeys) Get(context.Context, string) ([]byte, time.Duration, error) {
	return nil, 0, errors.New("secret detail\r\n+OK")
}

func TestDoorHidesStoreErrors(t *testing.T) {
	d := openDoor(t, Config{Keys: brokenKeys{}, Password: "pw"})
	require.Equal(t, "+OK\r\n-ERR keys are unavailable, try again\r\n+OK\r\n", send(t, d, "AUTH pw\r\nGET a-logs\r\n"))
}

func FuzzReadCommand(f *testing.F) {
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$8\r\nt-cancel\r\n"))
	f.Add([]byte("SET a b\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 64
		args, err := readCommand(bufio.NewReaderSize(bytes.NewReader(data), maxLine), most)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(args), mostArgs)
		require.LessOrEqual(t, len(bytes.Join(args, nil)), max(most, maxLine))
	})
}
