package memlimit

import (
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// unknown is the limit assumed if the system reports none, such as outside Linux.
const unknown = 4 << 30

// Process returns the memory limit of this process in bytes: the smallest of GOMEMLIMIT, the limits
// of its control groups and the memory of the machine.
func Process() int64 {
	limit := int64(math.MaxInt64)
	if soft := debug.SetMemoryLimit(-1); soft > 0 {
		limit = min(limit, soft)
	}
	limit = min(limit, readLimits("/"))
	if limit == math.MaxInt64 {
		return unknown
	}
	return limit
}

// readLimits reads the memory of the machine and the limits of the control groups (versions 1 and
// 2) of this process, with / replaced by root.
func readLimits(root string) int64 {
	limit := machine(readFile(root, "proc/meminfo"))
	for line := range strings.Lines(readFile(root, "proc/self/cgroup")) {
		// hierarchy:controllers:path; version 2 has no controllers.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[1] == "":
			limit = min(limit, groupLimit(root, "sys/fs/cgroup", part[2], "memory.max"))
		case strings.Contains(","+part[1]+",", ",memory,"):
			limit = min(limit, groupLimit(root, "sys/fs/cgroup/memory", part[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// groupLimit returns the smallest limit of a control group and its ancestors. Inside a container
// the group's own path may not be visible; the mount point is then the group itself.
func groupLimit(root, mount, group, file string) int64 {
	limit := int64(math.MaxInt64)
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		text := strings.TrimSpace(readFile(root, path.Join(mount, dir, file)))
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
			limit = min(limit, n)
		}
		if dir == "/" {
			return limit
		}
	}
}

// machine parses MemTotal of /proc/meminfo, which is in KiB.
func machine(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		field := strings.Fields(line)
		if len(field) >= 2 && field[0] == "MemTotal:" {
			if n, err := strconv.ParseInt(field[1], 10, 64); err == nil && n > 0 {
				return n << 10
			}
		}
	}
	return math.MaxInt64
}

// readFile returns the content of a file, or "" if it cannot be read: every limit is optional.
func readFile(root, name string) string {
	text, err := os.ReadFile(path.Join(root, name))
	if err != nil {
		return ""
	}
	return string(text)
}
