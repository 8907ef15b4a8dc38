export * as MemoryTransport from "../mcp/MemoryTransport.ts"
export * as FakeN8n from "./FakeN8n.ts"
export * as N8nApi from "./n8nApi/N8nApi.ts"
export * as TestTime from "./TestTime.ts"
