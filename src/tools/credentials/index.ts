/** Tools for credentials. */
export { credentialCreate } from "./credentialCreate.ts"
export { credentialTest } from "./credentialTest.ts"
export { listCredentials } from "./listCredentials.ts"
