package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cron is a parsed cron line: seconds, minutes ... of a time zone. A field is a list of values,
// ranges (1-5) and steps (*/15, 10/20 from 10 on), with names for months and days of the week. With
// five fields the seconds are 0.
//
// If both day fields are set, of the month and of the week, either matches, as in every cron.
type cron struct {
	sets [6]uint64 // a bit for each value: second, minute, hour, day, month, weekday
	any  [6]bool   // the field is a star
	zone *time.Location
}

// Indexes of fields.
const (
	cronSecond = iota
	cronMinute
	cronHour
	cronDay
	cronMonth
	cronWeekday
)

type cronField struct {
	name     string
	min, max int
	names    []string // of the values from min on
}

var cronFields = [6]cronField{
	{"second", 0, 59, nil},
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of the month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	// Both 0 and 7 are Sunday.
	{"day of the week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// cronNames stand for whole lines.
var cronNames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// longestCron is in bytes; a list of all values of all fields is shorter.
const longestCron = 1000

// parseCron reads a line. The error names the invalid field.
func parseCron(line string, zone *time.Location) (cron, error) {
	if len(line) > longestCron {
		return cron{}, fmt.Errorf("it has %d characters; at most %d are read", len(line), longestCron)
	}
	text := strings.TrimSpace(line)
	if named := cronNames[strings.ToLower(text)]; named != "" {
		text = named
	}
	fields := strings.Fields(text)
	if len(fields) == 5 {
		fields = append([]string{"0"}, fields...)
	}
	if len(fields) != 6 {
		const want = "expected 5 (minute, hour, day, month, weekday), or 6 with seconds first"
		return cron{}, fmt.Errorf("%d fields; %s", len(fields), want)
	}
	c := cron{zone: zone}
	for i, field := range cronFields {
		for part := range strings.SplitSeq(fields[i], ",") {
			bits, star, err := field.parse(part)
			if err != nil {
				return cron{}, fmt.Errorf("%s %q: %w", field.name, part, err)
			}
			c.sets[i] |= bits
			c.any[i] = c.any[i] || star
		}
	}
	if week := &c.sets[cronWeekday]; *week&(1<<7) != 0 {
		*week = *week&^(1<<7) | 1
	}
	return c, nil
}

// parse reads one part of a field's list.
func (f *cronField) parse(part string) (bits uint64, star bool, err error) {
	span, stepText, stepped := strings.Cut(part, "/")
	step := 1
	if stepped {
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return 0, false, fmt.Errorf("a step is a number from 1 on")
		}
		step = min(step, f.max+1) // a larger one leads nowhere either
	}
	low, high := f.min, f.max
	firstText, lastText, ranged := strings.Cut(span, "-")
	switch {
	case span == "*" || span == "?":
		star = step == 1
		if f.max == 7 {
			high = 6
		}
	default:
		if low, err = f.value(firstText); err != nil {
			return 0, false, err
		}
		switch {
		case ranged:
			if high, err = f.value(lastText); err != nil {
				return 0, false, err
			}
		case !stepped:
			high = low
		}
	}
	if low > high {
		return 0, false, fmt.Errorf("the range ends before it begins")
	}
	for v := low; v <= high; v += step {
		bits |= 1 << v
	}
	return bits, star, nil
}

func (f *cronField) value(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.min + i, nil
		}
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < f.min || v > f.max || strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("values are %d to %d", f.min, f.max)
	}
	return v, nil
}

// next returns the first matching second after a time; false without one within five years. An hour
// that daylight saving skips does not match; one that it repeats matches twice.
func (c *cron) next(after time.Time) (time.Time, bool) {
	t := after.In(c.zone).Truncate(time.Second).Add(time.Second)
	for end := t.AddDate(5, 0, 0); t.Before(end); {
		switch {
		case !c.has(cronMonth, int(t.Month())):
			next := time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, c.zone)
			t = later(t, next, func(n time.Time) bool { return n.Month() == t.Month() })
		case !c.onDay(t):
			next := time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, c.zone)
			t = later(t, next, func(n time.Time) bool { return n.Day() == t.Day() })
		case !c.has(cronHour, t.Hour()):
			t = t.Add(time.Hour - time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second)
		case !c.has(cronMinute, t.Minute()):
			t = t.Add(time.Minute - time.Duration(t.Second())*time.Second)
		case !c.has(cronSecond, t.Second()):
			t = t.Add(time.Second)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}

// later returns n, the midnight after t, or the hour after it if daylight saving skips that
// midnight.
func later(t, n time.Time, same func(time.Time) bool) time.Time {
	for !n.After(t) || same(n) {
		n = n.Add(time.Hour)
	}
	return n
}

func (c *cron) has(field, value int) bool { return c.sets[field]&(1<<value) != 0 }

func (c *cron) onDay(t time.Time) bool {
	month, week := c.has(cronDay, t.Day()), c.has(cronWeekday, int(t.Weekday()))
	if c.any[cronDay] || c.any[cronWeekday] {
		return month && week
	}
	return month || week
}
