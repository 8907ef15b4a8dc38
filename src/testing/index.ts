export * as FakeN8n from "./FakeN8n.ts"
export * as MemoryTransport from "./MemoryTransport.ts"
export * as N8nApi from "./N8nApi.ts"
