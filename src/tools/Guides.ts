/** Short guides to topics that n8n's node descriptions leave out, in the Markdown files of `guides/`. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import * as Assets from "../base/Assets.ts"

/** All guides; the topic is the name of the file and the last part of the URI. */
export const all = [
  ["errors", "Errors and retries", "Retry, error outputs, error workflows."],
  ["loops", "Loops and batches", "When a loop is needed, and how Loop Over Items is connected."],
  ["webhooks", "Webhooks and responses", "What a Webhook receives, and how to answer."],
  ["agents", "AI agents and tools", "Models, memory, tools with $fromAI, structured output."],
  ["expressions", "Expressions and items", "How data flows, and how parameters read it."],
  ["pagination", "Pagination and rate limits", "All pages of an API without a loop; staying within its limits."]
].map(([topic = "", title = "", description = ""]) => ({ topic, title, description }))

/** Reads a Markdown file, which the built program contains as a module that `load` imports. */
export const markdown = (path: string, load: () => Promise<{ readonly default: string }>): Effect.Effect<string> =>
  Effect.promise(async () =>
    Assets.isSource() ? await readFile(new URL(path, import.meta.url), "utf8") : (await load()).default
  )

/** Reads the text of a guide. */
export const read = (topic: string): Effect.Effect<string> =>
  Effect.map(markdown(`./guides/${topic}.md`, () => import(`./guides/${topic}.md`)), (text) => text.trimEnd())
