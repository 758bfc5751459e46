package model

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// LessonRecords store what was learned of models, for all hosts; [store.ModelLessons] implements
// it.
type LessonRecords interface {
	Get(ctx context.Context, tenant, address, model string) (store.ModelLesson, bool, error)
	List(ctx context.Context, tenant string) ([]store.ModelLesson, error)
	Put(ctx context.Context, l store.ModelLesson) error
	Delete(ctx context.Context, tenant, address, model string) error
}

const (
	// maxLessons bounds the number of models that are remembered in memory.
	maxLessons = 1000
	// lessonTTL bounds the age of a lesson: a server may get another configuration.
	lessonTTL = 30 * 24 * time.Hour
	// lessonRefresh is the age at which the record of a lesson is read again: another host may have
	// learned more, or a user may have reset it.
	lessonRefresh = time.Minute
	// lessonTimeout bounds a query of a record. Without an answer a call uses what is in memory.
	lessonTimeout = 2 * time.Second
)

// lessonKey names a model at an address; tenant is "" for a provider of the host.
type lessonKey struct{ tenant, address, model string }

// lessons remembers what was learned of models: in memory, and in records if there are any. It is
// safe for concurrent use.
type lessons struct {
	records LessonRecords // nil keeps lessons in memory only

	mu  sync.Mutex
	all map[lessonKey]remembered
}

// remembered is a lesson with the time at which its record was read.
type remembered struct {
	Lesson
	read time.Time
}

func (l *lessons) get(key lessonKey) Lesson {
	l.refresh(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known(key)
}

// known returns the lesson in memory. The caller holds mu.
func (l *lessons) known(key lessonKey) Lesson {
	if one := l.all[key]; time.Now().Before(one.Until) {
		return one.Lesson
	}
	return Lesson{}
}

// refresh reads the record of a lesson that was not read for a while. A failure is no failure of
// the call: it goes by what is in memory, and the server refuses again what it refused.
func (l *lessons) refresh(key lessonKey) {
	if l.records == nil {
		return
	}
	l.mu.Lock()
	one, now := l.all[key], time.Now()
	fresh := now.Sub(one.read) < lessonRefresh
	if !fresh {
		one.read = now // other calls do not wait for the query
		l.set(key, one)
	}
	l.mu.Unlock()
	if fresh {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lessonTimeout)
	defer cancel()
	record, found, err := l.records.Get(ctx, key.tenant, key.address, key.model)
	if err != nil {
		return
	}
	read := remembered{read: now}
	if found {
		if read.Lesson, err = lessonOf(&record); err != nil {
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[key].read.Equal(now) { // else it changed since
		l.set(key, read)
	}
}

func lessonOf(record *store.ModelLesson) (one Lesson, err error) {
	err = json.Unmarshal(record.Doc, &one)
	one.Until = time.UnixMilli(record.Until)
	return one, err
}

// set replaces a lesson in memory. The caller holds mu.
func (l *lessons) set(key lessonKey, one remembered) {
	if _, known := l.all[key]; !known && len(l.all) >= maxLessons {
		for k := range l.all {
			if delete(l.all, k); len(l.all) < maxLessons {
				break
			}
		}
	}
	if l.all == nil {
		l.all = map[lessonKey]remembered{}
	}
	l.all[key] = one
}

// change changes a lesson. Slices and maps of a lesson are replaced, never written to.
func (l *lessons) change(key lessonKey, change func(*Lesson)) {
	l.refresh(key)
	l.mu.Lock()
	one := l.known(key)
	change(&one)
	now := time.Now()
	one.Until = now.Add(lessonTTL)
	l.set(key, remembered{one, now})
	l.mu.Unlock()
	if l.records == nil {
		return
	}
	doc, err := json.Marshal(one)
	if err != nil {
		return // no member of a lesson fails
	}
	ctx, cancel := context.WithTimeout(context.Background(), lessonTimeout)
	defer cancel()
	// A lesson that is not stored is learned again.
	_ = l.records.Put(ctx, store.ModelLesson{
		Tenant: key.tenant, Address: key.address, Model: key.model, Doc: doc, Until: one.Until.UnixMilli(),
	})
}

// list returns the lessons of the providers of a tenant, or of the host.
func (l *lessons) list(ctx context.Context, tenant string) (map[lessonKey]Lesson, error) {
	found := map[lessonKey]Lesson{}
	if l.records != nil {
		rows, err := l.records.List(ctx, tenant)
		if err != nil {
			return nil, err
		}
		for i, r := range rows {
			if found[lessonKey{tenant, r.Address, r.Model}], err = lessonOf(&rows[i]); err != nil {
				return nil, err
			}
		}
		return found, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.all {
		if one := l.known(key); key.tenant == tenant && !one.Until.IsZero() {
			found[key] = one
		}
	}
	return found, nil
}

// reset forgets what was learned of a model, or with "" of all models at the address.
func (l *lessons) reset(ctx context.Context, key lessonKey) error {
	if l.records != nil {
		if err := l.records.Delete(ctx, key.tenant, key.address, key.model); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.all {
		if k.tenant == key.tenant && k.address == key.address && (key.model == "" || k.model == key.model) {
			delete(l.all, k)
		}
	}
	return nil
}
