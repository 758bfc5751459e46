package template

// filterTable lists every filter.
var filterTable = [...]callable{
	{"abs", 0, "", filterAbs},
	{"attr", 1, "name", filterAttr},
	{"batch", 1, "linecount fill_with", filterBatch},
	{"capitalize", 0, "", stringFilter(capitalize)},
	{"center", 0, "width", filterCenter},
	{"count", 0, "", filterLength},
	{"d", 0, "default_value boolean", filterDefault},
	{"default", 0, "default_value boolean", filterDefault},
	{"dictsort", 0, "case_sensitive by reverse", filterDictsort},
	{"e", 0, "", filterEscape},
	{"escape", 0, "", filterEscape},
	{"filesizeformat", 0, "binary", filterFilesize},
	{"first", 0, "", filterFirst},
	{"float", 0, "default", filterFloat},
	{"forceescape", 0, "", filterForceEscape},
	{"format", 0, "*", filterFormat},
	{"groupby", 1, "attribute default case_sensitive", filterGroupby},
	{"indent", 0, "width first blank", filterIndent},
	{"int", 0, "default base", filterInt},
	{"items", 0, "", filterItems},
	{"join", 0, "d attribute", filterJoin},
	{"last", 0, "", filterLast},
	{"length", 0, "", filterLength},
	{"list", 0, "", filterList},
	{"lower", 0, "", stringFilter(lower)},
	{"map", 0, "*", filterMap},
	{"max", 0, "case_sensitive attribute", filterMax},
	{"min", 0, "case_sensitive attribute", filterMin},
	{"pprint", 0, "", filterPprint},
	{"reject", 0, "*", filterReject},
	{"rejectattr", 0, "*", filterRejectattr},
	{"replace", 2, "old new count", filterReplace},
	{"reverse", 0, "", filterReverse},
	{"round", 0, "precision method", filterRound},
	{"safe", 0, "", filterSafe},
	{"select", 0, "*", filterSelect},
	{"selectattr", 0, "*", filterSelectattr},
	{"slice", 1, "slices fill_with", filterSlice},
	{"sort", 0, "reverse case_sensitive attribute", filterSort},
	{"string", 0, "", filterString},
	{"striptags", 0, "", filterStriptags},
	{"sum", 0, "attribute start", filterSum},
	{"title", 0, "", stringFilter(titleText)},
	{"tojson", 0, "indent", filterTojson},
	{"trim", 0, "chars", filterTrim},
	{"truncate", 0, "length killwords end leeway", filterTruncate},
	{"unique", 0, "case_sensitive attribute", filterUnique},
	{"upper", 0, "", stringFilter(upper)},
	{"urlencode", 0, "", filterUrlencode},
	{"wordcount", 0, "", filterWordcount},
	{"wordwrap", 0, "width break_long_words wrapstring break_on_hyphens", filterWordwrap},
	{"xmlattr", 0, "autospace", filterXmlattr},
}

// stringFilter makes a filter of a function on texts. Other values are printed first; a safe text stays safe.
//
//go:noinline
func stringFilter(change func(string) string) func(*render, value, *args) value {
	return func(r *render, v value, _ *args) value {
		s := r.str(v)
		r.walk(s)
		return like(v, r.made(change(s)))
	}
}
