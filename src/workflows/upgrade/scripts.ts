/** Function, Function Item and AI Transform as Code. */
import * as Result from "effect/Result"
import { str } from "../../base/Json.ts"
import { continues, left, type Mapping, type New } from "./mapping.ts"

/** Code that the old nodes accept and a Code node does not. */
const lacking: ReadonlyArray<readonly [pattern: RegExp, what: string]> = [
  [/\bgetNodeParameter\b/, "reads its own parameters"],
  [/\b[gs]etBinaryData(?:Async)?\b/, "reads or writes files"],
  [/\bthis\b(?!\.getWorkflowStaticData\b)/, "uses `this`"],
  [/\bhelpers\b/, "calls n8n's helpers"],
  [/\bjson["']?\s*(?::|=(?!=))\s*\[/, "returns a list as data of an item"],
  [
    /\b(?:get|set)PrototypeOf\b|\bdefinePropert|\.prototype\b|\bcaptureStackTrace\b|\bglobalThis\b|\bprocess\b|\bBuffer\s*\(/,
    "uses JavaScript that a Code node restricts"
  ]
]

/** Reads of the input, which the old nodes gave as it was: there, `item` and `items` were copies. */
const reading = /\$json\b|\$input\b|\$items\s*\(\s*\)/

/** Code with what it needs of the old node; `isEach` wraps it, because its result is data of one item and keeps the file. */
const script = (old: string, isEach: boolean): string => {
  const code = old.replace(/\bthis\.(?=getWorkflowStaticData\b)/g, "")
  const before = [
    ...(/(?<!\$)\bgetWorkflowStaticData\b/.test(code) ? ["const getWorkflowStaticData = $getWorkflowStaticData;"] : []),
    ...(!isEach && /\.index\b|\["index"\]|\['index'\]/.test(code)
      ? ["items.forEach((item, index) => { item.index = index; });"]
      : [])
  ]
  const inner = isEach
    ? [
      reading.test(code)
        ? "let item = JSON.parse(JSON.stringify($input.item.json));"
        : "let item = $input.item.json;",
      "const json = await (async () => {",
      code,
      "})();",
      "return { json, binary: $input.item.binary };"
    ]
    : [code]
  return [...before, ...inner].join("\n")
}

const toCode = (isEach: boolean): Mapping => ({ node, parameters }) => {
  const code = str(parameters["functionCode"])
  const why = code === undefined || code.startsWith("=")
    ? "takes its code from data"
    : isEach && /\$input\s*\.\s*(?:first|last|all|itemMatching)\b/.test(code)
    ? "reads all items where a Code node reads one"
    : !isEach && reading.test(code) && /(?<![.$\w])items?\b/.test(code)
    ? "changes copies of the items and also reads the items themselves"
    : continues(node)
    ? "continues after errors, which a Code node words differently"
    : lacking.find(([pattern]) => pattern.test(code))?.[1]
  return why !== undefined || code === undefined
    ? left(`Its code ${why}.`, "Write the code for a Code node by hand.")
    : Result.succeed<New>({
      parameters: { ...(isEach ? { mode: "runOnceForEachItem" } : {}), jsCode: script(code, isEach) }
    })
}

export const functions = { to: ["n8n-nodes-base.code"], change: toCode(false) }
export const functionItems = { to: ["n8n-nodes-base.code"], change: toCode(true) }

export const transforms = {
  to: ["n8n-nodes-base.code"],
  change: (({ own }) => {
    const code = str(own["jsCode"])
    return code === undefined || code === "" || code.startsWith("=")
      ? left("It has no code yet.", "Write the code of a Code node.")
      : Result.succeed<New>({ parameters: { jsCode: code } })
  }) satisfies Mapping
}
