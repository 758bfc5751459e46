package app

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/durable"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Records as they are stored.
type (
	Canvas        = store.Canvas
	CanvasFilter  = store.CanvasFilter
	Version       = store.Version
	Session       = store.Session
	SessionFilter = store.SessionFilter
	SessionDay    = store.SessionDay
	Run           = store.Run
	RunFilter     = store.RunFilter
	Key           = store.Key
	User          = store.User
	Member        = store.Member
	Tenant        = store.Tenant
	Login         = store.Login
	Secret        = store.Secret
	Item          = store.Item
	Page          = store.Page
	Position      = store.Position
	OrderError    = store.OrderError
)

// Which documents of the rows of a list are read.
const (
	WithoutDSL  = store.WithoutDSL
	NoDocuments = store.NoDocuments
)

// Statuses of runs.
const (
	RunActive = store.RunActive
	RunPaused = store.RunPaused
	RunFailed = store.RunFailed
)

// Runs, their records and schedules.
type (
	Job        = durable.Job
	End        = durable.End
	Transcript = durable.Transcript
	Schedule   = durable.Schedule
	When       = durable.When
	WhenError  = durable.WhenError
	Record     = runlog.Record
	Pos        = runlog.Pos
	Place      = runlog.Place
)

// Where the state of a run is saved when it ends.
const (
	KeepSession = durable.KeepSession
	KeepCanvas  = durable.KeepCanvas
)

// Kinds of records that are no events of the engine.
const (
	KindEnd      = durable.KindEnd
	KindTakeover = durable.KindTakeover
)

// ParseEnd reads the record of kind [KindEnd].
func ParseEnd(data []byte) End { return durable.ParseEnd(data) }

// ParsePos reads the text of a position in a run log.
func ParsePos(text string) (Pos, error) { return runlog.ParsePos(text) }

// Visible reports whether clients see records of a kind.
func Visible(kind string) bool { return durable.Visible(kind) }

// ScheduleOfRun returns the id of the schedule that started a run, "" for other runs.
func ScheduleOfRun(v Run) string { return durable.ScheduleOfRun(v) }

// CodeOf returns the stable code of an error of a run.
func CodeOf(err error) string { return durable.CodeOf(err) }

// AccountName returns the name under which an account is counted, whatever the case of its address.
func AccountName(email string) string { return store.AccountName(email) }

// Prologue returns the greeting of a document's Begin.
func Prologue(doc engine.Value) string { return durable.Prologue(doc) }

// BeginOf returns the params of a document's Begin.
func BeginOf(doc engine.Value) engine.Value {
	return doc.Get("components").Get("begin").Get("obj").Get("params")
}
