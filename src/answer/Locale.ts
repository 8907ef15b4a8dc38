/** Language of an answer's `message`. */
import * as Context from "effect/Context"

/** Supported languages: English, and Japanese as in the earlier servers. */
export const locales = ["en", "ja"] as const
/** Language: `en` or `ja`. */
export type Locale = typeof locales[number]

/** Message in every language. */
export type Message = { readonly [L in Locale]: string }

/** Language of messages; `en` unless provided. */
export const CurrentLocale = Context.Reference<Locale>("effect-n8n-mcp/Locale", { defaultValue: () => "en" as const })
