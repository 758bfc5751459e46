package app

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
)

type (
	// Canvas is a document with its title and owner.
	Canvas = store.Canvas
	// CanvasFilter is which canvases a list has.
	CanvasFilter = store.CanvasFilter
	// Version is a saved document of a canvas.
	Version = store.Version
	// Session is a conversation with a canvas.
	Session = store.Session
	// SessionFilter is which sessions a list has.
	SessionFilter = store.SessionFilter
	// SessionDay is the sessions that began on one day.
	SessionDay = store.SessionDay
	// Run is an execution of a canvas.
	Run = store.Run
	// RunFilter is which runs a list has.
	RunFilter = store.RunFilter
	// Key is an API key without its text.
	Key = store.Key
	// User is a person who can log in.
	User = store.User
	// Member is the role of a user in a tenant.
	Member = store.Member
	// Tenant is an owner of canvases, keys and users.
	Tenant = store.Tenant
	// Login is a login of a user.
	Login = store.Login
	// Secret is a sealed value without the value.
	Secret = store.Secret
	// Item is a record with a kind, such as an MCP server.
	Item = store.Item
	// Page is a part of a list.
	Page = store.Page
	// Position is the position of a row in a list.
	Position = store.Position
	// OrderError is the error of a list that has no such order.
	OrderError = store.OrderError
)

// Which documents of the rows of a list are read.
const (
	WithoutDSL  = store.WithoutDSL
	NoDocuments = store.NoDocuments
)

// Uncounted is the number of rows of a list that was not counted to its end.
const Uncounted = store.Uncounted

// Statuses of runs.
const (
	RunActive = store.RunActive
	RunPaused = store.RunPaused
	RunFailed = store.RunFailed
)

type (
	// Job is a run to start.
	Job = runs.Job
	// End is the outcome of a run.
	End = runs.End
	// Transcript is the text of a run.
	Transcript = runs.Transcript
	// Schedule runs a canvas at set times.
	Schedule = schedule.Schedule
	// When is the times of a schedule.
	When = schedule.When
	// WhenError is the error of times that are not accepted.
	WhenError = schedule.WhenError
	// Record is an entry of a run log.
	Record = runlog.Record
	// Pos is a position in a run log.
	Pos = runlog.Pos
	// Place is where to read a run log.
	Place = runlog.Place
)

// Where the state of a run is saved when it ends.
const (
	KeepSession = runs.KeepSession
	KeepCanvas  = runs.KeepCanvas
)

// Kinds of records other than events of the engine.
const (
	KindEnd      = runs.KindEnd
	KindTakeover = runs.KindTakeover
)

// EndOf returns how a run ended, from its record of kind [KindEnd].
func EndOf(r Record) End { return runs.EndOf(r) }

// Facts returns what is known of an event, without parsing it where the run is on this host.
func Facts(r Record) engine.Facts { return runs.Facts(r) }

// ParsePos reads the text of a position in a run log.
func ParsePos(text string) (Pos, error) { return runlog.ParsePos(text) }

// Visible reports whether clients see records of a kind.
func Visible(kind string) bool { return runs.Visible(kind) }

// ScheduleOfRun returns the id of the schedule that started a run, "" for other runs.
func ScheduleOfRun(v Run) string { return schedule.OfRun(v) }

// CodeOf returns the stable code of an error of a run.
func CodeOf(err error) string { return runs.CodeOf(err) }

// AccountName returns the name under which an account is counted, whatever the case of its address.
func AccountName(email string) string { return store.AccountName(email) }

// Prologue returns the greeting of a document's Begin.
func Prologue(doc engine.Value) string { return runs.Prologue(doc) }
