/** What people ask for when they look for a node, and the types that answer it. */
import blind from "./blindQueries.json" with { type: "json" }
import known from "./nodeQueries.json" with { type: "json" }

/** Types by query by group; any of the types answers it: `ai.` for `@n8n/n8n-nodes-langchain`, else `n8n-nodes-base`. */
export interface Queries {
  readonly [group: string]: { readonly [query: string]: string }
}

/**
 * Queries that were all written before the search was asked with them.
 *
 * **Details**
 *
 * The misses of all groups but `blind` taught it words, so that today's scores of those are not those of an unseen set.
 */
export const queries: Queries = known

/**
 * A second blind set: what agents and people type. It was written before any search was asked with it and must teach
 * none: a miss stays a miss. Only `japanese` taught something: none of it was found, so the search learned Japanese;
 * `japaneseBlind` was written after that, before it was asked.
 */
export const blindQueries: Queries = blind
