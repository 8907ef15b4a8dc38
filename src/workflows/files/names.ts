/** Names of new files. */

const maxLength = 60

/** Names that other tools look for. */
const spoken = ["package", "package-lock", "tsconfig", "jsconfig"]

/** What is readable of a workflow's name in a file's: letters and digits of any script, else `-`. */
export const readable = (name: string): string => {
  const words = name.normalize("NFC").toLowerCase()
    .replace(/\p{Variation_Selector}/gu, "")
    .replace(/[^\p{L}\p{M}\p{Nd}]+|(?<![\p{L}\p{M}])\p{M}+/gu, "-")
  return [...words.replace(/^-+/, "")].slice(0, maxLength).join("").replace(/-+$/, "") || "workflow"
}

/** Names of a workflow's file without `.json`, the most readable first; those in `taken` are left out. */
export const free = function*(name: string, taken: ReadonlySet<string>): Generator<string> {
  const stem = readable(name)
  const used = new Set(
    [...taken, ...spoken.map((name) => `${name}.json`)].map((name) => name.normalize().toLowerCase())
  )
  for (let count = 1; count <= 100_000; count++) {
    const ending = count === 1 ? "" : `-${count}`
    const candidate = [...stem].slice(0, maxLength - ending.length).join("").replace(/-+$/, "") + ending
    if (!used.has(`${candidate}.json`)) yield candidate
  }
}
