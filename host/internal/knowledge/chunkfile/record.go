package chunkfile

import (
	"encoding/binary"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of a record. A number is never used again for something else.
const (
	fieldID protowire.Number = 1 + iota
	fieldContent
	fieldText
	fieldKeyword
	fieldQuestion
	fieldTag
	fieldImage
	fieldKind
	fieldPosition
	fieldParent
	fieldHidden
	fieldTokens
	fieldCreated
	fieldLead // what Text has before Content
)

// appendRecord appends a chunk without its vector. Empty fields are left out.
func appendRecord(b []byte, c *Chunk) []byte {
	text := c.Text
	lead, repeats := strings.CutSuffix(text, c.Content)
	if repeats && lead != "" {
		text = "" // it is made of lead and Content
	} else {
		lead = ""
	}
	for _, f := range [...]struct {
		number protowire.Number
		text   string
	}{
		{fieldID, c.ID},
		{fieldContent, c.Content},
		{fieldText, text},
		{fieldLead, lead},
		{fieldImage, c.Image},
		{fieldKind, c.Kind},
		{fieldParent, c.Parent},
	} {
		if f.text != "" {
			b = appendText(b, f.number, f.text)
		}
	}
	for _, f := range [...]struct {
		number protowire.Number
		list   []string
	}{{fieldKeyword, c.Keywords}, {fieldQuestion, c.Questions}, {fieldTag, c.Tags}} {
		for _, text := range f.list {
			b = appendText(b, f.number, text)
		}
	}
	for _, at := range c.Positions {
		b = protowire.AppendTag(b, fieldPosition, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(8*len(at)))
		for _, x := range at {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	for _, f := range [...]struct {
		number protowire.Number
		value  int64
	}{{fieldHidden, int64(protowire.EncodeBool(c.Hidden))}, {fieldTokens, int64(c.Tokens)}, {fieldCreated, c.Created}} {
		if f.value != 0 {
			b = protowire.AppendTag(b, f.number, protowire.VarintType)
			b = protowire.AppendVarint(b, uint64(f.value))
		}
	}
	return b
}

func appendText(b []byte, number protowire.Number, text string) []byte {
	b = protowire.AppendTag(b, number, protowire.BytesType)
	return protowire.AppendString(b, strings.ToValidUTF8(text, "\uFFFD"))
}

// readRecord reads what appendRecord wrote. Unknown fields are skipped: a later version may have
// written them.
func readRecord(b []byte, c *Chunk) error {
	var content, lead []byte
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return damaged(nil)
		}
		value := b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, value); n < 0 {
			return damaged(nil)
		}
		b, value = value[n:], value[:n]
		switch kind {
		case protowire.BytesType:
			data, _ := protowire.ConsumeBytes(value) // it was consumed before
			switch number {
			case fieldContent:
				content = data
			case fieldLead:
				lead = data
			default:
				c.setBytes(number, data)
			}
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			c.setNumber(number, int64(v))
		}
	}
	if len(lead) == 0 {
		c.Content = string(content)
		return nil
	}
	c.Text = string(lead) + string(content) // one allocation
	c.Content = c.Text[len(lead):]
	return nil
}

func (c *Chunk) setBytes(number protowire.Number, data []byte) {
	switch number {
	case fieldID:
		c.ID = string(data)
	case fieldText:
		c.Text = string(data)
	case fieldKeyword:
		c.Keywords = append(c.Keywords, string(data))
	case fieldQuestion:
		c.Questions = append(c.Questions, string(data))
	case fieldTag:
		c.Tags = append(c.Tags, string(data))
	case fieldImage:
		c.Image = string(data)
	case fieldKind:
		c.Kind = kindOf(data)
	case fieldPosition:
		at := make([]float64, len(data)/8)
		for i := range at {
			at[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		c.Positions = append(c.Positions, at)
	case fieldParent:
		c.Parent = string(data)
	}
}

// kindOf returns a kind of chunk; nearly all are of one of these.
func kindOf(data []byte) string {
	switch string(data) {
	case "text":
		return "text"
	case "table":
		return "table"
	}
	return string(data)
}

func (c *Chunk) setNumber(number protowire.Number, v int64) {
	switch number {
	case fieldHidden:
		c.Hidden = v != 0
	case fieldTokens:
		c.Tokens = int(v)
	case fieldCreated:
		c.Created = v
	}
}
