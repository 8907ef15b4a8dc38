/** Tools for node types. */
export { nodeGet } from "./nodeGet.ts"
export { nodeSearch } from "./nodeSearch.ts"
