/** What properties are tried on. */
import * as Schema from "effect/Schema"

/**
 * Any key but one with a backslash: once an object has had one, parsed or not, the `JSON.parse` of Node 24 and 26 takes
 * other escaped keys for it (nodejs/node#63785), and would be no measure.
 */
export const Key = Schema.String.check(Schema.isPattern(/^[^\\]*$/))

/** Any JSON with such keys. */
export const Json: Schema.Codec<Schema.Json> = Schema.Union([
  Schema.Null,
  Schema.Boolean,
  Schema.Finite,
  Schema.String,
  Schema.Array(Schema.suspend(() => Json)),
  Schema.Record(Key, Schema.suspend(() => Json))
])
