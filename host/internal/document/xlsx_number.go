package document

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// numberFormat is the part of a number format that changes the meaning: a date is stored as a count
// of days, a percentage as a fraction. Separators, colors and currencies are ignored.
type numberFormat struct {
	date, clock bool // the number is a date, a time of day, or both
	elapsed     bool // a duration that may exceed a day
	percent     bool
	digits      int // fraction digits of a percentage
}

// builtinFormat returns a predefined format, which a workbook does not need to declare.
func builtinFormat(id string) numberFormat {
	n, err := strconv.Atoi(id)
	switch {
	case err != nil:
	case n == 9:
		return numberFormat{percent: true}
	case n == 10:
		return numberFormat{percent: true, digits: 2}
	case n >= 14 && n <= 17, n >= 27 && n <= 31, n == 36, n >= 50 && n <= 54, n == 57, n == 58:
		return numberFormat{date: true}
	case n >= 18 && n <= 21, n >= 32 && n <= 35, n == 45, n == 47, n == 55, n == 56:
		return numberFormat{clock: true}
	case n == 46:
		return numberFormat{clock: true, elapsed: true}
	case n == 22:
		return numberFormat{date: true, clock: true}
	}
	return numberFormat{}
}

// formatOf parses a format code. Only the first section is used: the others are for negative
// numbers, zero and text.
func formatOf(code string) numberFormat {
	var f numberFormat
	months := false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case ';':
			i = len(code)
		case '"':
			i += 1 + length(code[i+1:], '"')
		case '\\', '_', '*':
			i++
		case '[':
			n := length(code[i+1:], ']')
			switch strings.ToLower(code[i+1 : i+1+n]) {
			case "h", "hh", "m", "mm", "s", "ss":
				f.clock, f.elapsed = true, true
			}
			i += 1 + n
		case 'y', 'Y', 'd', 'D':
			f.date = true
		case 'h', 'H', 's', 'S':
			f.clock = true
		case 'm', 'M':
			months = true
		case '%':
			f.percent = true
		case '.':
			f.digits = len(code[i+1:]) - len(strings.TrimLeft(code[i+1:], "0"))
		case 'G', 'g', 'E', 'e':
			if strings.HasPrefix(strings.ToLower(code[i:]), "general") {
				i += len("general") - 1
			}
		}
	}
	f.date = f.date || months && !f.clock
	return f
}

// length returns the length of a section up to its end mark, or to the end of the code.
func length(code string, end byte) int {
	if n := strings.IndexByte(code, end); n >= 0 {
		return n
	}
	return len(code)
}

// lastDay is 9999-12-31, the last date of a sheet.
const lastDay = 2958465

func (f numberFormat) show(n float64, from1904 bool) string {
	switch {
	case f.percent && !f.date && !f.clock:
		return strconv.FormatFloat(n*100, 'f', min(f.digits, 15), 64) + "%"
	case f.elapsed:
		return elapsed(n)
	case (f.date || f.clock) && n >= 0 && n <= lastDay:
		return f.showTime(n, from1904)
	}
	return plain(n)
}

func (f numberFormat) showTime(n float64, from1904 bool) string {
	// Day 60 of the 1900 system is 1900-02-29, which does not exist.
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from1904:
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case n < 60:
		first = first.AddDate(0, 0, 1)
	}
	days := math.Floor(n)
	seconds := math.Round((n - days) * 86400)
	t := first.AddDate(0, 0, int(days)).Add(time.Duration(seconds) * time.Second)
	switch {
	case !f.date, n < 1 && f.clock:
		return t.Format("15:04:05")
	case !f.clock:
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}

// elapsed formats days as hours, minutes and seconds.
func elapsed(n float64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	if n > lastDay {
		return sign + plain(n)
	}
	s := int64(math.Round(n * 86400))
	return sign + strconv.FormatInt(s/3600, 10) + ":" + pad(s/60%60) + ":" + pad(s%60)
}

func pad(n int64) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }

// plain formats a number with the 15 significant digits of spreadsheets: 0.1+0.2 is 0.3.
func plain(n float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if err != nil {
		rounded = n
	}
	if math.Abs(rounded) >= 1e21 || rounded != 0 && math.Abs(rounded) < 1e-9 {
		return strconv.FormatFloat(rounded, 'g', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
