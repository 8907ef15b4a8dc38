/** n8n's error texts, which its editor shows as HTML, as plain text. Pure. */

/** A page that a service answered, or data: not n8n's words. */
const page = /<(?:!doctype|html|head|body|\?xml)\b|<!--/i

const emphasis = /<(b|strong|i|em|code)>([^<>]*)<\/\1>/gi
const lineBreak = /<br\s{0,9}\/?>/gi
const link = /<a\s([^<>]{0,2000})>([^<>]*)<\/a>/gi
const target = /(?:^|\s)href\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/i

const isWebAddress = (address: string) => /^https?:\/\//i.test(address) && URL.canParse(address)

/**
 * The text without the links, line breaks and emphasis that n8n writes for its editor: `More info (https://…)`.
 *
 * **Details**
 *
 * Only whole elements count, so `a < b`, `<your key>` and a `<b>` alone stay; a service's page or XML stays as it is.
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
