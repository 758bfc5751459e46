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
		pausing("pause", true, "stops a schedule until it is resumed"),
		pausing("resume", false, "lets a paused schedule go on"),
	}
}

var scheduleList = listing("schedule", "schedules", "lists the schedules, when they come next and what became of the last run",
	"ID NAME CANVAS WHEN NEXT LAST", func(s engine.Value) []string {
		next := moment(s.Get("next").At(0))
		if s.Get("paused").True() {
			next = "paused"
		}
		return []string{s.Get("id").Str(), s.Get("name").Str(), s.Get("canvas").Str(), timesText(s), next, s.Get("last").Get("status").Str()}
	})

// timesText is when a schedule comes, in one cell.
func timesText(s engine.Value) string {
	if every := s.Get("every").Str(); every != "" {
		return "every " + every
	}
	return strings.TrimSpace(s.Get("cron").Str() + " " + s.Get("zone").Str())
}

// scheduler is the verb add with its flags.
type scheduler struct {
	remote
	every, cron, zone, name, query, inputs, session string
	published                                       bool
}

var scheduleAdd = command{
	name: "schedule add", args: "CANVAS (--every PERIOD | --cron LINE) [FLAGS]",
	summary: "runs a canvas, named by its title or id, again and again",
	help: `
A cron LINE has minute, hour, day, month and weekday, or six fields with seconds first; @hourly, @daily, @weekly and
@monthly are known. A run that is due while the one before is still at work is left out.

  easel schedule add "Daily report" --cron "30 7 * * mon-fri" --zone Europe/Berlin
  easel schedule add watch --every 10m --query "anything new?" --session new
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		s := &scheduler{}
		s.add(fs)
		fs.StringVar(&s.every, "every", "", "`PERIOD` such as 90s, 10m or 24h; a minute at least")
		fs.StringVar(&s.cron, "cron", "", "cron `LINE`")
		fs.StringVar(&s.zone, "zone", "", "time `ZONE` of --cron, such as Europe/Berlin; UTC when left out")
		fs.StringVar(&s.name, "name", "", "`NAME` of the schedule; the title of the canvas when left out")
		fs.StringVar(&s.query, "query", "", "`TEXT` that the user says")
		fs.StringVar(&s.inputs, "inputs", "", "`JSON` object with the fields of Begin")
		fs.StringVar(&s.session, "session", "", "`ID` of a session whose next turn each run is, or new for one of its own each time; nothing is kept when left out")
		fs.BoolVar(&s.published, "published", false, "run the published version of the canvas")
		return s.run
	},
}

func (s *scheduler) run(ctx context.Context, a *app, args []string) error {
	if len(args) != 1 {
		return misuse("schedule", "one CANVAS is needed, not %d", len(args))
	}
	if (s.every == "") == (s.cron == "") {
		return misuse("schedule", "either --every or --cron is needed")
	}
	body := engine.NewObject(8)
	for name, text := range map[string]string{"every": s.every, "cron": s.cron, "zone": s.zone, "name": s.name, "query": s.query, "session": s.session} {
		if text != "" {
			body.Set(name, engine.String(text))
		}
	}
	if s.published {
		body.Set("published", engine.Bool(true))
	}
	if s.inputs != "" {
		v, err := engine.ParseJSONText(s.inputs)
		if err != nil {
			return misuse("schedule", "--inputs: %w", err)
		}
		body.Set("inputs", v)
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
	_, err = fmt.Fprintf(a.out, "%s: %s, next %s\n", made.Get("id").Str(), made.Get("name").Str(), moment(made.Get("next").At(0)))
	return err
}

// scheduleID is the id of the schedule that a name or an id names.
func (r *remote) scheduleID(ctx context.Context, name string) (string, error) {
	list, err := r.ask(ctx, "GET", "schedules", engine.Null)
	if err != nil {
		return "", err
	}
	return called("schedule", name, list.Get("items"))
}

// onSchedule is a verb that does something to one schedule.
func onSchedule(name, summary string, do func(ctx context.Context, r *remote, path string) error) command {
	return command{
		name: "schedule " + name, args: "NAME|ID [FLAGS]",
		summary: summary, help: remoteHelp,
		setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
			r := &remote{}
			r.add(fs)
			return func(ctx context.Context, a *app, args []string) error {
				if len(args) != 1 {
					return misuse("schedule", "one NAME is needed, not %d", len(args))
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

var scheduleRemove = onSchedule("remove", "ends a schedule; runs that it has begun go on", func(ctx context.Context, r *remote, path string) error {
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
