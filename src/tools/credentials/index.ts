/** Tools for credentials, in the order clients see them. */
import { credentialCreate } from "./credentialCreate.ts"
import { credentialTest } from "./credentialTest.ts"
import { listCredentials } from "./listCredentials.ts"

export { credentialCreate, credentialTest, listCredentials }

export default [listCredentials, credentialTest, credentialCreate] as const
