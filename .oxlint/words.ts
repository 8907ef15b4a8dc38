/** Words that `src` avoids in texts, comments and names, and tests in their titles: they read as translated. */

/** Words to avoid, with their replacements. */
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
  [/\btaken for\b|\b(?:ends?|ended|runs?|ran|sends?|fails?|answers?) otherwise\b/i, "treated as; differently"],
  [/\bbelongs? into\b|\bfor ever\b|\bis there twice\b/i, "belongs in, without end, occurs twice"],
  [
    /\/\*\*\s*\*?\s*(?:What|Who|Those|Which|How|Where|When|Of what|By what|With what)\b/,
    "a noun phrase or a verb in the third person"
  ],
  [/\b(?:const|let) (?:found|given|meant|wanted)\b/, "a noun"]
]

/** Separates the words of names such as `keptRows`. */
const spaced = (text: string) => text.replace(/([a-z])(?=[A-Z])/g, "$1 ")

/** Each word to avoid in a line, and its replacement; `before` is the line before it, which may open a docstring. */
export const objections = (line: string, before = ""): ReadonlyArray<string> => {
  const text = spaced(before.trim() === "/**" ? before + line : line)
  return words.flatMap(([word, instead]) => {
    const match = word.exec(text)
    return match === null ? [] : [`Instead of '${match[0].trim()}' write: ${instead}.`]
  })
}

/** Words to avoid in the title of a test, which is a sentence or a noun phrase. */
export const titleObjections = (title: string): ReadonlyArray<string> => [
  ...objections(title),
  ...(/^(?:what|who|those)\b|\b(?:is|are) no\b(?! (?:longer|more))/.test(title)
    ? ["Instead of this write: a noun."]
    : [])
]
