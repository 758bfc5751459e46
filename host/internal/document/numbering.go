package document

import (
	"strconv"
	"strings"
)

// itemMark returns the prefix of an item with its displayed number. Markdown has numbers with a
// point only, so others stand behind a dash.
func itemMark(shown string) string {
	shown = strings.TrimSpace(shown)
	digits := strings.TrimRight(shown, ".)")
	switch n, err := strconv.Atoi(digits); {
	case shown == "":
		return "- "
	case err == nil && n >= 0 && n < 10_000 && digits+"." == shown:
		return shown + " "
	}
	return "- " + shown + " "
}

// numbered returns n in a number format by its name in WordprocessingML. Numbers that a format
// lacks, and formats that are unknown, are decimal.
func numbered(format string, n int) string {
	switch format {
	case "none", "bullet":
		return ""
	case "lowerLetter", "upperLetter":
		if n > 0 && n <= 26*64 {
			letters := strings.Repeat(string(rune('a'+(n-1)%26)), (n-1)/26+1)
			return cased(letters, format)
		}
	case "lowerRoman", "upperRoman":
		if n > 0 && n < 4000 {
			return cased(roman(n), format)
		}
	case "decimalZero":
		if n >= 0 && n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "ordinal":
		return strconv.Itoa(n) + ordinalEnd(n)
	case "decimalEnclosedCircle", "decimalEnclosedCircleChinese":
		if n > 0 && n <= 20 {
			return string(rune('\u2460' + n - 1))
		}
	case "decimalFullWidth":
		return strings.Map(func(r rune) rune { return r + '\uFF10' - '0' }, strconv.Itoa(max(n, 0)))
	case "chineseCounting", "chineseCountingThousand", "ideographDigital", "taiwaneseCounting",
		"taiwaneseCountingThousand", "japaneseCounting":
		if n > 0 && n < 100 {
			return chineseNumber(n)
		}
	case "ideographTraditional":
		return signOf("甲乙丙丁戊己庚辛壬癸", n)
	case "ideographZodiac":
		return signOf("子丑寅卯辰巳午未申酉戌亥", n)
	}
	return strconv.Itoa(n)
}

// cased returns lower-case letters in the case of a format.
func cased(letters, format string) string {
	if strings.HasPrefix(format, "upper") {
		return strings.ToUpper(letters)
	}
	return letters
}

func roman(n int) string {
	var b strings.Builder
	values := []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}
	for i, sign := range strings.Fields("m cm d cd c xc l xl x ix v iv i") {
		for ; n >= values[i]; n -= values[i] {
			b.WriteString(sign)
		}
	}
	return b.String()
}

func ordinalEnd(n int) string {
	if n%100 >= 11 && n%100 <= 13 {
		return "th"
	}
	switch n % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}

// chineseNumber writes a number from 1 to 99.
func chineseNumber(n int) string {
	digits := []rune("〇一二三四五六七八九")
	tens, ones := n/10, n%10
	out := ""
	if tens > 1 {
		out = string(digits[tens])
	}
	if tens > 0 {
		out += "十"
	}
	if ones > 0 {
		out += string(digits[ones])
	}
	return out
}

// signOf returns the sign of n in a cycle of signs.
func signOf(signs string, n int) string {
	list := []rune(signs)
	if n < 1 || n > len(list) {
		return strconv.Itoa(n)
	}
	return string(list[n-1])
}
