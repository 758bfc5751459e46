package ragflow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// pythonClient makes the calls of the Python SDK about datasets with the bodies that it builds.
type pythonClient struct {
	*apitest.Site
	base string // with the prefix of the dialect
}

// createDataset is RAGFlow.create_dataset.
func (c *pythonClient) createDataset(name string) engine.Value {
	return c.Good(c.Post(c.base+"/datasets", `{"name":"`+name+`","avatar":null,"description":null,`+
		`"embedding_model":null,"permission":"me","chunk_method":"naive","parser_config":null}`)).Data()
}

// listDocuments is DataSet.list_documents; requests leaves out parameters that are None.
func (c *pythonClient) listDocuments(dataset, more string) engine.Value {
	return c.Good(c.Get(c.base + "/datasets/" + dataset + "/documents?page=1&page_size=30&orderby=create_time" +
		"&desc=True&create_time_from=0&create_time_to=0" + more)).Data().Get("docs")
}

// upload is DataSet.upload_documents.
func (c *pythonClient) upload(dataset string, files ...string) engine.Value {
	body, kind := formOf(files...)
	a := c.Request("POST", c.base+"/datasets/"+dataset+"/documents", "one", body, "Content-Type", kind)
	return c.Good(a).Data()
}

// formOf is a multipart body of pairs of name and content.
func formOf(files ...string) (body, contentType string) {
	const mark = "xxMARKxx"
	for i := 0; i+1 < len(files); i += 2 {
		body += fmt.Sprintf("--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=%q\r\n\r\n%s\r\n",
			mark, files[i], files[i+1])
	}
	return body + "--" + mark + "--\r\n", "multipart/form-data; boundary=" + mark
}

// awaitDone polls as DataSet.parse_documents does.
func (c *pythonClient) awaitDone(dataset string, ids []string) {
	c.T.Helper()
	for _, id := range ids {
		require.Eventually(c.T, func() bool {
			doc := c.listDocuments(dataset, "&id="+id).At(0)
			progress, _ := doc.Get("progress").Float()
			return doc.Get("run").Str() == "DONE" || progress >= 1
		}, datasettest.Patience, datasettest.Patience/1000)
	}
}

func idsOf(rows engine.Value) (ids []string) {
	for _, v := range rows.Elements() {
		ids = append(ids, v.Get("id").Str())
	}
	return ids
}

// TestDatasetsOfTheSDK takes files from the upload to the retrieval in the order of the SDK's
// examples.
func TestDatasetsOfTheSDK(t *testing.T) {
	for dialect, base := range map[string]string{"0.23": "/api/v1", "0.27": "/0.27/api/v1"} {
		t.Run(dialect, func(t *testing.T) {
			c := &pythonClient{apitest.New(t), base}
			set := c.createDataset("handbook")
			id := set.Get("id").Str()
			require.Equal(t, "naive", set.Get("chunk_method").Str())
			require.Equal(t, "Handbook(1)", c.createDataset("Handbook").Get("name").Str(), "case does not matter")

			docs := c.upload(id, "refunds.md", "# Refunds\n\nGoods can be returned within thirty days.",
				"shipping.txt", "Parcels leave the warehouse every weekday at noon.", "empty.txt", "")
			require.Equal(t, 3, docs.Len())
			require.Equal(t, "refunds.md", docs.At(0).Get("name").Str())
			require.Equal(t, "UNSTART", docs.At(0).Get("run").Str())
			ids := idsOf(docs)
			path := base + "/datasets/" + id
			c.Good(c.Put(path+"/documents/"+ids[0],
				`{"meta_fields":{"author":"ann"},"parser_config":{"chunk_token_num":128}}`))

			a := c.Good(c.Post(path+"/chunks", `{"document_ids":["`+ids[0]+`","`+ids[1]+`"]}`))
			require.Equal(t, `{"code":0}`, a.Text)
			c.awaitDone(id, ids[:2])
			doc := c.listDocuments(id, "&id="+ids[0]).At(0)
			require.Contains(t, doc.Get("progress_msg").Str(), "Task done")
			require.NotEmpty(t, doc.Get("process_begin_at").Str())
			took, _ := doc.Get("process_duration").Float()
			require.Positive(t, took)
			require.Equal(t, "ann", doc.Get("meta_fields").Get("author").Str())
			require.Equal(t, "128", doc.Get("parser_config").Get("chunk_token_num").Text())

			chunks := c.Good(c.Get(path + "/documents/" + ids[0] + "/chunks?keywords=&page=1&page_size=30&id=")).Data()
			require.Equal(t, doc.Get("chunk_count").Text(), chunks.Get("total").Text())
			require.Contains(t, chunks.Get("chunks").At(0).Get("content").Str(), "thirty days")
			c.retrieve(id, ids)
			c.edit(id, ids[1])

			require.Equal(t, "Goods", c.Get(path + "/documents/" + ids[0]).Text[len("# Refunds\n\n"):][:5])
			c.Good(c.Put(path, `{"name":"renamed"}`))
			require.Equal(t, "renamed", c.Good(c.Get(base+"/datasets?id="+id)).Body.Get("data").At(0).Get("name").Str())
			c.Good(c.Delete(path+"/documents", `{"ids":["`+ids[2]+`"]}`))
			require.Equal(t, 2, c.listDocuments(id, "").Len())
			c.Good(c.Delete(base+"/datasets", `{"ids":["`+id+`"]}`))
			require.Equal(t, "1", c.Good(c.Get(base+"/datasets")).Body.Get("total_datasets").Text())
		})
	}
}

// retrieve is RAGFlow.retrieve.
func (c *pythonClient) retrieve(dataset string, documents []string) {
	t := c.T
	ask := func(question, more string) engine.Value {
		return c.Good(c.Post(c.base+"/retrieval", `{"page":1,"page_size":30,"similarity_threshold":0.2,`+
			`"vector_similarity_weight":0.3,"top_k":1024,"rerank_id":null,"keyword":false,"question":"`+question+`",`+
			`"dataset_ids":["`+dataset+`"],"document_ids":[]`+more+`}`)).Data()
	}
	found := ask("returned goods", "")
	require.Equal(t, "1", found.Get("total").Text(), found.JSON())
	hit := found.Get("chunks").At(0)
	require.Contains(t, hit.Get("content").Str(), "returned")
	require.Equal(t, documents[0], hit.Get("document_id").Str())
	require.Equal(t, "refunds.md", hit.Get("document_keyword").Str())
	require.Equal(t, "refunds.md", hit.Get("document_name").Str())
	similarity, _ := hit.Get("similarity").Float()
	require.Greater(t, similarity, 0.2)
	require.Equal(t, "refunds.md", found.Get("doc_aggs").At(0).Get("doc_name").Str())
	require.Zero(t, ask("returned goods", `,"metadata_condition":{"logic":"and","conditions":[
		{"name":"author","comparison_operator":"=","value":"bob"}]}`).Get("chunks").Len())
	require.Equal(t, 1, ask("returned goods", `,"metadata_condition":{"logic":"and","conditions":[
		{"name":"author","comparison_operator":"is","value":"ann"}]}`).Get("chunks").Len())
}

// edit adds, changes and deletes a chunk as Document.add_chunk, Chunk.update and
// Document.delete_chunks do.
func (c *pythonClient) edit(dataset, document string) {
	t := c.T
	path := c.base + "/datasets/" + dataset + "/documents/" + document + "/chunks"
	chunk := c.Good(c.Post(path, `{"content":"Gift cards never expire.","important_keywords":["voucher"],`+
		`"questions":[]}`)).Data().Get("chunk")
	id := chunk.Get("id").Str()
	require.Len(t, id, 16)
	require.Equal(t, "Gift cards never expire.", chunk.Get("content").Str())
	change := `{"content":"Gift cards expire after ten years.","available":true}`
	require.Equal(t, `{"code":0}`, c.Put(path+"/"+id, change).Text)
	list := c.Good(c.Get(path + "?id=" + id)).Data()
	require.Equal(t, "Gift cards expire after ten years.", list.Get("chunks").At(0).Get("content").Str())
	require.Equal(t, `["voucher"]`, list.Get("chunks").At(0).Get("important_keywords").JSON())
	require.Equal(t, "102", c.Put(path+"/unknown", `{"content":"x"}`).Body.Get("code").Text())
	require.Equal(t, `{"code":0}`, c.Delete(path, `{"chunk_ids":["`+id+`"]}`).Text)
	require.Equal(t, "1", c.Good(c.Get(path)).Data().Get("total").Text())
}
