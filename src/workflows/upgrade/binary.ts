/** Move Binary Data as Code, which reads and writes files of the same names. */
import * as Result from "effect/Result"
import { type Obj, obj, str } from "../../base/Json.ts"
import { continues, left, type Mapping, type New } from "./mapping.ts"

const quoted = (value: unknown) => JSON.stringify(value)

const isPlainKey = (key: unknown) => typeof key === "string" && /^[A-Za-z]\w*$/.test(key) && key !== "constructor"

const field = /^=\{\{\s*(\$json(?:\.[A-Za-z]\w*|\["[^"\\]+"\]))\s*\}\}$/

/** JavaScript of a file name: a text, or one field of the item. */
const nameOf = (value: unknown) => {
  const text = str(value) ?? ""
  return text.startsWith("=") ? field.exec(text)?.[1] : quoted(text)
}

const byHand = "Replace it by Convert to File or Extract from File, and check names of files and fields after it."

/** Text that goes into a file: data as JSON, or raw as it is. */
const toFile = (version: number, p: Obj, options: Obj): string | undefined => {
  const { destinationKey, sourceKey } = p
  const isAll = p["convertAllData"] === true
  const fileName = nameOf(options["fileName"])
  if (fileName === undefined || !isAll && !isPlainKey(sourceKey)) return
  const isRaw = options["useRawData"] === true && !isAll
  const type = quoted(options["mimeType"] || "application/json")
  const later = version > 1 && isRaw && !options["mimeType"]
    ? `typeof value === "object" ? "application/json" : undefined`
    : type
  return [
    ...(isAll ? ["const value = $json;"] : [
      `const { ${String(sourceKey)}: value, ...json } = $json;`,
      "if (value === undefined) return null;"
    ]),
    `const text = ${
      isRaw ? `typeof value === "object" ? JSON.stringify(value) : String(value || "")` : "JSON.stringify(value)"
    };`,
    `const file = await this.helpers.prepareBinaryData(Buffer.from(text), ${fileName}, ${later});`,
    ...(version > 1 ? ["file.fileName ||= file.fileExtension ? `file.${file.fileExtension}` : \"file\";"] : []),
    `return { json: ${
      options["keepSource"] === true ? "$json" : isAll ? "{}" : "json"
    }, binary: { ...$input.item.binary, ${String(destinationKey)}: file } };`
  ].join("\n")
}

/** Text of a file that goes into a field. */
const fromFile = (p: Obj, options: Obj): string | undefined => {
  if (!isPlainKey(p["sourceKey"])) return
  const isBase64 = options["keepAsBase64"] === true || options["encoding"] === "base64"
  const text = isBase64
    ? `buffer.toString("base64")`
    : options["stripBOM"] === false
    ? "buffer.toString()"
    : "buffer.toString().replace(/^\\uFEFF/, \"\")"
  return [
    `const { ${String(p["sourceKey"])}: file, ...binary } = $input.item.binary ?? {};`,
    "if (file === undefined) return null;",
    `const buffer = await this.helpers.getBinaryDataBuffer($itemIndex, ${quoted(p["sourceKey"])});`,
    `const text = ${text};`,
    `return { json: { ...$json, ${String(p["destinationKey"])}: ${
      options["jsonParse"] === true ? "JSON.parse(text)" : "text"
    } }, binary${options["keepSource"] === true ? ": $input.item.binary" : ""} };`
  ].join("\n")
}

const toCode: Mapping = ({ node, parameters: p, version }) => {
  const { fileName, ...options } = obj(p["options"]) ?? {}
  const isText = p["mode"] === "jsonToBinary"
  const encodings = ["utf8", "", undefined, ...(isText ? [] : ["base64"])]
  if (!isText && p["setAllData"] === true) {
    return left("A file may have a list or a text, which other nodes put into a field.", byHand)
  }
  const isKnown = !encodings.every((each) => each !== options["encoding"]) && isPlainKey(p["destinationKey"]) &&
    (obj(p["options"]) !== undefined || p["options"] === undefined) &&
    !JSON.stringify({ ...p, options }).includes("\"=") && options["addBOM"] !== true &&
    options["dataIsBase64"] !== true && !(options["jsonParse"] === true && continues(node))
  const jsCode = !isKnown ? undefined : isText ? toFile(version, p, { ...options, fileName }) : fromFile(p, options)
  return jsCode === undefined
    ? left("Its keys, encoding or options have no counterpart in code.", byHand)
    : Result.succeed<New>({ parameters: { mode: "runOnceForEachItem", jsCode } })
}

export const moves = { to: ["n8n-nodes-base.code"], change: toCode }
