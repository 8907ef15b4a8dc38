/** Tools for node types, in the order clients see them. */
import { nodeGet } from "./nodeGet.ts"
import { nodeSearch } from "./nodeSearch.ts"

export { nodeGet, nodeSearch }

export default [nodeSearch, nodeGet] as const
