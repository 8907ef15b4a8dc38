/** Search for workflows by a part of their name, ignoring case and accents. */

/** Latin letters without their accents, in lower case; other marks, such as those of kana, tell letters apart. */
const fold = (text: string) => text.normalize("NFD").replace(/[\u0300-\u036F]/g, "").normalize("NFC").toLowerCase()

export const contains = (text: string): (name: string) => boolean => {
  const part = fold(text)
  return (name) => fold(name).includes(part)
}

/** Form in which equal names are equal, in any case. */
export const form = (name: string): string => name.normalize("NFC").trim().toLowerCase()

export const equals = (text: string) => (name: string): boolean => form(name) === form(text)

/** Pattern for n8n's `LIKE` that each name with the text matches; `undefined` if n8n cannot narrow the search. */
export const pattern = (text: string): string | undefined => {
  const like = text.normalize("NFC").replace(
    /[^ -~]+|[%_\\acdeghijklnorstuwyz]+/giu,
    (run) => `${"_".repeat([...run].length)}%`
  )
  return /[^_% ]/.test(like) ? like : undefined
}
