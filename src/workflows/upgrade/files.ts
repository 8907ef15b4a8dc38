/** Nodes for files and pages. */
import * as Result from "effect/Result"
import { arr, type Obj, obj } from "../../base/Json.ts"
import { isExpression } from "../../catalogue/parameters/ParameterValues.ts"
import { seesMore } from "./downstream.ts"
import { carry, continues, left, type Mapping, type Old, type Step } from "./mapping.ts"

const optionsOf = ({ own }: Old) => obj(own["options"]) ?? {}

const isText = (own: Obj) =>
  arr(obj(own["extractionValues"])?.["values"])
    .some((value) => ["text", undefined].includes(obj(value)?.["returnValue"] as string | undefined))

const toHtmlText: Mapping = (old) =>
  old.parameters["operation"] === "extractHtmlContent" && isText(old.own)
    ? left(
      "From version 1.2 on, text is taken from a page in another way: with line breaks, lists and links.",
      "If that is fine, set typeVersion 1.2 by an update."
    )
    : carry(old)

export const html: ReadonlyArray<Step> = [{ to: 1.1 }, { to: 1.2, change: toHtmlText }]

export const fromHtmlExtract: Mapping = (old) =>
  isText(old.own)
    ? left(
      "HTML takes text from a page in another way: with line breaks, lists and links.",
      "If that is fine, replace it by HTML with the operation extractHtmlContent."
    )
    : Result.succeed({
      parameters: {
        operation: "extractHtmlContent",
        ...old.own,
        options: { trimValues: true, ...optionsOf(old) }
      }
    })

export const fromReadPdf: Mapping = ({ own, parameters: p }) =>
  isExpression(p["encrypted"]) ?
    left("An expression decides whether there is a password.", "Choose.") :
    Result.succeed({
      parameters: {
        operation: "pdf",
        ...(own["binaryPropertyName"] === undefined ? {} : { binaryPropertyName: own["binaryPropertyName"] }),
        options: {
          keepSource: "binary",
          ...(p["encrypted"] === true && p["password"] !== undefined ? { password: p["password"] } : {})
        }
      }
    })

export const fromWriteBinaryFile: Mapping = (old) =>
  isExpression(optionsOf(old)["append"]) || old.node["onError"] !== undefined || old.node["continueOnFail"] === true
    ? left(
      "Read/Write Files from Disk has other messages for a file that cannot be written.",
      "If nothing reads the message, replace the node."
    )
    : Result.succeed({ parameters: { operation: "write", ...old.own } })

const ofFiles = ["fileExtension", "fileName", "fileSize", "fileType", "mimeType"]

/** Version 1 of Read/Write Files returns nothing where there is not a file, as the old node does. */
export const fromReadBinaryFiles: Mapping = ({ name, node, own, parameters: p, workflow }) => {
  const { dataPropertyName, fileSelector } = p
  if (
    continues(node) || /[()[\]\\]|\.\.|\/\//.test(String(fileSelector)) || isExpression(fileSelector) ||
    isExpression(dataPropertyName)
  ) {
    return left(
      "Read/Write Files from Disk reads brackets and backslashes of a path, and reports errors, in another way.",
      "Replace it, and check which files it finds."
    )
  }
  return ofFiles.some((field) => seesMore(workflow, name, field))
    ? left("Read/Write Files from Disk adds fields about the file.", "If what follows takes them, replace the node.")
    : Result.succeed({
      parameters: {
        fileSelector: own["fileSelector"] ?? "",
        options: dataPropertyName === "data" ? {} : { dataPropertyName }
      },
      keys: { typeVersion: 1, executeOnce: true }
    })
}

export const fromReadBinaryFile: Mapping = () =>
  left(
    "It keeps the fields and files of its item; Read/Write Files from Disk returns those of the file alone.",
    "Replace it, and take other fields from the node before."
  )

export const fromICal: Mapping = ({ own }) => Result.succeed({ parameters: { ...own, operation: "iCal" } })

/** The text of `event` differs when a workflow is published. */
export const fromWorkflowTrigger: Mapping = ({ name, own, workflow }) =>
  arr(own["events"]).every((event) => event === "update") && !isExpression(own["events"]) ||
    !seesMore(workflow, name, "event")
    ? Result.succeed({ parameters: own })
    : left(
      "`event` is 'Workflow published' instead of 'Workflow activated'.",
      "If nothing compares it, replace the node by the n8n Trigger."
    )

const spreadsheets = new Set(["csv", "html", "rtf", "ods", "xls", "xlsx"])

/** Spreadsheet File writes as Convert to File does; what it reads depends on the file. */
export const fromSpreadsheet: Mapping = (old) => {
  const { fileFormat, ...p } = old.parameters
  const options = optionsOf(old)
  if (p["operation"] !== "toFile" || typeof fileFormat !== "string" || !spreadsheets.has(fileFormat)) {
    return left(
      "Spreadsheet File finds out the format of a file itself.",
      "Replace it by Extract from File with the operation for the file's format."
    )
  }
  const name = options["fileName"]
  const fileName = typeof name === "string"
    ? name.replaceAll(/\$parameter(?:\.fileFormat\b|\[["']fileFormat["']\])/g, `"${fileFormat}"`)
    : name ?? `spreadsheet.${fileFormat}`
  return Result.succeed({
    parameters: {
      operation: fileFormat,
      ...(p["binaryPropertyName"] === undefined || p["binaryPropertyName"] === "data"
        ? {}
        : { binaryPropertyName: p["binaryPropertyName"] }),
      options: {
        ...Object.fromEntries(
          ["compression", "headerRow", "sheetName"].flatMap((key) =>
            options[key] === undefined ? [] : [[key, options[key]]]
          )
        ),
        fileName
      }
    }
  })
}

const toCompressed: Mapping = (old) => {
  const { outputFormat } = old.parameters
  const keys = ["binaryPropertyName", "fileName", "binaryPropertyOutput"]
  return old.parameters["operation"] === "compress" &&
      (outputFormat === "gzip" || isExpression(outputFormat) || keys.some((key) => isExpression(old.own[key])))
    ? left(
      "Version 1 takes the names from the first item, and names gzip files in another way.",
      "If there is one item, or each may have its own names, set typeVersion 1.1 by an update."
    )
    : carry(old)
}

export const compression: ReadonlyArray<Step> = [{ to: 1.1, change: toCompressed }]

const toBase64: Mapping = (old) => {
  const { dataIsBase64, ...options } = optionsOf(old)
  if (old.parameters["operation"] !== "toBinary" || dataIsBase64 === undefined) return carry(old)
  return dataIsBase64 === true ? Result.succeed({ parameters: { ...old.own, options } }) : left(
    "From version 1.1 on, the data of this operation is base64.",
    "Use the operation toText, then upgrade again."
  )
}

export const convertToFile: ReadonlyArray<Step> = [{ to: 1.1, change: toBase64 }]

const settable = ["user.email", "user.name", "remote.origin.url"]

export const git: ReadonlyArray<Step> = [{
  to: 1.1,
  change: (old) =>
    old.parameters["operation"] !== "addConfig" || settable.includes(String(old.own["key"])) ? carry(old) : left(
      `From version 1.1 on, only ${settable.join(", ")} can be set.`,
      "Set it by another way, such as SSH."
    )
}]

/** The first version reads one feed, whatever the number of items. */
export const rssFeedRead: ReadonlyArray<Step> = [
  {
    to: 1.1,
    change: ({ own }) => Result.succeed({ parameters: own, keys: { executeOnce: true } })
  },
  { to: 1.2 }
]

const aligned = { horizontalAlignment: "west", verticalAlignment: "north" }

export const editImage: ReadonlyArray<Step> = [{
  to: 1.1,
  change: (old) => {
    const { operation } = old.parameters
    if (isExpression(operation)) return left("The operation is an expression.", "Choose one, then upgrade again.")
    const steps = obj(old.own["operations"])
    const all = arr(steps?.["operations"])
    return Result.succeed({
      parameters: operation === "text" ? { ...old.own, ...aligned } : operation !== "multiStep" || all.length === 0
        ? old.own
        : {
          ...old.own,
          operations: {
            ...steps,
            operations: all.map((step) => {
              const each = obj(step)
              return each?.["operation"] === "text" ? { ...each, ...aligned } : step
            })
          }
        }
    })
  }
}]
