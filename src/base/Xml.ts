/** Text in XML and HTML. Pure. */

/** Characters that XML 1.0 forbids, even escaped. */
const impossible = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

const entities: { readonly [sign: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

/** Text escaped as content or as the value of an attribute. */
export const xml = (text: string): string =>
  text.replace(impossible, "\uFFFD").replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
