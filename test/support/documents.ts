/** README and docs: their pages, fenced blocks and command lines. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

export const docs = ".github/docs"

export const pages: ReadonlyArray<string> = [
  "README.md",
  ...["CHANGELOG", "CONTRIBUTING", "SECURITY"].map((name) => `.github/${name}.md`),
  ...readdirSync(join(root, docs), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md")).map((name) => `${docs}/${name}`)
]

export const read = (page: string): string => readFileSync(join(root, page), "utf8")

/** Fenced block of a page. */
export interface Shown {
  readonly language: string
  /** Number of its first line in the page. */
  readonly line: number
  /** Without the indentation that all of its lines have. */
  readonly text: string
}

export const blocks = (page: string): ReadonlyArray<Shown> =>
  [...page.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(({ 1: language = "", 2: text = "", index }) => {
    const indentation = Math.min(
      ...text.split("\n").filter((line) => line.trim() !== "").map((line) => line.search(/\S/))
    )
    return {
      language,
      line: page.slice(0, index).split("\n").length + 1,
      text: text.split("\n").map((line) => line.slice(indentation)).join("\n")
    }
  })

/** Words of a command in a shell, up to its end: a pipe, a redirection, a comment or another command. */
const wordsOf = (text: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  for (
    const [word, end] of text.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"|;&<>#`)\\]|(?<=\S)#)+|([|;&<>#`)\n])/g)
  ) {
    if (end !== undefined) break
    words.push(
      word.replace(
        /'([^']*)'|"((?:\\.|[^"\\])*)"/g,
        (_, plain?: string, quoted = "") => plain ?? quoted.replaceAll("\\", "")
      )
    )
  }
  return words
}

/** Command line that a page shows. */
export interface Shell {
  readonly args: ReadonlyArray<string>
  /** Whether prose mentions it, perhaps without all of its arguments and values. */
  readonly isMention: boolean
}

/** Command lines of the program in blocks and prose, and its commands that prose names without the program. */
export const commandsIn = (page: string, names: ReadonlySet<string>): ReadonlyArray<Shell> => {
  // Texts in JSON are quoted in another way.
  const lines = page.replaceAll(/^```json\n[^]*?^```$/gm, "").replaceAll(/ \\\n */g, " ").replaceAll("\\|", "|")
  const program = [...lines.matchAll(/(?:(?<![\w/.-])effect-n8n-mcp|\/main\.js) (.*)/g)].map(([, rest = ""]) => rest)
  const named = [...lines.matchAll(/`([a-z]+ [^`\n]*--[^`\n]*)`/g)].map(([, quote = ""]) => quote)
    .filter((quote) => names.has(quote.split(" ")[0] ?? ""))
  return [...program.map((text) => ({ text, isMention: false })), ...named.map((text) => ({ text, isMention: true }))]
    // Optional arguments are shown in brackets.
    .map(({ isMention, text }) => ({ isMention, args: wordsOf(text).map((word) => word.replace(/^\[|\]$/g, "")) }))
    .filter(({ args: [first = ""] }) => first.startsWith("-") || names.has(first))
}
