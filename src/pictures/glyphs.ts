/** Icons of nodes: a symbol of the function, or the initials of the app. */

/** Icon as strokes in a 24 × 24 square, with the hue that n8n uses. */
export interface Glyph {
  readonly d?: string
  readonly initials?: string
  readonly hue: "plain" | "orange" | "pink" | "green" | "blue" | "violet" | "red"
}

const braces = "M9 4H8a2 2 0 0 0-2 2v4l-2 2 2 2v4a2 2 0 0 0 2 2h1M15 4h1a2 2 0 0 1 2 2v4l2 2-2 2v4a2 2 0 0 1-2 2h-1"
const clock = "M12 3a9 9 0 1 0 .01 0M12 7v5l4 2"
const envelope = "M3 6h18v12H3zM3 7l9 7 9-7"
const flow = "M4 4h6v6H4zM14 14h6v6h-6zM10 7h4a3 3 0 0 1 3 3v4"
const globe = "M12 3a9 9 0 1 0 .01 0M3 12h18M12 3c4 4 4 14 0 18M12 3c-4 4-4 14 0 18"
const angles = "M8 7l-5 5 5 5M16 7l5 5-5 5"

const signs: ReadonlyArray<readonly [RegExp, string, Glyph["hue"]]> = [
  [
    /^(webhook|respondToWebhook)$/,
    "M12 4.5a3 3 0 1 0 .01 0M6 15.5a3 3 0 1 0 .01 0M18 15.5a3 3 0 1 0 .01 0M10.6 10l-3 6M13.4 10l3 6M9 18.5h6",
    "pink"
  ],
  [/^(code|function|functionItem)$/, braces, "orange"],
  [/^(httpRequest|httpRequestTool)$/, globe, "blue"],
  [/^if$/, "M3 8h6l4 9h7M17 14l3 3-3 3M9 8h11M17 5l3 3-3 3", "green"],
  [/^switch$/, "M3 12h5M8 12l5-6h7M8 12h12M8 12l5 6h7M17 3l3 3-3 3M17 9l3 3-3 3M17 15l3 3-3 3", "blue"],
  [/^merge$/, "M3 6h5l5 6h7M3 18h5l5-6M17 9l3 3-3 3", "blue"],
  [/^filter$/, "M3 5h18l-7 8v6l-4 2v-8z", "blue"],
  [/^(set|editImage)$/, "M4 20l1-5L16 4l4 4L9 19zM14 6l4 4", "blue"],
  [/^splitInBatches$/, "M4 12a8 8 0 0 1 14-5l2 2M20 4v5h-5M20 12a8 8 0 0 1-14 5l-2-2M4 20v-5h5", "green"],
  [/^(wait|scheduleTrigger|cron|interval|dateTime)$/, clock, "green"],
  [/^manualTrigger$/, "M6 3l13 8-6 1.5L10 19z", "plain"],
  [/^(noOp|start)$/, "M4 12h15M13 6l6 6-6 6", "plain"],
  [/^(executeWorkflow|executeWorkflowTrigger|toolWorkflow)$/, flow, "orange"],
  [/^(errorTrigger|stopAndError)$/, "M12 4l9 16H3zM12 10v4M12 17v.5", "red"],
  [/^(formTrigger|form)$/, "M5 3h14v18H5zM8 8h8M8 12h8M8 16h4", "green"],
  [/chatTrigger|^chat$/i, "M4 5h16v11H10l-5 4v-4H4z", "plain"],
  [/mail/i, envelope, "red"],
  [/^(splitOut|aggregate|itemLists|limit|sort|removeDuplicates|summarize)$/, "M4 6h16M4 12h10M4 18h6", "pink"],
  [/agent/i, "M5 10a7 6 0 0 1 14 0v1a7 5 0 0 1-14 0zM12 2v2M9 10h.01M15 10h.01M4 20a8 5 0 0 1 16 0", "plain"],
  [/^lm/, "M12 3l2 7 7 2-7 2-2 7-2-7-7-2 7-2z", "plain"],
  [/memory/i, "M4 4h16v5H4zM4 10h16v5H4zM4 16h16v4H4zM15 6.500h2M15 12.500h2", "plain"],
  [/^toolCode$/, angles, "plain"],
  [/^tool|Tool$/, "M14 7a4 4 0 0 1 5-4l-2 3 1 2 3-1a4 4 0 0 1-5 4L8 20l-4-4z", "plain"],
  [/outputParser/i, braces, "plain"],
  [
    /vectorStore|embeddings|retriever|reranker/i,
    "M5 5h.01M12 5h.01M19 5h.01M5 12h.01M12 12h.01M19 12h.01M5 19h.01M12 19h.01M19 19h.01",
    "plain"
  ],
  [
    /chain|classifier|extractor|summar/i,
    "M9 12a4 4 0 0 1 4-4h3a4 4 0 0 1 0 8h-2M15 12a4 4 0 0 1-4 4H8a4 4 0 0 1 0-8h2",
    "plain"
  ],
  [
    /postgres|mysql|mongo|redis|dataTable|sqlite|database/i,
    "M4 6a8 3 0 0 1 16 0v12a8 3 0 0 1-16 0zM4 6a8 3 0 0 0 16 0M4 12a8 3 0 0 0 16 0",
    "blue"
  ],
  [/file|spreadsheet|Ftp$|s3$|pdf/i, "M6 3h8l5 5v13H6zM14 3v5h5", "green"]
]

const hues = ["blue", "green", "orange", "pink", "violet", "red"] as const

const initialsOf = (label: string) => {
  const [first = "?", second] = label.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter(Boolean)
  const [letter = "?", next = ""] = first
  return second === undefined ? letter.toUpperCase() + next : (letter + [...second][0]).toUpperCase()
}

/** Icon of a type with this display name. */
export const glyphOf = (type: string, label: string): Glyph => {
  const name = type.slice(type.lastIndexOf(".") + 1)
  const [, d, hue] = signs.find(([pattern]) => pattern.test(name)) ?? []
  if (d !== undefined && hue !== undefined) return { d, hue }
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return { initials: initialsOf(label), hue: hues[sum % hues.length] ?? "plain" }
}
