/** Encodings of texts: UTF-8, or UTF-16 and UTF-32, which a mark or the zeros of the first characters show. Pure. */

export type Encoding = "UTF-8" | `UTF-${"16" | "32"}${"LE" | "BE"}`

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const encodingOf = (bytes: Uint8Array): Encoding => {
  const [a = 1, b = 1, c = 1, d = 1] = bytes
  if (bytes.length % 2 === 1) return "UTF-8"
  if (a === 0) return b === 0 ? "UTF-32BE" : "UTF-16BE"
  if (b === 0 || a === 0xff && b === 0xfe) return c === 0 && d === 0 ? "UTF-32LE" : "UTF-16LE"
  return a === 0xfe && b === 0xff ? "UTF-16BE" : "UTF-8"
}

/** Text of bytes including its mark; throws if they are not text. */
export const decode = (bytes: Uint8Array): { readonly text: string; readonly encoding: Encoding } => {
  const encoding = encodingOf(bytes)
  if (encoding === "UTF-8") return { text: utf8.decode(bytes), encoding }
  const [view, isLittle] = [new DataView(bytes.buffer, bytes.byteOffset, bytes.length), encoding.endsWith("LE")]
  let text = ""
  for (let at = 0; at < bytes.length; at += encoding.includes("16") ? 2 : 4) {
    text += encoding.includes("16")
      ? String.fromCharCode(view.getUint16(at, isLittle))
      : String.fromCodePoint(view.getUint32(at, isLittle))
  }
  return { text, encoding }
}

export const encode = (text: string, encoding: Encoding): Uint8Array => {
  if (encoding === "UTF-8") return new TextEncoder().encode(text)
  const isWide = encoding.includes("32")
  const units = isWide ? [...text] : text.split("")
  const view = new DataView(new ArrayBuffer(units.length * (isWide ? 4 : 2)))
  for (const [index, unit] of units.entries()) {
    if (isWide) view.setUint32(index * 4, unit.codePointAt(0) ?? 0, encoding.endsWith("LE"))
    else view.setUint16(index * 2, unit.charCodeAt(0), encoding.endsWith("LE"))
  }
  return new Uint8Array(view.buffer)
}
