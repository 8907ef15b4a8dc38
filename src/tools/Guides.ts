/** Short guides to topics that n8n's node descriptions leave out, in the Markdown files of `guides/`. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"

/** All guides; the topic is the name of the file and the last part of the URI. */
export const all = [
  { topic: "errors", title: "Errors and retries", description: "Retry, error outputs, error workflows." },
  {
    topic: "loops",
    title: "Loops and batches",
    description: "When a loop is needed, and how Loop Over Items is connected."
  },
  {
    topic: "webhooks",
    title: "Webhooks and responses",
    description: "What a Webhook receives, and how to answer."
  },
  {
    topic: "agents",
    title: "AI agents and tools",
    description: "Models, memory, tools with $fromAI, structured output."
  },
  { topic: "expressions", title: "Expressions and items", description: "How data flows, and how parameters read it." },
  {
    topic: "pagination",
    title: "Pagination and rate limits",
    description: "All pages of an API without a loop; staying within its limits."
  }
] as const

/** Reads the text of a guide, which the built program has as a module that is loaded only now. */
export const read = (topic: typeof all[number]["topic"]): Effect.Effect<string> =>
  Effect.promise(async () => {
    const text: string = import.meta.url.endsWith(".ts")
      ? await readFile(new URL(`./guides/${topic}.md`, import.meta.url), "utf8")
      : (await import(`./guides/${topic}.md`)).default
    return text.trimEnd()
  })
