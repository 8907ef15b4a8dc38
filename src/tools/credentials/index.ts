/** Tools for credentials, in the order clients see them. */
import { listCredentials } from "./listCredentials.ts"

export { listCredentials }

export default [listCredentials] as const
