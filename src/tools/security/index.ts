/** Tools that examine an n8n. */
export { audit } from "./audit.ts"
