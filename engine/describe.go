package engine

// Category groups components by purpose.
type Category string

// The categories, in the order in which a palette shows them.
const (
	CategoryConversation Category = "conversation"
	CategoryModel        Category = "model"
	CategoryFlow         Category = "flow"
	CategoryData         Category = "data"
	CategoryKnowledge    Category = "knowledge"
	CategoryTool         Category = "tool"
	CategoryPipeline     Category = "pipeline"
)

// Categories lists every category with its description.
func Categories() []Term {
	return []Term{
		{string(CategoryConversation), "talks with the person"},
		{string(CategoryModel), "asks a language model"},
		{string(CategoryFlow), "decides what runs next"},
		{string(CategoryData), "changes values and variables"},
		{string(CategoryKnowledge), "searches what the host has collected"},
		{string(CategoryTool), "acts on something outside; plugins are tools"},
		{string(CategoryPipeline), "a step of an ingestion pipeline"},
	}
}

// Group is a heading of a palette.
type Group string

// The groups, in the order in which a palette shows them.
const (
	GroupTalk      Group = "talk"
	GroupAI        Group = "ai"
	GroupKnowledge Group = "knowledge"
	GroupFlow      Group = "flow"
	GroupData      Group = "data"
	GroupCode      Group = "code"
	GroupFiles     Group = "files"
	GroupWeb       Group = "web"
	GroupPapers    Group = "papers"
	GroupFinance   Group = "finance"
	GroupWeather   Group = "weather"
	GroupPlugins   Group = "plugins"
	GroupPipeline  Group = "pipeline"
)

// Groups lists every group with its content.
func Groups() []Term {
	return []Term{
		{string(GroupTalk), "talks with the person"},
		{string(GroupAI), "asks a language model"},
		{string(GroupKnowledge), "searches what the host has collected"},
		{string(GroupFlow), "decides what runs next"},
		{string(GroupData), "changes values and variables"},
		{string(GroupCode), "code, services and databases"},
		{string(GroupFiles), "reads and writes files"},
		{string(GroupWeb), "searches the web"},
		{string(GroupPapers), "searches papers and encyclopedias"},
		{string(GroupFinance), "data of markets"},
		{string(GroupWeather), "weather and translation"},
		{string(GroupPlugins), "components of third parties"},
		{string(GroupPipeline), "a step of an ingestion pipeline"},
	}
}

// group returns the declared group, or else that of the category; other tools are plugins.
func (s *Spec) group() Group {
	switch {
	case s.Group != "":
		return s.Group
	case s.Category == CategoryConversation:
		return GroupTalk
	case s.Category == CategoryModel:
		return GroupAI
	case s.Category == CategoryTool, s.Category == "":
		return GroupPlugins
	}
	return Group(s.Category)
}

// Role restricts the position of a component in a canvas.
type Role string

// The roles. A component without one can be anywhere.
const (
	RoleStart     Role = "start"
	RoleContainer Role = "container"
	RoleItem      Role = "item"
	RoleBranch    Role = "branch"
	RoleSink      Role = "sink"
)

// Roles lists every role with its meaning.
func Roles() []Term {
	return []Term{
		{string(RoleStart), "a canvas begins here; nothing leads to it"},
		{string(RoleContainer), "holds other nodes, which run in turns"},
		{string(RoleItem), "opens each turn of the container around it"},
		{string(RoleBranch), "selects one of its branches"},
		{string(RoleSink), "nothing follows it"},
	}
}

// Branch names a param with branches of a component.
//
// A param that is a list or an object has one branch per element, with the next nodes in the
// member To of the element. A param without To contains the ids itself.
type Branch struct {
	Param string
	To    string // member of an element with the ids; "" if the param has them
	Label string // label of a branch; elements of a list are numbered, members of an object have a name
}

// Declares is the form in which a node declares outputs, in the member outputs of its params.
type Declares string

// Forms of declared outputs. The zero value allows none.
const (
	DeclaresTyped     Declares = "typed"     // {name: {type}}
	DeclaresCollected Declares = "collected" // {name: {type, ref}}: values of nodes of the body
	DeclaresSchema    Declares = "schema"    // {structured: JSON Schema}
)

// StandIn returns the outputs of a component with outside effects where the outside cannot be
// reached. invented reports that they are made up, so that a view can mark them; otherwise the work
// was done.
type StandIn func(args, params Value) (outputs Value, invented bool)

// role returns the declared role, or else the role that follows from the component's interfaces.
func (s *Spec) role() Role {
	if s.Role != "" {
		return s.Role
	}
	switch s.New().(type) {
	case Container:
		return RoleContainer
	case Item:
		return RoleItem
	case Brancher:
		if len(s.Branches) > 0 {
			return RoleBranch
		}
	case Exit:
		return RoleSink
	}
	return ""
}

// Describe returns the description of a component for a palette, a form or a docs page.
func (s *Spec) Describe() Value {
	b := NewObject(19)
	b.Set("name", String(s.Name))
	if len(s.Aliases) > 0 {
		b.Set("aliases", Strings(s.Aliases...))
		if s.Renamed {
			b.Set("renamed", Bool(true))
		}
	}
	if s.Title != "" {
		b.Set("title", String(s.Title))
	}
	if len(s.Search) > 0 {
		b.Set("search", Strings(s.Search...))
	}
	if s.First != "" {
		b.Set("first", String(s.First))
	}
	b.Set("description", String(s.Doc))
	s.describeLook(b)
	b.Set("inputs", describeFields(s.Inputs)).Set("outputs", describeFields(s.Outputs))
	if s.Tool != nil {
		b.Set("tool", s.Tool.Define(s.Tool.Function, ""))
	}
	if s.Missing != "" {
		b.Set("missing", String(s.Missing))
	}
	if s.Pipeline {
		b.Set("pipeline", Bool(true))
	}
	if s.StandIn != nil {
		b.Set("stand_in", Bool(true))
	}
	if len(s.Ignores) > 0 {
		b.Set("ignores", Strings(s.Ignores...))
	}
	return b.Set("params", s.Schema()).Value()
}

// describeLook adds the properties for drawing. By default a component is drawn as a box with the
// icon of a tool.
func (s *Spec) describeLook(b *ObjectBuilder) {
	category, icon := s.Category, s.Icon
	if category == "" {
		category = CategoryTool
	}
	if icon == "" {
		icon = "box"
	}
	b.Set("category", String(string(category))).Set("group", String(string(s.group()))).Set("icon", String(icon))
	if role := s.role(); role != "" {
		b.Set("role", String(string(role)))
	}
	if s.Thoughts != "" {
		b.Set("thoughts", String(s.Thoughts))
	}
	if s.Label != "" {
		b.Set("label", String(s.Label))
	}
	if len(s.Branches) == 0 {
		return
	}
	list := make([]Value, len(s.Branches))
	for i, branch := range s.Branches {
		o := NewObject(3).Set("param", String(branch.Param))
		if branch.To != "" {
			o.Set("to", String(branch.To))
		}
		if branch.Label != "" {
			o.Set("label", String(branch.Label))
		}
		list[i] = o.Value()
	}
	b.Set("branches", listOf(list))
}
