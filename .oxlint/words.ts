/** Words that `src` avoids in texts, comments and names: they read as translated. */

/** What to avoid, and what to write. */
const words: ReadonlyArray<readonly [RegExp, string]> = [
  [/\btold\b/i, "report, name, describe"],
  // `kept` in an answer is the number of items that are left of a list.
  [/(?<![."])\bkept\b(?!\??:|")/i, "stored, cached, unchanged, left"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix, repair"],
  [/\banew\b/i, "again"],
  [/\bnobody\b/i, "no one"],
  [/\bwho(?:so)?ever\b/i, "anyone who, the caller, the operator"],
  [/\ball the same\b/i, "anyway"],
  [/\bat once\b/i, "immediately, in one call, together"],
  [/\bstand(?:s|ing)? in\b/i, "is in"],
  [/(?<!\b[Tt]here )\b(?:is|are|be|was|were) none\b(?!\()/, "is not one"],
  [/\b(?:what|which|that|who) (?:is|are) no\b(?! (?:longer|more))/i, "is not a"],
  [/\bput right\b/i, "fix"],
  [
    /\/\*\*\s*\*?\s*(?:What|Who|Those|Which|Of what|By what|With what)\b/,
    "a noun phrase or a verb in the third person"
  ],
  [/\b(?:const|let) (?:found|given|meant|wanted)\b/, "a noun"]
]

/** Separates the words of names such as `keptRows`. */
const spaced = (text: string) => text.replace(/([a-z])(?=[A-Z])/g, "$1 ")

/** Each word to avoid in a line, with what to write. */
export const objections = (line: string): ReadonlyArray<string> => {
  const text = spaced(line)
  return words.flatMap(([word, instead]) => {
    const match = word.exec(text)
    return match === null ? [] : [`Instead of '${match[0].trim()}' write: ${instead}.`]
  })
}
