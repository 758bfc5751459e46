package engine

// Alias is the component's name as the document writes it: its own name or one of its aliases. A
// component that loads under several names can so tell which one was meant.
func (s *Setup) Alias() string {
	if s.owner == nil {
		return s.Kind
	}
	if name := s.owner.entry.Get("obj").Get("component_name").Str(); name != "" {
		return name
	}
	return s.Kind
}

// Upstream is the ids of the nodes the document names as leading to this one, in document order.
func (s *Setup) Upstream() []string {
	if s.owner == nil {
		return nil
	}
	var ids []string
	for _, id := range s.owner.entry.Get("upstream").Elements() {
		ids = append(ids, id.Str())
	}
	return ids
}
