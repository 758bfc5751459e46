package sdk

// abi is the version of the contract of this package.
const abi = 1

// Manifest describes a plugin and its requirements. Params, Arguments and Outputs are filled in by
// Register, and Components by RegisterAll.
type Manifest struct {
	ABI         int               `json:"abi"`
	Name        string            `json:"name"`    // lower case: weather
	Version     string            `json:"version"` // three numbers: 1.0.0
	Display     map[string]string `json:"display,omitempty"`
	Category    string            `json:"category,omitempty"`
	Description string            `json:"description"`
	License     string            `json:"license,omitempty"`
	MinHost     string            `json:"min_host,omitempty"`
	Params      *Schema           `json:"params,omitempty"`
	Arguments   *Schema           `json:"arguments,omitempty"`
	Outputs     *Schema           `json:"outputs,omitempty"`
	Streams     bool              `json:"streams,omitempty"`    // its emissions are pieces of its answer
	Idempotent  bool              `json:"idempotent,omitempty"` // may be called twice with the same effect
	State       string            `json:"state,omitempty"`      // none (default), tenant or run
	Permissions *Permissions      `json:"permissions,omitempty"`
	Limits      *Limits           `json:"limits,omitempty"`
	Requires    []string          `json:"requires,omitempty"` // http.fetch@1; with ? it is optional
	Preview     string            `json:"preview,omitempty"`  // local, server or none
	Trigger     string            `json:"trigger,omitempty"`  // poll or webhook: it begins runs, see Items
	Settings    *Schema           `json:"settings,omitempty"` // what a tenant sets once: SchemaOf[T]()
	Components  []Component       `json:"components,omitempty"`
}

// Permissions are the requests of a plugin. Each has a reason, which is shown when it is granted.
type Permissions struct {
	HTTP      *HTTPPermission             `json:"http,omitempty"`
	Secrets   map[string]SecretPermission `json:"secrets,omitempty"`
	LLM       *CountPermission            `json:"llm,omitempty"`
	Embed     *CountPermission            `json:"embed,omitempty"`
	KV        *KVPermission               `json:"kv,omitempty"`
	Variables *VariablePermission         `json:"variables,omitempty"`
	Files     *FilesPermission            `json:"files,omitempty"`
	Clock     *ClockPermission            `json:"clock,omitempty"`
}

// HTTPPermission requests access to Hosts: api.example.org, *.example.org or *. No Methods means
// GET and HEAD.
type HTTPPermission struct {
	Hosts   []string `json:"hosts"`
	Methods []string `json:"methods,omitempty"`
	Private bool     `json:"private,omitempty"` // addresses in private ranges, too
	Reason  string   `json:"reason"`
}

// SecretPermission lets the host insert a secret into requests to Hosts.
type SecretPermission struct {
	Hosts  []string `json:"hosts"`
	Plain  bool     `json:"plain,omitempty"` // over http, too; not needed for this machine
	Reason string   `json:"reason"`
}

// CountPermission requests MaxCalls calls of a model in one call of the plugin.
type CountPermission struct {
	MaxCalls int    `json:"max_calls"`
	Reason   string `json:"reason"`
}

// KVPermission requests storage of Bytes of keys and values.
type KVPermission struct {
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason"`
}

// VariablePermission names the variables of the run that a plugin reads and writes: sys.query,
// env.name.
type VariablePermission struct {
	Read   []string `json:"read,omitempty"`
	Write  []string `json:"write,omitempty"`
	Reason string   `json:"reason"`
}

// FilesPermission requests reading files of the run, and storing at most WriteBytes in one call.
type FilesPermission struct {
	Read       bool   `json:"read,omitempty"`
	WriteBytes int64  `json:"write_bytes,omitempty"`
	Reason     string `json:"reason"`
}

// ClockPermission requests clocks that are finer than steps of 1 ms, with Precise set.
type ClockPermission struct {
	Precise bool   `json:"precise"`
	Reason  string `json:"reason"`
}

// Limits are limits of one call; the host sets those of zero fields.
type Limits struct {
	MemoryMB  int   `json:"memory_mb,omitempty"`
	TimeoutMS int   `json:"timeout_ms,omitempty"`
	OutputKB  int   `json:"output_kb,omitempty"`
	Fuel      int64 `json:"fuel,omitempty"`
}
