/** Nodes for files and pages. */
import { arr, defined, type Obj, obj, str } from "../../base/Json.ts"
import { isExpression } from "../../catalogue/parameters/ParameterValues.ts"
import { seesMore } from "./downstream.ts"
import { asN8n, done, entriesOf, left, type Mapping, optionsOf, type Step, way } from "./mapping.ts"

const isText = (own: Obj) =>
  entriesOf(own["extractionValues"], "values").some(({ returnValue = "text" }) => returnValue === "text")

export const fromHtmlExtract: Mapping = (old) => {
  const parameters = { operation: "extractHtmlContent", ...old.own, options: { trimValues: true, ...optionsOf(old) } }
  return isText(old.own)
    ? left(
      "HTML takes text from a page in another way: with line breaks, lists and links.",
      "Decide whether what follows can take such text.",
      [way(asN8n, "", parameters)]
    )
    : done(parameters)
}

export const fromReadPdf: Mapping = ({ own: { binaryPropertyName }, parameters: { encrypted, password } }) =>
  isExpression(encrypted)
    ? left("An expression decides whether there is a password.", "Choose.")
    : done(defined({
      operation: "pdf",
      binaryPropertyName,
      options: defined({ keepSource: "binary", password: encrypted === true ? password : undefined })
    }))

export const fromWriteBinaryFile: Mapping = (old) =>
  isExpression(optionsOf(old)["append"])
    ? left("An expression decides whether it appends.", "Choose, then upgrade again.")
    : done({ operation: "write", ...old.own })

const ofFiles = ["fileExtension", "fileName", "fileSize", "fileType", "mimeType"]

/** Version 1 of Read/Write Files returns nothing for a missing file, like the old node. */
export const fromReadBinaryFiles: Mapping = (old) => {
  const { own, parameters: p } = old
  const { dataPropertyName, fileSelector } = p
  const parameters = {
    fileSelector: own["fileSelector"] ?? "",
    options: dataPropertyName === "data" ? {} : { dataPropertyName }
  }
  const more = { keys: { typeVersion: 1, executeOnce: true } }
  const ways = [way(asN8n, "", parameters, more)]
  if (
    /[()[\]\\]|\.\.|\/\//.test(String(fileSelector)) || isExpression(fileSelector) ||
    isExpression(dataPropertyName)
  ) {
    return left(
      "Read/Write Files from Disk reads brackets and backslashes of a path in another way.",
      "Check which files the path then finds.",
      ways
    )
  }
  return ofFiles.some((field) => seesMore(old, field))
    ? left("Read/Write Files from Disk adds fields about the file.", "Decide whether what follows can take them.", ways)
    : done(parameters, more)
}

export const fromReadBinaryFile: Mapping = ({ own: { dataPropertyName, filePath } }) =>
  left(
    "It keeps the fields and files of its item; Read/Write Files from Disk returns those of the file alone.",
    "Let what follows take other fields from the node before.",
    [way("fileOnly", "It returns the file without the fields and other files of its item.", {
      fileSelector: filePath ?? "",
      options: defined({ dataPropertyName })
    })]
  )

export const fromICal: Mapping = ({ own }) => done({ ...own, operation: "iCal" })

/** The text of `event` differs when a workflow is published. */
export const fromWorkflowTrigger: Mapping = (old) =>
  arr(old.own["events"]).every((event) => event === "update") && !isExpression(old.own["events"]) ||
    !seesMore(old, "event")
    ? done(old.own)
    : left(
      "`event` is 'Workflow published' instead of 'Workflow activated'.",
      "Decide whether anything compares it.",
      [way(asN8n, "", old.own)]
    )

const spreadsheets = new Set(["csv", "html", "rtf", "ods", "xls", "xlsx"])

/** Spreadsheet File writes like Convert to File; its output when reading depends on the file. */
export const fromSpreadsheet: Mapping = (old) => {
  const { fileFormat, ...p } = old.parameters
  const options = optionsOf(old)
  if (p["operation"] !== "toFile" || typeof fileFormat !== "string" || !spreadsheets.has(fileFormat)) {
    return left(
      "Spreadsheet File finds out the format of a file itself.",
      "Choose the format of the files.",
      p["operation"] !== "fromFile" ? [] : ["csv", "xlsx", "xls", "ods", "html"].map((operation) =>
        way(
          operation,
          `Extract from File reads ${operation} files only.`,
          defined({ operation, binaryPropertyName: old.own["binaryPropertyName"], options: old.own["options"] }),
          { type: "n8n-nodes-base.extractFromFile" }
        )
      )
    )
  }
  const name = options["fileName"]
  const fileName = typeof name === "string"
    ? name.replaceAll(/\$parameter(?:\.fileFormat\b|\[["']fileFormat["']\])/g, `"${fileFormat}"`)
    : name ?? `spreadsheet.${fileFormat}`
  const { compression, headerRow, sheetName } = options
  return done(defined({
    operation: fileFormat,
    binaryPropertyName: p["binaryPropertyName"] === "data" ? undefined : p["binaryPropertyName"],
    options: defined({ compression, headerRow, sheetName, fileName })
  }))
}

const aligned = { horizontalAlignment: "west", verticalAlignment: "north" }

const toAligned: Mapping = ({ own, parameters: { operation } }) => {
  if (isExpression(operation)) return left("The operation is an expression.", "Choose one, then upgrade again.")
  const steps = obj(own["operations"])
  if (operation === "text") return done({ ...own, ...aligned })
  if (operation !== "multiStep" || arr(steps?.["operations"]).length === 0) return done(own)
  const operations = arr(steps?.["operations"]).map((step) =>
    obj(step)?.["operation"] === "text" ? { ...obj(step), ...aligned } : step
  )
  return done({ ...own, operations: { ...steps, operations } })
}

export const editImage: ReadonlyArray<Step> = [{ to: 1.1, change: toAligned }]

const quoted = (value: unknown) => JSON.stringify(value)

const isPlainKey = (key: unknown): key is string =>
  typeof key === "string" && /^[A-Za-z]\w*$/.test(key) && key !== "constructor"

const field = /^=\{\{\s*(\$json(?:\.[A-Za-z]\w*|\["[^"\\]+"\]))\s*\}\}$/

const nameOf = (value: unknown) => {
  const text = str(value) ?? ""
  return text.startsWith("=") ? field.exec(text)?.[1] : quoted(text)
}

const binaryByHand = "Replace it by Convert to File or Extract from File, and check names of files and fields after it."

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

const toCode: Mapping = ({ parameters: p, version }) => {
  const { fileName, ...options } = obj(p["options"]) ?? {}
  const isText = p["mode"] === "jsonToBinary"
  const encodings = ["utf8", "", undefined, ...(isText ? [] : ["base64"])]
  if (!isText && p["setAllData"] === true) {
    return left("A file may have a list or a text, which other nodes put into a field.", binaryByHand)
  }
  const isKnown = !encodings.every((each) => each !== options["encoding"]) && isPlainKey(p["destinationKey"]) &&
    (obj(p["options"]) !== undefined || p["options"] === undefined) &&
    !JSON.stringify({ ...p, options }).includes("\"=") && options["addBOM"] !== true &&
    options["dataIsBase64"] !== true
  const jsCode = !isKnown ? undefined : isText ? toFile(version, p, { ...options, fileName }) : fromFile(p, options)
  return jsCode === undefined
    ? left("Its keys, encoding or options have no counterpart in code.", binaryByHand)
    : done(
      { mode: "runOnceForEachItem", jsCode },
      options["jsonParse"] === true ? { fails: "A Code node words its errors differently." } : {}
    )
}

export const moves = { to: ["n8n-nodes-base.code"], change: toCode }
