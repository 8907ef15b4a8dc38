/** Presentation of changed text: hunks of a unified diff for several lines, otherwise excerpts around the change. */
import { structuredPatch } from "diff"
import { piece, splitsPair } from "../../base/Omission.ts"

const context = 2

export const longText = 160

/** Maximum characters of two texts that are compared by line, and changed lines: the time grows with their square. */
const maxChars = 400_000
const maxEditLength = 1_000

export const hunks = (before: string, after: string): string => {
  const patch = before.length + after.length > maxChars
    ? undefined
    : structuredPatch("", "", before, after, undefined, undefined, { context, maxEditLength })
  if (patch === undefined) return `rewritten: ${before.split("\n").length} lines became ${after.split("\n").length}`
  return patch.hunks.map(({ lines, newLines, newStart, oldLines, oldStart }) =>
    // A missing newline at the end of code is irrelevant.
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines.filter((line) => !line.startsWith("\\"))]
      .join("\n")
  ).join("\n")
}

const commonStart = (a: string, b: string) => {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a[length] === b[length]) length++
  return splitsPair(a, length) || splitsPair(b, length) ? length - 1 : length
}

const commonEnd = (a: string, b: string, most: number) => {
  let length = 0
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++
  return splitsPair(a, a.length - length) ? length - 1 : length
}

/** Excerpts of two texts around what differs; a long difference is cut in its middle, since either end may matter. */
export const excerpts = (before: string, after: string, room: number): readonly [before: string, after: string] => {
  const start = commonStart(before, after)
  const end = commonEnd(before, after, Math.min(before.length, after.length) - start)
  const cut = (text: string) => {
    const changed = Math.max(0, text.length - end - start)
    const around = Math.max(6, Math.min(24, Math.floor((room - changed) / 2)))
    const from = Math.max(0, start - around)
    const to = Math.min(text.length, text.length - end + around)
    const half = Math.floor(room / 2)
    return to - from <= room
      ? piece(text, from, to)
      : piece(text, from, from + half) + piece(text, to - half, to).slice(1)
  }
  return [cut(before), cut(after)]
}
