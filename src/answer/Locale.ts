/** The language of an answer's `message`. */
import * as Context from "effect/Context"

/** The languages: English, and Japanese as in the earlier servers. */
export const locales = ["en", "ja"] as const
/** A language: `en` or `ja`. */
export type Locale = typeof locales[number]

/** A message in every language. */
export type Message = { readonly [L in Locale]: string }

/** The language of messages; `en` unless provided. */
export const CurrentLocale = Context.Reference<Locale>("effect-n8n-mcp/Locale", {
  defaultValue: () => "en" as const
})
