//go:build linux

package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// soak is set by the build tag of that name.
var soak bool

// What an attack may cost the host process and the compiler process, each.
const (
	attackSeconds = 10.2 // the limit of compilers is 10 s, after which the kernel ends them
	attackMB      = 512
)

// cost is the processor time and the memory that an attack took.
type cost struct {
	Code                         contract.Code
	Message                      string
	HostSeconds, CompilerSeconds float64
	HostMB, CompilerMB           float64
}

// attackWork is the host process of one attack: it loads the module of a file, calls it and prints
// its cost.
func attackWork(file, self string) error {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	ctx, dir := context.Background(), filepath.Dir(file)
	compiler, log := []string{self, "plugin-compiler"}, slog.New(slog.DiscardHandler)
	h, err := New(ctx, Config{Compiler: compiler, CacheDir: dir, Log: log})
	if err != nil {
		return err
	}
	m, err := h.Load(ctx, wasm, LoadOptions{Granted: contract.Everything()})
	if err == nil {
		_, err = m.Invoke(ctx, Invocation{ID: "c"})
	}
	var c cost
	if err != nil {
		c.Code, c.Message = contract.AsError(err, contract.Internal).Code, err.Error()
	}
	if c.HostSeconds, _, err = used(syscall.RUSAGE_SELF); err == nil {
		c.CompilerSeconds, c.CompilerMB, err = used(syscall.RUSAGE_CHILDREN)
	}
	status, missing := os.ReadFile("/proc/self/status")
	if err = errors.Join(err, missing); err != nil {
		return err
	}
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	kb, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
	if err != nil {
		return err
	}
	c.HostMB = kb / 1024
	return errors.Join(json.NewEncoder(os.Stdout).Encode(c), h.Close(ctx))
}

// used returns the processor time and the peak memory in MB of this process or of its children.
// The peak of a child counts from before its exec, so it is at least that of its parent then.
func used(who int) (seconds, mb float64, err error) {
	var u syscall.Rusage
	err = syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds(), float64(u.Maxrss) / 1024, err
}

// TestAttacksAreBounded runs each attack in a separate host process and prints its cost.
func TestAttacksAreBounded(t *testing.T) {
	self := testCompiler(t)[0]
	table := &bytes.Buffer{}
	rows := tabwriter.NewWriter(table, 0, 0, 1, ' ', tabwriter.AlignRight|tabwriter.Debug)
	fmt.Fprintln(rows, "attack\thost s\thost MB\tcompiler s\tcompiler MB\tcode\t")
	for _, a := range wattest.Attacks() {
		t.Run(a.Name, func(t *testing.T) {
			if a.Slow() && !soak {
				t.Skip("takes up to 10 s of processor time; make attack runs it")
			}
			file := filepath.Join(t.TempDir(), "plugin.wasm")
			require.NoError(t, os.WriteFile(file, pack(t, a.Module(), a.Fields), 0o600))
			out, err := exec.Command(self, "plugin-attack", file).Output()
			require.NoError(t, err, "the host process ended: %v", err)
			var c cost
			require.NoError(t, json.Unmarshal(out, &c), string(out))
			fmt.Fprintf(rows, "%s\t%.2f\t%.0f\t%.2f\t%.0f\t%s\t\n", a.Name, c.HostSeconds, c.HostMB,
				c.CompilerSeconds, c.CompilerMB, c.Code)
			require.Contains(t, a.Codes, string(c.Code), c.Message)
			require.Less(t, len(c.Message), 8<<10)
			require.Less(t, c.HostSeconds, attackSeconds)
			require.Less(t, c.CompilerSeconds, attackSeconds)
			require.Less(t, c.HostMB, float64(attackMB))
			require.Less(t, c.CompilerMB, float64(attackMB))
		})
	}
	require.NoError(t, rows.Flush())
	t.Logf("\n%s", table)
}
