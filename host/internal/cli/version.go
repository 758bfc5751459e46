package cli

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// version and revision are set by the linker (make VERSION=..., the image): without the repository
// Go records neither.
var version, revision string

var versionCommand = command{
	name: "version", args: "[--json]",
	summary: "prints the version",
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		asJSON := fs.Bool("json", false, "print a JSON object")
		return func(_ context.Context, a *app, _ []string) error {
			v := versionInfo()
			if *asJSON {
				fmt.Fprintln(a.out, v.JSON())
				return nil
			}
			fmt.Fprintf(a.out,
				"easel %s (%s, %s)\n", v.Get("version").Text(), v.Get("revision").Text(), v.Get("go").Text())
			return nil
		}
	},
}

// versionInfo returns the build information of the program: {version, revision, go}.
func versionInfo() engine.Value {
	info, _ := debug.ReadBuildInfo()
	b := buildOf(info)
	return engine.Object("version", b.version, "revision", b.revision, "go", b.goVersion)
}

// hostVersion returns the version in responses and backups: the version followed by the revision,
// as in
// 0.2.0+4f2a0c7d9b5e.
func hostVersion() string {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info).String()
}

type build struct{ version, revision, goVersion string }

const (
	noVersion  = "development"
	noRevision = "unknown revision"
)

// buildOf returns the values of the linker, or else Go's: the version of `go install
// module@version`, or one of the repository's tag and commit. info may be nil.
func buildOf(info *debug.BuildInfo) build {
	b := build{version: version, revision: revision}
	if info != nil {
		b.goVersion = info.GoVersion
		if v := info.Main.Version; b.version == "" && v != "(devel)" {
			b.version = v
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && b.revision == "" {
				b.revision = s.Value
			}
		}
	}
	b.version, b.revision = strings.TrimPrefix(b.version, "v"), b.revision[:min(12, len(b.revision))]
	if b.version == "" {
		b.version = noVersion
	}
	if b.revision == "" {
		b.revision = noRevision
	}
	return b
}

func (b build) String() string {
	if b.revision == noRevision || strings.Contains(b.version, b.revision) {
		return b.version
	}
	sep := "+"
	if strings.Contains(b.version, "+") {
		sep = "."
	}
	return b.version + sep + b.revision
}
