package runner

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Subjects, after the prefix:
//
//	run.<run>.ev     records of a run, in bundles
//	run.<run>.ck     its last snapshot
//	run.<run>.bl.*   large values of its records, each once
//	log.<run>        stored bundles, republished; not a stream
//	rq.<run>         the queue
//	sched.<id>       schedules that put into the queue
//	own.<host>.<run> notes of who works on what
//	key.c.<task>     cancel marks; key.k.<key> all other keys
//	keyup.c.<task>   stored cancel marks, republished; not a stream
//	hb.<host>        heartbeats, with the host's name for people; not a stream
//	who              asks for a heartbeat of everybody; not a stream
//	lost.<host>      runs that another host took; not a stream
func (l *Log) subject(parts ...string) string {
	s := l.cfg.Prefix
	for _, p := range parts {
		s += "." + p
	}
	return s
}

// wait bounds one question to the server; a cluster that elects a leader
// answers late, so whoever can asks again.
const wait = 10 * time.Second

func (l *Log) makeStreams(ctx context.Context) error {
	l.warnOfOneCopy()
	into := []*jetstream.Stream{&l.runs, &l.log, &l.own, &l.keys}
	for i, cfg := range l.streamConfigs() {
		stream, err := l.makeStream(ctx, cfg)
		if err != nil {
			return fail(err, "stream %s", cfg.Name)
		}
		*into[i] = stream
	}
	files, err := retry(ctx, l.makeFiles)
	l.files = files
	return fail(err, "files")
}

// streamConfigs are the streams for queue and schedules, records, notes and keys.
func (l *Log) streamConfigs() []jetstream.StreamConfig {
	p := l.cfg.Prefix
	configs := []jetstream.StreamConfig{{
		Name: p + "_RUNS", Subjects: []string{p + ".rq.*", p + ".sched.*"}, Retention: jetstream.WorkQueuePolicy,
		AllowMsgSchedules: true, AllowMsgTTL: true, AllowDirect: true, AllowRollup: true, Duplicates: 2 * time.Minute,
	}, {
		Name: p + "_LOG", Subjects: []string{p + ".run.*.ev", p + ".run.*.ck", p + ".run.*.bl.*"}, AllowRollup: true, AllowDirect: true,
		MaxAge: l.cfg.Keep, MaxBytes: l.cfg.MaxBytes,
		RePublish: &jetstream.RePublish{Source: p + ".run.*.ev", Destination: p + ".log.{{wildcard(1)}}"},
	}, {
		Name: p + "_OWN", Subjects: []string{p + ".own.*.*"}, MaxMsgsPerSubject: 1, AllowDirect: true,
	}, {
		Name: p + "_KEYS", Subjects: []string{p + ".key.*.*"}, MaxMsgsPerSubject: 1, AllowDirect: true, AllowMsgTTL: true,
		RePublish: &jetstream.RePublish{Source: p + ".key.c.*", Destination: p + ".keyup.c.{{wildcard(1)}}"},
	}}
	for i := range configs {
		configs[i].Replicas, configs[i].Storage = l.cfg.Replicas, jetstream.FileStorage
	}
	return configs
}

func (l *Log) makeFiles(ctx context.Context) (jetstream.ObjectStore, error) {
	return l.patient.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: l.bucket(), Replicas: l.cfg.Replicas, Storage: jetstream.FileStorage,
	})
}

// warnOfOneCopy tells an operator of a cluster that one of its servers is
// enough to stop everything. When the servers sync cannot be seen from here.
func (l *Log) warnOfOneCopy() {
	if cluster := l.nc.ConnectedClusterName(); l.srv == nil && cluster != "" && l.cfg.Replicas == 1 {
		l.cfg.Log.Warn("NATS is a cluster, and one of its servers alone keeps each message; --nats-replicas 3 keeps it on three", "cluster", cluster)
	}
}

func (l *Log) makeStream(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	return retry(ctx, func(ctx context.Context) (jetstream.Stream, error) {
		return l.js.CreateOrUpdateStream(ctx, cfg)
	})
}

// retry repeats what failed because the server was away or had no leader,
// for as long as an election takes, or until ctx ends.
func retry[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	deadline := time.Now().Add(30 * time.Second)
	pause := 20 * time.Millisecond
	for {
		once, done := context.WithTimeout(ctx, wait)
		v, err := do(once)
		done()
		if err == nil || !transient(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return v, err
		}
		if !sleep(ctx, pause) {
			return v, err
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// sleep waits unless ctx ends first, and says whether it did.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
