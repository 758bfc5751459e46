package component

import (
	"context"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

var messageSpec = engine.Spec{
	Ignores: []string{"messages"},
	Name:    "Message",
	Title:   "Reply",
	Search:  []string{"answer", "message", "output", "respond", "end", "消息", "回答"}, First: "content",
	Category: engine.CategoryConversation, Icon: "speech",
	Aliases: []string{answerAlias},
	Doc:     "Sends a text to the user. References are replaced; answers of models are streamed.",
	New:     func() engine.Component { return new(Message) },
	Outputs: []engine.Field{
		{Name: "content", Type: "string", Doc: "the text without reasoning"},
		{
			Name: "attachment", Type: "object",
			Doc: "the text as a file: {doc_id, format, file_name}; only with output_format",
		},
		{Name: "downloads", Type: "list", Doc: "descriptors of the files that the text refers to"},
	},
	Waits:  true,
	Inline: true,
}

// answerAlias is the name of the last node in canvases of the first generation. Without a text of
// its own it sends the outputs of the nodes before it.
const answerAlias = "Answer"

// Message sends a text to the user.
//
// In: the references of the text, as texts. Out: content, and attachment and downloads where there
// are any.
//
// A text is sent in parts, a model's answer piece by piece, unless stream is false or the text is a
// Jinja template; then it is sent whole.
//
// Source: RAGFlow agent/component/message.py at 80a16e71 (behaviour only). Differs: values are
// substituted once and by position, 0 and false stay as they are, a template that does not parse is
// an error; see wording.
type Message struct {
	Content      []engine.Text `json:"content" label:"Text" doc:"sent to the person; with several variants one is picked at random" widget:"variants" want:"Enter the text to send."`
	Stream       bool          `json:"stream" label:"Write while it arrives" doc:"show the text while it is generated" section:"advanced" default:"true"`
	OutputFormat string        `json:"output_format" label:"Also as a file" doc:"writes the text to a file too" shape:"markdown, html, pdf, docx or xlsx" section:"output" widget:"select" offer:"=None|markdown=Markdown|html=HTML|pdf=PDF|docx=Word|xlsx=Excel" accept:"markdown=md"`
	AutoPlay     bool          `json:"auto_play" label:"Read aloud" doc:"also speaks the text" section:"advanced"`
	Status       engine.Value  `json:"status" label:"HTTP status" doc:"of the answer to a web request" section:"output" widget:"number"`
	MemoryIDs    []string      `json:"memory_ids" label:"Remember in" doc:"memories that store the question and this text" section:"output" widget:"memories"`
	KeepFiles    bool          `json:"include_download_info_in_content" label:"Keep file links in the text" doc:"leaves descriptions of files in the text" section:"advanced"`

	wordings   []*wording
	references []engine.Ref // of a text that is not in the params
	answers    bool         // an Answer of the first generation: sends the outputs before it, and ends the turn
}

// Init compiles the texts.
func (m *Message) Init(s *engine.Setup) error {
	if len(m.Content) == 0 {
		m.older(s)
	}
	if len(m.Content) == 0 {
		return s.Fail("content", engine.Null, "is missing; expected a text")
	}
	if v := s.Params.Get("content"); v.Kind() == engine.KindString && v.Str() == "" {
		return s.Fail("content", v, "is empty; expected a text")
	}
	for i := range m.Content {
		m.wordings = append(m.wordings, newWording(&m.Content[i]))
	}
	return nil
}

// older reads the params of canvases of the first generation: texts under messages, or an Answer
// without any.
func (m *Message) older(s *engine.Setup) {
	for _, text := range s.Params.Get("messages").Elements() {
		m.Content = append(m.Content, s.Text(text.Text()))
	}
	if len(m.Content) == 0 && s.Alias() == answerAlias {
		m.Content = []engine.Text{s.Text(contentsOf(s.Upstream()))}
		m.answers = true
	}
	for i := range m.Content {
		m.references = append(m.references, m.Content[i].Refs()...)
	}
}

// contentsOf returns a text of references to the content of each node.
func contentsOf(ids []string) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString("{" + id + "@content}")
	}
	return b.String()
}

// References returns the references that are not in params.
func (m *Message) References() []engine.Ref { return m.references }

// Run selects the text and sends it. Whole values are read now, models' answers while they are
// sent.
func (m *Message) Run(ctx context.Context, call *engine.Call) error {
	w := m.wordings[call.Rand(len(m.wordings))]
	files := engine.List()
	speech := engine.Speech{Voice: m.AutoPlay}
	if m.Stream && !w.isTemplate() {
		if err := m.parts(ctx, call, w.text, &speech, &files); err != nil {
			return err
		}
	} else {
		text, err := w.fill(call, func(r *engine.Ref) (engine.Value, string, error) {
			v, err := call.Resolve(ctx, r)
			if err != nil {
				return v, "", err
			}
			text, err := m.show(call, r, v, &files)
			return v, text, err
		})
		if err != nil {
			return err
		}
		speech.Parts, speech.Rendered = []engine.Value{engine.String(text)}, true
	}
	if files.Len() > 0 {
		call.Out("downloads", files)
	}
	call.Say(speech)
	return nil
}

// parts splits the text at its references.
func (m *Message) parts(
	ctx context.Context, call *engine.Call, text *engine.Text, speech *engine.Speech, files *engine.Value,
) error {
	refs := text.Refs()
	values := make([]engine.Value, len(refs))
	late := make([]bool, len(refs))
	for i := range refs {
		if values[i], late[i] = engine.Late(call, &refs[i]); late[i] {
			continue
		}
		v, err := call.Peek(&refs[i])
		if err != nil {
			return err
		}
		if m.answers && (v.Stream() != nil || v.Truthy()) {
			// The turn is over: an Answer waits for the next message of the user.
			if err := call.Next(nil); err != nil {
				return err
			}
			if call.Speaks(refs[i].Node) {
				v = engine.Null // sent already
			}
		}
		if v.Stream() != nil {
			call.In(refs[i].Expr, v)
		} else {
			shown, err := m.show(call, &refs[i], v, files)
			if err != nil {
				return err
			}
			v = engine.String(shown)
		}
		values[i] = v
	}
	for lit, ref := range text.Parts {
		if ref < 0 {
			speech.Parts = append(speech.Parts, engine.String(lit))
			continue
		}
		if late[ref] {
			if speech.Late == nil {
				speech.Late = map[int]func() (string, error){}
			}
			speech.Late[len(speech.Parts)] = func() (string, error) {
				return m.lateText(context.WithoutCancel(ctx), call, &refs[ref], files)
			}
		}
		speech.Parts = append(speech.Parts, values[ref])
	}
	return nil
}

// lateText returns the text of a reference at the end of the stream that it waited for.
func (m *Message) lateText(
	ctx context.Context, call *engine.Call, r *engine.Ref, files *engine.Value,
) (string, error) {
	v, err := call.Resolve(ctx, r)
	if err != nil {
		return "", err
	}
	before := files.Len()
	text, err := m.show(call, r, v, files)
	if files.Len() > before {
		call.Out("downloads", *files)
	}
	return text, err
}

// show formats a value for a message. It records the value as an input and collects files in it.
func (m *Message) show(call *engine.Call, r *engine.Ref, v engine.Value, files *engine.Value) (string, error) {
	text, err := call.TextOfValue(v)
	if err != nil {
		return "", err
	}
	if call.Answers(r) {
		text = engine.WithoutReasoning(text)
	} else {
		text = spoken(text)
	}
	call.In(r.Expr, engine.String(text))
	found := descriptors(v)
	if found.Len() == 0 {
		return text, nil
	}
	keep := m.KeepFiles
	for _, f := range found.Slice() {
		keep = keep || f.Get(keepInfo).True()
		*files = files.Append(f.Without(keepInfo))
	}
	if !keep {
		return "", nil
	}
	return text, nil
}

// keepInfo is the member of a descriptor that keeps it in the text of messages.
const keepInfo = "include_download_info_in_content"

// descriptors returns the files in a value: a descriptor, a list of only descriptors, or either as
// JSON text. It is empty for anything else.
func descriptors(v engine.Value) engine.Value {
	if s := v.Str(); strings.Contains(s, `"doc_id"`) && engine.CheckParse(s) == nil {
		if parsed, err := engine.ParseJSONText(s); err == nil {
			v = parsed
		}
	}
	switch v.Kind() {
	case engine.KindObject:
		v = engine.List(v)
	case engine.KindList:
	default:
		return engine.Null
	}
	for _, f := range v.Elements() {
		for _, key := range [...]string{"doc_id", "filename", "mime_type"} {
			if !f.Get(key).Truthy() {
				return engine.Null
			}
		}
	}
	return v
}

// Finish adds the end of the message. Errors are warnings here: the text has been sent.
func (m *Message) Finish(ctx context.Context, call *engine.Call, said *engine.Said) error {
	if m.Status.Truthy() {
		said.Status = m.Status
	}
	if v, ok := call.Written("downloads"); ok {
		said.Downloads = v
	}
	if m.OutputFormat != "" {
		m.attach(ctx, call, said)
	}
	if len(m.MemoryIDs) > 0 {
		m.remember(ctx, call, said)
	}
	return nil
}

// formats are the file formats of a text; the first is the default for unknown ones.
var formats = []string{"markdown", "html", "pdf", "docx", "xlsx"}

func (m *Message) attach(ctx context.Context, call *engine.Call, said *engine.Said) {
	format := m.OutputFormat
	if !slices.Contains(formats, format) {
		format = formats[0]
	}
	documents := call.Ports().Documents
	if documents == nil {
		warn(call, "output_format "+format, engine.ErrNoPort)
		return
	}
	file, err := documents.Convert(ctx, format, said.Text)
	if err != nil {
		warn(call, "output_format "+format, err)
		return
	}
	said.Attachment = file
	call.Out("attachment", file)
}

// Names returns the memories that store the text.
func (m *Message) Names() (list []engine.Named) {
	for _, id := range m.MemoryIDs {
		list = append(list, engine.Named{Kind: engine.NamedMemory, Name: id, Param: "memory_ids", Mild: true})
	}
	return list
}

func (m *Message) remember(ctx context.Context, call *engine.Call, said *engine.Said) {
	memory := call.Ports().Memory
	if memory == nil {
		warn(call, "memory_ids", engine.ErrNoPort)
		return
	}
	run := call.RunInfo()
	err := memory.Remember(ctx, &engine.Remembered{
		MemoryIDs: m.MemoryIDs, UserID: run.UserID, AgentID: run.CanvasID, SessionID: run.TaskID,
		UserInput: call.Global("sys.query").Text(), AgentResponse: said.Text,
	})
	if err != nil {
		warn(call, "memory_ids", err)
	}
}

var (
	_ engine.Component   = (*Message)(nil)
	_ engine.Initializer = (*Message)(nil)
	_ engine.Referrer    = (*Message)(nil)
	_ engine.Speaker     = (*Message)(nil)
)
