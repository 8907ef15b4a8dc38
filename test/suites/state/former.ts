/** Table of snapshots up to version 3 of the tables. */
export const formerTable =
  "CREATE TABLE n8n_mcp_snapshots (instance text, workflow text, version text, snapshot text, body bytea)"
