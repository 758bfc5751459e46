package sql

import (
	"database/sql"
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// read reads at most most rows, and at most budget bytes of cells, which it subtracts from budget.
// Errors: [ErrTooLarge], those of the driver.
func read(rows *sql.Rows, most int, budget *int) ([][]engine.Value, []string, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, nil, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, nil, err
	}
	cells, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		targets[i] = &cells[i]
	}
	var out [][]engine.Value
	for len(out) < most && rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, nil, err
		}
		row := make([]engine.Value, len(cells))
		for i, cell := range cells {
			row[i] = value(cell, types[i].DatabaseTypeName())
			*budget -= int(row[i].Size())
		}
		if *budget < 0 {
			return nil, nil, fmt.Errorf(
				"%w: more than %d MiB; select fewer rows or columns",
				ErrTooLarge,
				mostBytes>>20,
			)
		}
		out = append(out, row)
	}
	return out, columns, rows.Err()
}

// value returns a cell as JSON: decimals are numbers with their digits, dates YYYY-MM-DD, bytes
// that are not text base64.
func value(cell any, typ string) engine.Value {
	switch c := cell.(type) {
	case nil:
		return engine.Value{}
	case bool:
		return engine.Bool(c)
	case int64:
		return engine.Int(c)
	case uint64:
		return number(strconv.FormatUint(c, 10))
	case float32:
		return float(float64(c), 32)
	case float64:
		return float(c, 64)
	case time.Time:
		return engine.String(timeText(c, typ))
	case []byte:
		return octets(c, typ)
	case string:
		return text(c, typ)
	}
	return engine.String(fmt.Sprint(cell))
}

func float(f float64, bits int) engine.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return engine.Value{}
	}
	return number(strconv.FormatFloat(f, 'g', -1, bits))
}

// number returns a number with the digits of text, or text itself if it is not a number.
func number(text string) engine.Value {
	v, err := engine.ParseJSONText(text)
	if err != nil || v.Kind() != engine.KindNumber {
		return engine.String(text)
	}
	return v
}

func timeText(t time.Time, typ string) string {
	switch {
	case typ == "DATE":
		return t.Format(time.DateOnly)
	case typ == "TIMESTAMPTZ":
		return t.Format("2006-01-02 15:04:05.999999Z07:00")
	}
	return t.Format("2006-01-02 15:04:05.999999")
}

func octets(b []byte, typ string) engine.Value {
	binary := strings.Contains(typ, "BLOB") || strings.Contains(typ, "BINARY") || typ == "BYTEA" || typ == "BIT"
	if binary || !utf8.Valid(b) {
		return engine.String(base64.StdEncoding.EncodeToString(b))
	}
	return text(string(b), typ)
}

// text returns a string of the driver; drivers also hand decimals and JSON over as strings.
func text(s, typ string) engine.Value {
	switch typ {
	case "DECIMAL", "NUMERIC":
		if s == "NaN" {
			return engine.Value{}
		}
		return number(s)
	case "JSON", "JSONB":
		if v, err := engine.ParseJSONText(s); err == nil {
			return v
		}
	}
	return engine.String(strings.ToValidUTF8(s, "\uFFFD"))
}
