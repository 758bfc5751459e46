package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// Import modules a guest may use.
const (
	bulkModule   = "easel:host/v1"
	kernelModule = "extism:host/env"
	userModule   = "extism:host/user"
	wasiModule   = wasi_snapshot_preview1.ModuleName
)

// hostFunc is one function a guest may import. Its type is written with one
// letter per value, i for i32 and I for i64: "ii:i" is (i32 i32) -> i32.
type hostFunc struct {
	name, typ string
	run       func(g *guest, stack []uint64)
}

// importTypes maps module and function names to types in the letters of hostFunc.
type importTypes map[string]map[string]string

// bindImports instantiates the host modules in a runtime and returns their exports.
func bindImports(ctx context.Context, r wazero.Runtime) (importTypes, error) {
	imports := importTypes{}
	for module, funcs := range map[string][]hostFunc{
		bulkModule: bulkFuncs, kernelModule: kernelFuncs, userModule: slices.Concat(userFuncs, notifyFuncs),
		meter.Module: {{meter.Tick, "i:i", (*guest).tick}},
	} {
		b := r.NewHostModuleBuilder(module)
		imports[module] = map[string]string{}
		for _, f := range funcs {
			imports[module][f.name] = f.typ
			f.export(b)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", module, err)
		}
	}
	delete(imports, meter.Module) // the meter's own import, refused in what strangers send
	wasi := r.NewHostModuleBuilder(wasiModule)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(wasi)
	for _, f := range clockFuncs {
		f.export(wasi)
	}
	if _, err := wasi.Instantiate(experimental.WithFunctionListenerFactory(ctx, wasiWork{})); err != nil {
		return nil, fmt.Errorf("%s: %w", wasiModule, err)
	}
	imports[wasiModule] = map[string]string{}
	for name, def := range r.Module(wasiModule).ExportedFunctionDefinitions() {
		imports[wasiModule][name] = letters(def.ParamTypes()) + ":" + letters(def.ResultTypes())
	}
	return imports, nil
}

// export adds the function to a module, replacing one of the same name.
func (f hostFunc) export(b wazero.HostModuleBuilder) {
	params, results, _ := strings.Cut(f.typ, ":")
	b.NewFunctionBuilder().WithGoModuleFunction(f.bind(), valueTypes(params), valueTypes(results)).Export(f.name)
}

// bind finds the guest that calls in the context of the call.
func (f hostFunc) bind() api.GoModuleFunction {
	return api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		g := ctx.Value(guestKey{}).(*guest)
		g.findMemory(mod) // a start function runs before the instance is handed out
		f.run(g, stack)
	})
}

func valueTypes(letters string) []api.ValueType {
	out := make([]api.ValueType, len(letters))
	for i, c := range letters {
		out[i] = api.ValueTypeI32
		if c == 'I' {
			out[i] = api.ValueTypeI64
		}
	}
	return out
}

func letters(types []byte) string {
	var b strings.Builder
	for _, t := range types {
		switch t {
		case api.ValueTypeI32:
			b.WriteByte('i')
		case api.ValueTypeI64:
			b.WriteByte('I')
		case api.ValueTypeF32:
			b.WriteByte('f')
		default:
			b.WriteByte('F')
		}
	}
	return b.String()
}

// check refuses a module with imports that this host does not offer.
func (t importTypes) check(shape meter.Shape) *contract.Error {
	for _, imp := range shape.Imports {
		name := imp.Module + " " + imp.Name
		module, known := t[imp.Module]
		switch {
		case strings.HasPrefix(imp.Module, "easel:host/") && !known:
			return contract.Errorf(contract.ABIMismatch, "imports %s; this host serves %s", name, bulkModule)
		case !known:
			return contract.Errorf(contract.Unsupported, "imports %s; a plugin may import from %s, %s, %s and %s only",
				name, bulkModule, kernelModule, userModule, wasiModule)
		case imp.Kind != meter.KindFunc:
			return contract.Errorf(contract.Unsupported, "imports the %s %s; only functions may be imported", imp.Kind,
				name)
		}
		want, ok := module[imp.Name]
		if !ok && imp.Module == userModule {
			return contract.Errorf(contract.Unsupported,
				"imports %s, which this host does not offer; of this module it offers %s", name,
				strings.Join(slices.Sorted(maps.Keys(module)), ", "))
		}
		if !ok {
			return contract.Errorf(contract.Unsupported, "imports %s, which this host does not offer", name)
		}
		if got := letters(imp.Type.Params) + ":" + letters(imp.Type.Results); got != want {
			return contract.Errorf(contract.Unsupported, "imports %s as %s, it is %s", name, readable(got),
				readable(want))
		}
	}
	return nil
}

var wordOf = map[rune]string{'i': "i32", 'I': "i64", 'f': "f32", 'F': "f64"}

// readable writes the letters of a type as people do: (i32 i32) -> i32.
func readable(typ string) string {
	params, results, _ := strings.Cut(typ, ":")
	words := func(s string) string {
		var out []string
		for _, c := range s {
			out = append(out, wordOf[c])
		}
		return strings.Join(out, " ")
	}
	if results == "" {
		results = "()"
	} else {
		results = words(results)
	}
	return "(" + words(params) + ") -> " + results
}
