package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// allowed lists the licences that may be shipped together with Apache-2.0.
var allowed = map[string]bool{
	"Apache-2.0": true, "MIT": true, "BSD-2-Clause": true, "BSD-3-Clause": true, "ISC": true, "Zlib": true,
	// Licences of files that were reviewed manually; see parts.go.
	"Apache-2.0 WITH LLVM-exception": true, "Bitstream-Vera": true, "blessing": true, "dtoa": true, "FTL": true,
	"IJG": true, "LicenseRef-AGG-2.3": true, "MPL-2.0": true, "OFL-1.1": true, "Unicode-3.0": true,
	"0BSD": true, "bzip2-1.0.6": true, "PSF-2.0": true,
}

// body is the binding text of a licence. <> marks the parts that differ between copies: names, and
// the wording of disclaimers.
type body struct{ id, text string }

const (
	bsdSource = `Redistribution and use in source and binary forms, with or without modification, are permitted provided
		that the following conditions are met: <1> Redistributions of source code must retain the above copyright
		notice, this list of conditions and the following disclaimer. <1> Redistributions in binary form must
		reproduce the above copyright notice, this list of conditions and the following disclaimer in the
		documentation and/or other materials provided with the distribution. `
	bsdNames = `<1> Neither the <> nor the names of <> may be used to endorse or promote products derived from this
		software without specific prior written permission. `
	bsdDisclaimer = `THIS SOFTWARE IS PROVIDED BY <> AS IS AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT
		NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED.
		IN NO EVENT SHALL <> BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
		DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR
		PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT,
		STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
		SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`
)

// bodies are matched in this order; a longer one precedes one that is a part of it.
var bodies = []body{
	{"BSD-3-Clause", bsdSource + bsdNames + bsdDisclaimer},
	{"BSD-2-Clause", bsdSource + bsdDisclaimer},
	{"MIT", `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
		associated documentation files (the "Software"), to deal in the Software without restriction, including
		without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
		copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
		following conditions: The above copyright notice and this permission notice <> shall be included in all
		copies or substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY
		KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A
		PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL <> BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
		LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH
		THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`},
	{"ISC", `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is
		hereby granted, provided that the above copyright notice and this permission notice appear in all copies.
		THE SOFTWARE IS PROVIDED "AS IS" AND <> DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING
		ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL <> BE LIABLE FOR ANY SPECIAL,
		DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR
		PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN
		CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`},
	{"Zlib", `This software is provided 'as-is', without any express or implied warranty. In no event will the authors
		be held liable for any damages arising from the use of this software. Permission is granted to anyone to
		use this software for any purpose, including commercial applications, and to alter it and redistribute it
		freely, subject to the following restrictions: <1> The origin of this software must not be misrepresented;
		you must not claim that you wrote the original software. If you use this software in a product, an
		acknowledgment in the product documentation would be appreciated but is not required. <1> Altered source
		versions must be plainly marked as such, and must not be misrepresented as being the original software.
		<1> This notice may not be removed or altered from any source distribution.`},
}

// classifier identifies the licences in texts.
type classifier struct {
	patterns []pattern
}

type pattern struct {
	id    string
	match *regexp.Regexp
}

const (
	apacheStart = "apache license version 2 0 january 2004"
	apacheEnd   = "end of terms and conditions"
)

// newClassifier takes the text of Apache-2.0 from the LICENSE of this repository.
func newClassifier(apache string) (*classifier, error) {
	words := plain(apache)
	from, to := strings.Index(words, apacheStart), strings.Index(words, apacheEnd)
	if from < 0 || to < from {
		return nil, errors.New("the text of Apache-2.0 is incomplete")
	}
	c := &classifier{}
	// Copies differ in the URL of the licence, in the title of its terms, in the letters before the
	// conditions of section 4, and in a final remark on how to apply it.
	terms := words[from+len(apacheStart) : to]
	terms = terms[strings.Index(terms, "terms and conditions for use"):]
	terms = regexp.MustCompile(` ([a-d]) (you must (?:give|cause|retain)|if the work includes)`).
		ReplaceAllString(strings.TrimSpace(terms), ` (?:$1 )?$2`)
	c.add("Apache-2.0", apacheStart+` (?:http www apache org licenses )?`+terms+
		`(?: `+apacheEnd+`)?(?: (?:appendix )?how to apply the apache license to your work.{0,900}? .{0,30}?`+
		`file format we also recommend .{0,260}? archives)?`)
	c.add("Apache-2.0",
		`licensed under the apache license version 2 0 the license you may not use this file except in compliance`+
			` with the license you may obtain a copy of the license at http www apache org licenses license 2 0 `+
			`unless `+
			`required by`+
			` applicable law or agreed to in writing software distributed under the license is distributed on an as `+
			`is `+
			`basis without`+
			` warranties or conditions of any kind either express or implied see the license for the specific `+
			`language `+
			`governing`+
			` permissions and limitations under the license`)
	for _, b := range bodies {
		text := strings.NewReplacer("<1>", "§", "<>", "¤").Replace(b.text)
		var expression []string
		for word := range strings.FieldsSeq(text) {
			switch word {
			case "§": // a number or a letter before a condition
				expression = append(expression, `(?:[0-9a-z] )?`)
			case "¤":
				expression = append(expression, `(?:.{0,200}? )?`)
			default:
				if p := plain(word); p != "" {
					expression = append(expression, p+" ")
				}
			}
		}
		c.add(b.id, strings.TrimSpace(strings.Join(expression, "")))
	}
	return c, nil
}

func (c *classifier) add(id, expression string) {
	c.patterns = append(c.patterns, pattern{id, regexp.MustCompile(expression)})
}

// conditions matches words that occur in further conditions but not in mere remarks.
var conditions = regexp.MustCompile(
	`\b(?:must|shall|may not|only if|only for|provided that|prohibited|restrict\w*|requires?|general ` +
		`public|[al]?gpl\w*|mpl\w*|commons clause|non ?commercial|sspl|copyleft|except)\b.{0,60}`)

// identify returns the licences in a text, and fails if the text contains further conditions.
func (c *classifier) identify(text string) ([]string, error) {
	rest := plain(text)
	var found []string
	for _, p := range c.patterns {
		if left := p.match.ReplaceAllString(rest, "|"); left != rest {
			rest = left
			if !slices.Contains(found, p.id) {
				found = append(found, p.id)
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("unknown licence: %.80q", plain(text))
	}
	if more := conditions.FindString(rest); more != "" {
		return nil, fmt.Errorf("conditions beside %s: %q", strings.Join(found, ", "), more)
	}
	return found, nil
}

// plain returns a text as lower-case words separated by single spaces.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "https:", "http:")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), " ")
}
