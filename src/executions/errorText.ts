/** Conversion of n8n's error texts, written as HTML for its editor, to plain text. Pure. */
import { defined, obj, str } from "../base/Json.ts"

/** Whether a text is a service's page or data rather than n8n's own. */
const page = /<(?:!doctype|html|head|body|\?xml)\b|<!--/i

const emphasis = /<(b|strong|i|em|code)>([^<>]*)<\/\1>/gi
const lineBreak = /<br\s{0,9}\/?>/gi
const link = /<a\s([^<>]{0,2000})>([^<>]*)<\/a>/gi
const target = /(?:^|\s)href\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/i

const isWebAddress = (address: string) => /^https?:\/\//i.test(address) && URL.canParse(address)

/**
 * Text without n8n's links, line breaks and emphasis: `More info (https://…)`.
 *
 * Only complete elements are converted: `a < b`, `<your key>`, a lone `<b>`, and a service's page or XML stay
 * unchanged.
 */
export const plain = (text: string): string =>
  !text.includes("<") || page.test(text)
    ? text
    : text
      .replace(emphasis, "$2")
      .replace(lineBreak, "\n")
      .replace(link, (_, attributes: string, words: string) => {
        const [, double, single] = target.exec(attributes) ?? []
        const address = (double ?? single ?? "").trim()
        if (!isWebAddress(address)) return words
        return words.trim() === "" || words.trim() === address ? address : `${words} (${address})`
      })

/** Error from which n8n itself hid all but its kind (`redactedError`). */
export const hiddenError = (error: unknown) =>
  obj(error) && defined({
    name: str(obj(error)?.["type"]),
    message: "n8n hides the message of this error",
    httpCode: obj(error)?.["httpCode"] ?? undefined
  })
