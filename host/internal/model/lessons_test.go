package model

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
)

// lessonTable is [LessonRecords] in memory.
type lessonTable struct {
	rows  map[lessonKey]store.ModelLesson
	reads int
	err   error
}

func (l *lessonTable) Get(_ context.Context, tenant, address, model string) (store.ModelLesson, bool, error) {
	l.reads++
	row, ok := l.rows[lessonKey{tenant, address, model}]
	return row, ok, l.err
}

func (l *lessonTable) List(_ context.Context, tenant string) (list []store.ModelLesson, err error) {
	for key, row := range l.rows {
		if key.tenant == tenant {
			list = append(list, row)
		}
	}
	return list, l.err
}

func (l *lessonTable) Put(_ context.Context, row store.ModelLesson) error {
	if l.err == nil {
		l.rows[lessonKey{row.Tenant, row.Address, row.Model}] = row
	}
	return l.err
}

func (l *lessonTable) Delete(_ context.Context, tenant, address, model string) error {
	delete(l.rows, lessonKey{tenant, address, model})
	return l.err
}

// Hosts share what they learn; each reads a record at most once a minute.
func TestLessonsOfHostsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &lessonTable{rows: map[lessonKey]store.ModelLesson{}}
		a, b := lessons{records: table}, lessons{records: table}
		key := lessonKey{"t", "http://h", "m"}
		require.Empty(t, a.get(key))
		require.Empty(t, b.get(key))
		a.change(key, func(l *Lesson) { l.Drop = []string{"stop"} })
		require.Equal(t, []string{"stop"}, a.get(key).Drop)
		require.Empty(t, b.get(key), "not read yet")
		time.Sleep(lessonRefresh)
		require.Equal(t, []string{"stop"}, b.get(key).Drop)
		require.Empty(t, b.get(lessonKey{"u", "http://h", "m"}))

		b.change(key, func(l *Lesson) { l.Batch = 10 })
		time.Sleep(lessonRefresh)
		require.Equal(t, 10, a.get(key).Batch)
		require.Equal(t, []string{"stop"}, a.get(key).Drop)
		reads := table.reads
		for range 100 {
			a.get(key)
		}
		require.Equal(t, reads, table.reads)

		require.NoError(t, a.reset(t.Context(), key))
		require.Empty(t, a.get(key))
		time.Sleep(lessonRefresh)
		require.Empty(t, b.get(key))
	})
}

// A database that fails takes nothing away: calls go by what is in memory.
func TestLessonsWithoutDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &lessonTable{rows: map[lessonKey]store.ModelLesson{}, err: errors.New("no database")}
		l := lessons{records: table}
		l.change(lessonKey{model: "m"}, func(l *Lesson) { l.NoTools = true })
		time.Sleep(2 * lessonRefresh)
		require.True(t, l.get(lessonKey{model: "m"}).NoTools)
		require.ErrorIs(t, l.reset(t.Context(), lessonKey{model: "m"}), table.err)
	})
}

func TestStoredLessonsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &lessonTable{rows: map[lessonKey]store.ModelLesson{}}
		l := lessons{records: table}
		key := lessonKey{model: "m"}
		l.change(key, func(l *Lesson) { l.NoTools = true })
		time.Sleep(lessonTTL - time.Second)
		require.True(t, l.get(key).NoTools)
		time.Sleep(2 * time.Second)
		require.False(t, l.get(key).NoTools)
	})
}
