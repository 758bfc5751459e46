package contract

import "github.com/easel-canvas/easel/engine"

// ReadPermissions reads permissions as manifests and grants write them.
func ReadPermissions(v engine.Value) (p Permissions, err error) {
	p = readPermissions(readObject("permissions", v, &err))
	return p, err
}

func readPermissions(o *object) Permissions {
	var p Permissions
	if http := o.object("http"); http != nil {
		p.HTTP = &HTTPPermission{
			Hosts: http.texts("hosts"), Methods: http.texts("methods"), Private: http.flag("private"),
			Reason: http.text("reason"),
		}
	}
	if secrets := o.object("secrets"); secrets != nil && secrets.v.Len() > 0 {
		p.Secrets = make(map[string]SecretPermission, secrets.v.Len())
		for i := range secrets.v.Len() {
			name := secrets.v.Key(i)
			s := readObject(secrets.at(name), secrets.v.At(i), o.err)
			p.Secrets[name] = SecretPermission{
				Hosts: s.texts("hosts"), Plain: s.flag("plain"), Reason: s.text("reason"),
			}
		}
	}
	p.LLM, p.Embed = readCount(o.object("llm")), readCount(o.object("embed"))
	if kv := o.object("kv"); kv != nil {
		p.KV = &KVPermission{Bytes: kv.whole("bytes"), Reason: kv.text("reason")}
	}
	if v := o.object("variables"); v != nil {
		p.Variables = &VariablePermission{Read: v.texts("read"), Write: v.texts("write"), Reason: v.text("reason")}
	}
	if f := o.object("files"); f != nil {
		p.Files = &FilesPermission{Read: f.flag("read"), WriteBytes: f.whole("write_bytes"), Reason: f.text("reason")}
	}
	if c := o.object("clock"); c != nil {
		p.Clock = &ClockPermission{Precise: c.flag("precise"), Reason: c.text("reason")}
	}
	return p
}

func readCount(o *object) *CountPermission {
	if o == nil {
		return nil
	}
	return &CountPermission{MaxCalls: int(o.whole("max_calls")), Reason: o.text("reason")}
}

// Value writes the permissions: {http?, secrets?, llm?, embed?, kv?, variables?, files?,
// clock?}.
func (p Permissions) Value() engine.Value {
	w := newWriter()
	if h := p.HTTP; h != nil {
		http := newWriter()
		http.b.Set("hosts", engine.Strings(h.Hosts...))
		http.texts("methods", h.Methods)
		http.flag("private", h.Private)
		http.text("reason", h.Reason)
		w.object("http", http.b.Value())
	}
	secrets := newWriter()
	for _, name := range p.secretNames() {
		s := newWriter()
		s.b.Set("hosts", engine.Strings(p.Secrets[name].Hosts...))
		s.flag("plain", p.Secrets[name].Plain)
		s.text("reason", p.Secrets[name].Reason)
		secrets.object(name, s.b.Value())
	}
	w.object("secrets", secrets.b.Value())
	w.object("llm", p.LLM.value())
	w.object("embed", p.Embed.value())
	if p.KV != nil {
		kv := newWriter()
		kv.b.Set("bytes", engine.Int(p.KV.Bytes))
		kv.text("reason", p.KV.Reason)
		w.object("kv", kv.b.Value())
	}
	if v := p.Variables; v != nil {
		variables := newWriter()
		variables.texts("read", v.Read)
		variables.texts("write", v.Write)
		variables.text("reason", v.Reason)
		w.b.Set("variables", variables.b.Value())
	}
	if f := p.Files; f != nil {
		files := newWriter()
		files.flag("read", f.Read)
		files.whole("write_bytes", f.WriteBytes)
		files.text("reason", f.Reason)
		w.object("files", files.b.Value())
	}
	if c := p.Clock; c != nil {
		clock := newWriter()
		clock.flag("precise", c.Precise)
		clock.text("reason", c.Reason)
		w.object("clock", clock.b.Value())
	}
	return w.b.Value()
}

func (c *CountPermission) value() engine.Value {
	if c == nil {
		return engine.Null
	}
	w := newWriter()
	w.b.Set("max_calls", engine.Int(int64(c.MaxCalls)))
	w.text("reason", c.Reason)
	return w.b.Value()
}

// MarshalJSON writes Value.
func (p Permissions) MarshalJSON() ([]byte, error) { return p.Value().AppendJSON(nil), nil }

// UnmarshalJSON reads the form that ReadPermissions reads.
func (p *Permissions) UnmarshalJSON(raw []byte) error {
	v, err := engine.ParseJSON(raw)
	if err == nil {
		*p, err = ReadPermissions(v)
	}
	return err
}
