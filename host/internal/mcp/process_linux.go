package mcp

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate puts a command into a new process group.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// limitMemory bounds the data of a process and of those it will start. Address space is not
// limited: script engines reserve much more than they use.
func limitMemory(pid int, memory int64) {
	limit := unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &limit, nil) // fails if it exited; watch limits it too
	_ = os.WriteFile(processFile(pid, "oom_score_adj"), []byte("1000"), 0)
}

func processFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// killRounds bounds the search for processes that are started while others are killed.
const killRounds = 20

// killAll kills the process group of a server, and every process with its mark.
func killAll(pid int, mark string) {
	_ = unix.Kill(-pid, unix.SIGKILL) // fails if the group is empty
	entry := []byte(markVariable + "=" + mark)
	for range killRounds {
		found := false
		for _, p := range processes() {
			environment, err := os.ReadFile(processFile(p, "environ"))
			if err == nil && bytes.Contains(environment, entry) && p != os.Getpid() {
				found = unix.Kill(p, unix.SIGKILL) == nil || found
			}
		}
		if !found {
			return
		}
	}
}

// processes lists the running processes.
func processes() (out []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // the entries read so far count
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// usage returns the resident memory of a process and its descendants, and how many they are.
func usage(pid int) (bytes int64, count int) {
	pending := []int{pid}
	for len(pending) > 0 && count <= maxProcesses {
		next := pending[0]
		pending = pending[1:]
		text, err := os.ReadFile(processFile(next, "statm"))
		if err != nil {
			continue // it exited
		}
		count++
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64) // written by the kernel
			bytes += pages * int64(os.Getpagesize())
		}
		threads, _ := filepath.Glob(processFile(next, "task/*/children")) // the pattern is valid
		for _, t := range threads {
			children, _ := os.ReadFile(t) // the thread may have ended
			for _, child := range strings.Fields(string(children)) {
				if n, err := strconv.Atoi(child); err == nil {
					pending = append(pending, n)
				}
			}
		}
	}
	return bytes, count
}
