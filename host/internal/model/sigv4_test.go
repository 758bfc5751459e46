package model

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Source: the published example of AWS, and the signer of aws-sdk-go-v2.
func TestSignatures(t *testing.T) {
	account := "AKIDEXAMPLEAKIDEX:secret/+=:se+/ssion=="
	at := time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC)
	for _, c := range []struct {
		key, method, url, body, region, service string
		at                                      time.Time
		signed, signature                       string
	}{
		{
			"AKIDEXAMPLEXXXXX:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", http.MethodGet,
			"https://example.amazonaws.com/", "",
			"us-east-1", "service", time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC), "host;x-amz-date",
			"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
		},
		{
			account, http.MethodPost, "https://bedrock-runtime.eu-west-1.amazonaws.com" +
				"/model/anthropic.claude-v2%3A0%2Fx%20y~-_./converse-stream", "body", "eu-west-1", "bedrock",
			at, "host;x-amz-date;x-amz-security-token",
			"22cdbb2150e0f36e451d1740ad99fff9b0dbfe001617d8616d2563387235daf1",
		},
		{
			account, http.MethodPost, "https://bedrock.eu-west-1.amazonaws.com/foundation-models?b=1&a-b=2&a=x+y",
			"body", "eu-west-1", "bedrock", at, "host;x-amz-date;x-amz-security-token",
			"d56c80eb567167836003e65c85f18d7dcac98989e9718dd1f7300afda0978599",
		},
	} {
		req, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		require.NoError(t, err)
		account, ok := credentialsOf(c.key)
		require.True(t, ok)
		account.sign(req, []byte(c.body), c.region, c.service, c.at)
		id, _, _ := strings.Cut(c.key, ":")
		require.Equal(t, "AWS4-HMAC-SHA256 Credential="+id+"/"+c.at.Format("20060102")+"/"+c.region+"/"+c.service+
			"/aws4_request, SignedHeaders="+c.signed+", Signature="+c.signature, req.Header.Get("Authorization"))
	}
}

func TestKeysOfBedrock(t *testing.T) {
	for key, signs := range map[string]bool{
		"AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": true,
		"ASIAIOSFODNN7EXAMPLE:secret/+=:session/+==":                    true,
		"ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl":                              false,
		"bedrock-api-key-YmVkcm9jaw==":                                  false,
		"AKIAIOSFODNN7EXAMPLE":                                          false,
		"AKIAIOSFODNN7EXAMPLE:":                                         false,
		"akia:secret":                                                   false,
		"":                                                              false,
	} {
		req, err := http.NewRequest(http.MethodPost, "https://bedrock-runtime.eu-west-1.amazonaws.com/", nil)
		require.NoError(t, err)
		bedrockDialect{}.authorize(req.Header, key)
		bedrockDialect{}.sign(req, nil, key, time.Now())
		sent := req.Header.Get("Authorization")
		switch {
		case signs:
			require.Contains(t, sent, "/eu-west-1/bedrock/aws4_request", key)
			require.NotContains(t, sent, "secret")
		case key == "":
			require.Empty(t, sent)
		default:
			require.Equal(t, "Bearer "+key, sent)
		}
	}
}
