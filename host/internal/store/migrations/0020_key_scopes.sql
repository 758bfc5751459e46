-- Whatever could read saw the steps of runs as well, which have a scope of their own now.
UPDATE keys SET scopes = REPLACE(scopes, '"read"', '"read","read_traces"') WHERE scopes LIKE '%"read"%';
-- A key without scopes could do everything; now it can do nothing.
UPDATE keys SET scopes = '["read","run","edit","admin","host","metrics","read_traces"]' WHERE scopes = '[]';
