/** Tools that examine an n8n, in the order clients see them. */
import { audit } from "./audit.ts"

export { audit }

export default [audit] as const
