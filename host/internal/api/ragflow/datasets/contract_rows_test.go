package datasets_test

import (
	"slices"
	"strings"
)

const (
	datasetKeys = `id name avatar tenant_id description language embedding_model permission created_by token_num
		document_count chunk_count chunk_method parser_config pipeline_id pagerank status similarity_threshold
		vector_similarity_weight graphrag_task_id graphrag_task_finish_at raptor_task_id raptor_task_finish_at
		mindmap_task_id mindmap_task_finish_at create_time create_date update_time update_date`
	uploadKeys = `id dataset_id chunk_method pipeline_id parser_config created_by type name source_type suffix location
		size thumbnail run`
	documentKeys = uploadKeys + ` chunk_count token_count progress progress_msg process_begin_at process_duration
		meta_fields status create_time create_date update_time update_date`
	chunkKeys = `id content document_id docnm_kwd important_keywords questions dataset_id image_id available positions`
	addedKeys = `id content document_id dataset_id important_keywords questions create_timestamp create_time`
	one       = "/api/v1/datasets/{dataset}"
	docs      = one + "/documents"
	doc       = docs + "/{document}"
	chunks    = doc + "/chunks"
	nowhere   = "/api/v1/datasets/{none}"
)

// uuid1 is an id of the right form that nothing has.
const uuid1 = "d94a8dc02c9711f0930f7fbc369eab6d"

var contract = slices.Concat(
	creating, changing, listingDatasets, deleting, uploading, listingDocuments, updatingDocuments, deletingDocuments,
	parsing, chunkRows, searching, metadataRows, newerRows, webRows, indexRows,
)

const methodsOld = "Input should be 'naive', 'book', 'email', 'laws', 'manual', 'one', 'paper', 'picture', " +
	"'presentation', 'qa', 'table' or 'tag'"

// field is the text of one problem.
func field(path, message, value string) string {
	return "Field: <" + path + "> - Message: <" + message + "> - Value: <" + value + ">"
}

var creating = slices.Concat(
	[]row{
		yes("POST /api/v1/datasets", `{"name":"new"}`, datasetKeys),
		no(101, "POST /api/v1/datasets", `{"name":""}`, field("name", "String should have at least 1 character", "")),
		no(101, "POST /api/v1/datasets", `{"name":0}`, field("name", "Input should be a valid string", "0")),
		no(101, "POST /api/v1/datasets", `{}`, field("name", "Field required", "{}")),
		no(101, "POST /api/v1/datasets", `{"name":"`+strings.Repeat("a", 129)+`"}`,
			"~String should have at most 128 characters"),
		no(101, "POST /api/v1/datasets", `{"name":"x","permission":"ME"}`,
			field("permission", "Input should be 'me' or 'team'", "ME")),
		no(101, "POST /api/v1/datasets", `{"name":"x","pagerank":1}`,
			field("pagerank", "Extra inputs are not permitted", "1")),
		no(101, "POST /api/v1/datasets", `{"name":"x","embedding_model":"model"}`,
			"~Embedding model identifier must follow <model_name>@<provider> format"),
		no(101, "POST /api/v1/datasets", `{"name":"x","embedding_model":" @provider"}`,
			"~Both model_name and provider must be non-empty strings"),
		no(101, "POST /api/v1/datasets", `{"name":"x","pipeline_id":"0","parse_type":2}`,
			"~pipeline_id must be 32 hex characters"),
		no(101, "POST /api/v1/datasets", `{"name":"x","parse_type":2}`,
			"~parser_id omitted → required fields missing: pipeline_id"),
		no(101, "POST /api/v1/datasets", `{"name":"x","parse_type":65}`, "~Input should be less than or equal to 64"),
		no(101, "POST /api/v1/datasets", `{"name":"x","chunk_method":"qa","parse_type":2,"pipeline_id":"{none}"}`,
			"~parser_id provided → disallowed fields present: parse_type, pipeline_id"),
		no(101, "POST /api/v1/datasets", `{"name":"x","parser_config":{"chunk_token_num":0}}`,
			field("parser_config.chunk_token_num", "Input should be greater than or equal to 1", "0")),
		no(101, "POST /api/v1/datasets", `{"name":"x","parser_config":{"raptor":{"prompt":" "}}}`,
			"~parser_config.raptor.prompt"),
		no(101, "POST /api/v1/datasets", `{"name":"x","parser_config":"x"}`,
			"~Input should be a valid dictionary or instance of ParserConfig"),
		no(101, "POST /api/v1/datasets", `{"name":"x","parser_config":{"delimiter":"`+strings.Repeat("a", 65536)+`"}}`,
			"~Parser config exceeds size limit (max 65,535 characters). Current size: 6"),
		no(101, "POST /api/v1/datasets", `a`, "Malformed JSON syntax: Missing commas/brackets or invalid encoding"),
		no(101, "POST /api/v1/datasets", `"a"`, "Invalid request payload: expected object, got str"),
		no(101, "POST /api/v1/datasets", `FILE:a.txt`,
			"~Unsupported content type: Expected application/json, got multipart/form-data"),
	},
	in("old",
		no(101, "POST /api/v1/datasets", `{"name":"x","chunk_method":null}`,
			field("chunk_method", methodsOld, "None")),
		no(101, "POST /api/v1/datasets", `{"name":"x","chunk_method":[]}`, field("chunk_method", methodsOld, "[]")),
		no(101, "POST /api/v1/datasets", `{"name":"x","avatar":"x"}`,
			"~Missing MIME prefix. Expected format: data:<mime>;base64,<data>"),
		no(101, "POST /api/v1/datasets", `{"name":"x","avatar":"image/png;base64,AA"}`,
			"~Invalid MIME prefix format. Must start with 'data:'"),
		no(101, "POST /api/v1/datasets", `{"name":"x","avatar":"data:x;base64,AA"}`,
			"~Unsupported MIME type. Allowed: ['image/jpeg', 'image/png']"),
		no(101, "POST /api/v1/datasets", `{"name":"x","embedding_model":"none@Vendor"}`,
			"Unsupported model: <none@Vendor>"),
		no(101, "POST /api/v1/datasets", `{"name":"x","parser_config":{"graphrag":{"method":"ner"}}}`,
			"~Input should be 'light' or 'general'"),
		no(101, "POST /api/v1/datasets", `{"name":"x","ext":{}}`, "~Extra inputs are not permitted"),
	),
	in("new",
		no(101, "POST /api/v1/datasets", `{"name":"x","chunk_method":""}`, "~'qa', 'table', 'tag' or 'resume'"),
		no(101, "POST /api/v1/datasets", `{"name":"x","avatar":"x"}`,
			"~missing MIME prefix. Expected format: data:<mime>;base64,<data>"),
		yes("POST /api/v1/datasets", `{"name":"no avatar","avatar":"","ext":{},"chunk_method":"naive","parse_type":1}`,
			datasetKeys),
		no(102, "POST /api/v1/datasets", `{"name":"x","embedding_model":"none@Vendor"}`,
			"Unsupported model: <none@Vendor>"),
		no(101, "POST /api/v1/datasets", `{"name":"x","parser_config":{"graphrag":{"method":null}}}`,
			"~Input should be 'light', 'general' or 'ner'"),
		no(101, "POST /api/v1/datasets", `{"name":"x","parser_config":{"raptor":{"max_token":300}}}`,
			field("parser_config.raptor.max_token", "Input should be greater than or equal to 512", "300")),
		yes("POST /api/v1/datasets", `{"name":"a former default","parser_config":{"raptor":{"max_token":256}}}`,
			datasetKeys),
		no(101, "POST /api/v1/datasets", `{"name":"x","auto_metadata_config":{"metadata":[{"key":"a","type":"x"}]}}`,
			"~auto_metadata_config.metadata.0.type"),
	),
)

var changing = slices.Concat(
	[]row{
		yes("PUT "+one, `{"name":"renamed {dataset}","pagerank":50}`, datasetKeys),
		yes("PUT "+one, `{"parser_config":{}}`, datasetKeys),
		no(101, "PUT "+one, `{"pagerank":101}`,
			field("pagerank", "Input should be less than or equal to 100", "101")),
		no(101, "PUT "+one, `{"id":"x"}`, field("id", "Extra inputs are not permitted", "x")),
		no(101, "PUT "+one, ``, "Malformed JSON syntax: Missing commas/brackets or invalid encoding"),
	},
	in("old",
		no(101, "PUT "+one, `{}`, "No properties were modified"),
		no(101, "PUT /api/v1/datasets/x", `{"name":"x"}`, field("dataset_id", "Invalid UUID1 format", "x")),
		no(101, "PUT "+nowhere, `{"name":"x"}`, "~Invalid UUID1 format"),
		no(108, "PUT /api/v1/datasets/"+uuid1, `{"name":"x"}`,
			"User 'one' lacks permission for dataset '"+uuid1+"'"),
		no(102, "PUT "+one, `{"embedding_model":"other@Vendor"}`,
			"When chunk_num (1) > 0, embedding_model must remain "),
	),
	in("new",
		no(102, "PUT "+one, `{}`, "no properties were modified"),
		no(101, "PUT /api/v1/datasets/x", `{"name":"x"}`, field("dataset_id", "Invalid UUID format", "x")),
		no(102, "PUT "+nowhere, `{"name":"x"}`, "User 'one' lacks permission for dataset '{none}'"),
		yes("PUT "+one, `{"language":"English","connectors":[]}`, datasetKeys+" connectors"),
		no(102, "PUT "+one, `{"embedding_model":"other@Vendor"}`, "Unsupported model: <other@Vendor>"),
	),
)

var listingDatasets = slices.Concat(
	[]row{
		yes("GET /api/v1/datasets?page=1&page_size=1&orderby=update_time&desc=no&id={dataset}", "", datasetKeys),
		yes("GET /api/v1/datasets?name=&page=1", "", datasetKeys),
		no(101, "GET /api/v1/datasets?page=0", "", "~Input should be greater than or equal to 1"),
		no(101, "GET /api/v1/datasets?page_size=a", "",
			"~Input should be a valid integer, unable to parse string as an integer"),
		no(101, "GET /api/v1/datasets?desc=3.14", "", "~Input should be a valid boolean, unable to interpret input"),
		no(101, "GET /api/v1/datasets?orderby=name", "", "~Input should be 'create_time' or 'update_time'"),
		no(101, "GET /api/v1/datasets?unknown=1", "", field("unknown", "Extra inputs are not permitted", "1")),
	},
	in("old",
		no(101, "GET /api/v1/datasets?id=", "", field("id", "Invalid UUID1 format", "")),
		no(108, "GET /api/v1/datasets?id="+uuid1, "", "User 'one' lacks permission for dataset '"+uuid1+"'"),
		no(108, "GET /api/v1/datasets?name=wrong", "", "User 'one' lacks permission for dataset 'wrong'"),
		yes("GET /api/v1/datasets?page_size=101", "", datasetKeys),
	),
	in("new",
		no(101, "GET /api/v1/datasets?id=", "", field("id", "Invalid UUID format", "")),
		no(102, "GET /api/v1/datasets?id={none}", "", "User 'one' lacks permission for dataset '{none}'"),
		no(101, "GET /api/v1/datasets?page_size=101", "",
			"~Value error, page_size must be less than or equal to 100"),
		yes("GET /api/v1/datasets?ids={dataset}&include_parsing_status=true", "", datasetKeys),
		yes("GET "+one, "", datasetKeys),
		no(102, "GET "+nowhere, "", "User 'one' lacks permission for dataset '{none}'"),
	),
)

var deleting = slices.Concat(
	[]row{
		yes("DELETE /api/v1/datasets", `{"ids":[]}`, ""),
		yes("DELETE /api/v1/datasets", `{"ids":["{dataset}"]}`, ""),
		no(101, "DELETE /api/v1/datasets", `{"ids":["{dataset}","{dataset}"]}`, "~Duplicate ids: '{dataset}'"),
		no(101, "DELETE /api/v1/datasets", `{"ids":[],"x":1}`, "~Extra inputs are not permitted"),
		no(101, "DELETE /api/v1/datasets", ``, "~Malformed JSON syntax"),
	},
	in("old",
		no(101, "DELETE /api/v1/datasets", `{}`, "~Field: <ids>"),
		no(101, "DELETE /api/v1/datasets", `{"ids":null,"delete_all":true}`, "~Extra inputs are not permitted"),
		no(108, "DELETE /api/v1/datasets", `{"ids":["{dataset}","`+uuid1+`"]}`,
			"User 'one' lacks permission for datasets: '"+uuid1+"'"),
	),
	in("new",
		yes("DELETE /api/v1/datasets", `{}`, "success_count"),
		yes("DELETE /api/v1/datasets", `{"ids":null}`, "success_count"),
		no(102, "DELETE /api/v1/datasets", `{"ids":["{none}"]}`,
			"User 'one' lacks permission for datasets: '{none}'"),
	),
)

var uploading = slices.Concat(
	[]row{
		yes("POST "+docs, "FILE:a.txt,b.md", uploadKeys),
		no(101, "POST "+docs, "FILE:", "No file selected!"),
		no(101, "POST "+docs, `{}`, "No file part!"),
		no(101, "POST "+docs, "FILE:"+strings.Repeat("a", 252)+".txt", "File name must be 255 bytes or less."),
		no(500, "POST "+docs, "FILE:a.exe,b.unknown",
			"a.exe: This type of file has not been supported yet!\n"+
				"b.unknown: This type of file has not been supported yet!"),
	},
	in("old", no(100, "POST "+nowhere+"/documents", "FILE:a.txt",
		`LookupError("Can't find the dataset with ID {none}!")`)),
	in("new",
		no(102, "POST "+nowhere+"/documents", "FILE:a.txt", "Can't find the dataset with ID {none}!"),
		yes("POST "+docs+"?type=empty", `{"name":"notes.txt"}`, documentKeys),
		no(101, "POST "+docs+"?type=empty", `{"name":" "}`, "File name can't be empty."),
		no(102, "POST "+docs+"?type=empty", `{"name":"mine.txt"}`, "Duplicated document name in the same dataset."),
		no(101, "POST "+docs+"?type=web", `{"url":"http://x.test/"}`, `Lack of "name"`),
		no(101, "POST "+docs+"?type=web", `{"name":"page.html"}`, `Lack of "url"`),
		no(101, "POST "+docs+"?type=web", `{"name":"page.html","url":"x"}`, "The URL format is invalid"),
		no(101, "POST "+docs+"?type=other", "FILE:a.txt", "`type` must be one of \"local\", \"web\", or \"empty\"."),
	),
)
