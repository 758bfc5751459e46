package cli

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"

	"github.com/easel-canvas/easel/engine"
)

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
			fmt.Fprintf(a.out, "easel %s (%s, %s)\n", v.Get("version").Text(), v.Get("revision").Text(), v.Get("go").Text())
			return nil
		}
	},
}

// versionInfo is what the build left in the program: {version, revision, go}.
func versionInfo() engine.Value {
	version, revision, goVersion := "development", "unknown revision", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return engine.Object("version", version, "revision", revision, "go", goVersion)
}
