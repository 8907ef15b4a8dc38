/** Search query. */
import * as Schema from "effect/Schema"
import * as Input from "../../base/Input.ts"

/** Maximum number of types that a search returns. */
export const maxRows = 50

/** Search query. */
export const Query = Schema.Struct({
  keyword: Schema.optional(Schema.String),
  /** Category or subcategory of n8n's codex, `trigger`, `action`, `http` or `database`; case does not matter. */
  category: Schema.optional(Schema.String),
  functionality: Schema.optional(Schema.String),
  limit: Input.count("limit", maxRows)
})
/** Search query. */
export interface Query extends Schema.Schema.Type<typeof Query> {}

/** Refuses a query that the tool would refuse. */
export const check = Input.decoder(Query)
