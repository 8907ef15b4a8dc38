/** Schemas whose arbitraries property tests use. */
import * as Schema from "effect/Schema"

/**
 * Any key without a backslash: after an object had such a key, `JSON.parse` of Node 24 and 26 confuses other escaped
 * keys with it (nodejs/node#63785), so it cannot serve as a reference.
 */
export const Key = Schema.String.check(Schema.isPattern(/^[^\\]*$/))

/** Any JSON with keys without a backslash. */
export const Json: Schema.Codec<Schema.Json> = Schema.Union([
  Schema.Null,
  Schema.Boolean,
  Schema.Finite,
  Schema.String,
  Schema.Array(Schema.suspend(() => Json)),
  Schema.Record(Key, Schema.suspend(() => Json))
])
