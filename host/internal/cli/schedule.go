package cli

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// The verbs of `easel schedule`.
var scheduleCommand = command{
	name: "schedule", args: "VERB [ARGUMENTS]",
	summary: "manages schedules",
	help:    verbHelp("schedule", scheduleVerbs()),
	setup:   needsVerb("schedule"),
	verbs:   scheduleVerbs,
}

func scheduleVerbs() []command {
	return []command{
		scheduleList, scheduleAdd, scheduleRemove,
		pausing("pause", true, "pauses a schedule"),
		pausing("resume", false, "resumes a paused schedule"),
	}
}

var scheduleList = listing("schedule", "schedules", "lists schedules with their next time and last run",
	"ID NAME CANVAS WHEN NEXT LAST", func(s engine.Value) []string {
		next := moment(s.Get("next").At(0))
		if s.Get("paused").True() {
			next = "paused"
		}
		return []string{
			s.Get("id").Str(), s.Get("name").Str(), s.Get("canvas").Str(), timesText(s), next,
			s.Get("last").Get("status").Str(),
		}
	})

// timesText formats the times of a schedule for a cell.
func timesText(s engine.Value) string {
	if hook := s.Get("hook").Str(); hook != "" {
		return hook
	}
	if every := s.Get("every").Str(); every != "" {
		return "every " + every
	}
	return strings.TrimSpace(s.Get("cron").Str() + " " + s.Get("zone").Str())
}

// scheduler is the add verb with its flags.
type scheduler struct {
	remote
	every, cron, zone, name, query, inputs, session, plugin, params string

	published bool
}

var scheduleAdd = command{
	name: "schedule add", args: "CANVAS (--every PERIOD | --cron LINE | --plugin NAME) [FLAGS]",
	summary: "schedules runs of a canvas (by title or id)",
	help: `
A cron LINE has minute, hour, day, month and weekday, or six fields with seconds first; @hourly, @daily, @weekly and
@monthly are supported. A run that is due while the previous one is still active is skipped.

  easel schedule add "Daily report" --cron "30 7 * * mon-fri" --zone Europe/Berlin
  easel schedule add watch --every 10m --query "anything new?" --session new

With --plugin, a run begins for each item that the plugin gives: at the times of the schedule, or with the requests to
its address, which is printed.

  easel schedule add news --plugin feed --params '{"url":"https://example.org/feed"}' --every 10m
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		s := &scheduler{}
		s.add(fs)
		fs.StringVar(&s.every, "every", "", "`PERIOD` such as 90s, 10m or 24h; at least one minute")
		fs.StringVar(&s.cron, "cron", "", "cron `LINE`")
		fs.StringVar(&s.zone, "zone", "", "time `ZONE` of --cron, such as Europe/Berlin; UTC when left out")
		fs.StringVar(&s.name, "name", "", "`NAME` of the schedule; the title of the canvas when left out")
		fs.StringVar(&s.query, "query", "", "the user's `TEXT`")
		fs.StringVar(&s.inputs, "inputs", "", "form fields of Begin: a `JSON` object")
		fs.StringVar(&s.session, "session", "",
			"`ID` of a session that each run continues, or new for a new session each time; no session when left out")
		fs.StringVar(&s.plugin, "plugin", "", "plugin that begins the runs: `NAME` or NAME@MAJOR")
		fs.StringVar(&s.params, "params", "", "settings of the plugin: a `JSON` object")
		fs.BoolVar(&s.published, "published", false, "run the published version of the canvas")
		return s.run
	},
}

func (s *scheduler) run(ctx context.Context, a *app, args []string) error {
	if len(args) != 1 {
		return misuse("schedule", "expected one CANVAS, got %d", len(args))
	}
	if s.every != "" && s.cron != "" || s.every == "" && s.cron == "" && s.plugin == "" {
		return misuse("schedule", "either --every or --cron is required")
	}
	body, err := s.body()
	if err != nil {
		return err
	}
	if err := s.open(a); err != nil {
		return err
	}
	list, err := s.ask(ctx, "GET", "canvases?page_size=1000&keywords="+url.QueryEscape(args[0]), engine.Null)
	if err != nil {
		return err
	}
	canvas, err := called("canvas", args[0], list.Get("items"))
	if err != nil {
		return err
	}
	made, err := s.ask(ctx, "POST", "schedules", body.Set("canvas", engine.String(canvas)).Value())
	if err != nil || s.json {
		return s.shown(made, err)
	}
	if hook := made.Get("hook").Str(); hook != "" {
		_, err = fmt.Fprintf(a.out, "%s: %s, address %s\n", made.Get("id").Str(), made.Get("name").Str(), hook)
		return err
	}
	_, err = fmt.Fprintf(a.out,
		"%s: %s, next %s\n", made.Get("id").Str(), made.Get("name").Str(), moment(made.Get("next").At(0)))
	return err
}

// body is the request that the flags describe, without the canvas.
func (s *scheduler) body() (*engine.ObjectBuilder, error) {
	body := engine.NewObject(8)
	for name, text := range map[string]string{
		"every": s.every, "cron": s.cron, "zone": s.zone, "name": s.name, "query": s.query, "session": s.session,
		"plugin": s.plugin,
	} {
		if text != "" {
			body.Set(name, engine.String(text))
		}
	}
	if s.published {
		body.Set("published", engine.Bool(true))
	}
	for name, text := range map[string]string{"inputs": s.inputs, "params": s.params} {
		if text == "" {
			continue
		}
		v, err := engine.ParseJSONText(text)
		if err != nil {
			return nil, misuse("schedule", "--%s: %w", name, err)
		}
		body.Set(name, v)
	}
	return body, nil
}

// scheduleID returns the id of the schedule with a name or id.
func (r *remote) scheduleID(ctx context.Context, name string) (string, error) {
	list, err := r.ask(ctx, "GET", "schedules", engine.Null)
	if err != nil {
		return "", err
	}
	return called("schedule", name, list.Get("items"))
}

// onSchedule returns a verb that acts on one schedule.
func onSchedule(name, summary string, do func(ctx context.Context, r *remote, path string) error) command {
	return command{
		name: "schedule " + name, args: "NAME|ID [FLAGS]",
		summary: summary, help: remoteHelp,
		setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
			r := &remote{}
			r.add(fs)
			return func(ctx context.Context, a *app, args []string) error {
				if len(args) != 1 {
					return misuse("schedule", "expected one NAME, got %d", len(args))
				}
				if err := r.open(a); err != nil {
					return err
				}
				id, err := r.scheduleID(ctx, args[0])
				if err != nil {
					return err
				}
				return do(ctx, r, "schedules/"+url.PathEscape(id))
			}
		},
	}
}

var scheduleRemove = onSchedule("remove", "deletes a schedule; its started runs continue",
	func(ctx context.Context, r *remote, path string) error {
		_, err := r.ask(ctx, "DELETE", path, engine.Null)
		return err
	})

func pausing(name string, paused bool, summary string) command {
	return onSchedule(name, summary, func(ctx context.Context, r *remote, path string) error {
		v, err := r.ask(ctx, "PUT", path, engine.Object("paused", paused))
		if err != nil || !r.json {
			return err
		}
		return r.shown(v, nil)
	})
}
