/** Recorded requests of webhook, form and chat triggers, made again from the items that n8n stored. */
import * as Result from "effect/Result"
import { sha256 } from "../base/Hash.ts"
import { arr, type Obj, obj, str, without } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import type { WebhookCall } from "../n8n/N8nClient.ts"
import { marker, methods, pathOf } from "./live.ts"

/** Request, without its time limit, and its body for readers. */
export interface Repeated extends Pick<WebhookCall, "body" | "headers" | "isForm" | "method"> {
  readonly query: ReadonlyArray<readonly [string, string]>
  readonly path: string
  readonly text: string
}

/** First item of a trigger, and the output that it left by. */
export interface Recorded {
  readonly node: Node
  readonly output: number
  readonly item: unknown
}

const webhook = "n8n-nodes-base.webhook"
const form = "n8n-nodes-base.formTrigger"
const chat = "@n8n/n8n-nodes-langchain.chatTrigger"

/** Whether a node receives its items as requests at a production address. */
export const receivesRequests = ({ parameters, type }: Node): boolean =>
  type === webhook || type === form || type === chat && obj(parameters)?.["public"] === true

/** Headers of a connection, of a body's encoding, and secrets of the caller. */
const omitted: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  marker
])

const headersOf = (recorded: unknown): Record<string, string> => {
  const all = obj(recorded) ?? {}
  const hops = new Set((str(all["connection"]) ?? "").toLowerCase().split(/\s*,\s*/))
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) =>
      omitted.has(name.toLowerCase()) || hops.has(name.toLowerCase())
        ? []
        : [[name.toLowerCase(), Array.isArray(value) ? value.join(", ") : String(value)]]
    )
  )
}

/** Query parameters by the rules of n8n's parser: `a[]` for lists, `a[b]` for objects. */
const pairs = (value: unknown, name = ""): ReadonlyArray<readonly [string, string]> => {
  const inner = (key: string) => name === "" ? key : `${name}[${key}]`
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => pairs(each, inner(obj(each) === undefined ? "" : String(index))))
  }
  const object = obj(value)
  return object === undefined
    ? [[name, String(value ?? "")]]
    : Object.entries(object).flatMap(([key, each]) => pairs(each, inner(key)))
}

const files = Result.fail("its request had files, which n8n does not return")

const formData = (fields: Obj) => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      data.append(name, typeof each === "string" ? each : JSON.stringify(each))
    }
  }
  return data
}

const bytes = (text: string) => new TextEncoder().encode(text)

const bodyOf = (json: Obj, binary: Obj | undefined, contentType: string): Result.Result<unknown, string> => {
  const { body, headers } = json
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? ""
  const [file, ...more] = Object.values(binary ?? {}).map(obj)
  if (file !== undefined) {
    const data = str(file["data"])
    const isWhole = data !== undefined && file["id"] === undefined && more.length === 0 &&
      type !== "multipart/form-data"
    return isWhole ? Result.succeed(Uint8Array.from(Buffer.from(data, "base64"))) : files
  }
  const length = obj(headers)?.["content-length"]
  if (obj(headers)?.["transfer-encoding"] === undefined && (length === undefined || length === "0")) {
    return Result.succeed(undefined)
  }
  if (type === "multipart/form-data") return Result.succeed(formData(obj(body) ?? {}))
  if (type === "application/json") return Result.succeed(bytes(JSON.stringify(body)))
  if (type === "application/x-www-form-urlencoded") {
    const values = Object.entries(obj(body) ?? {})
    const entries = values.flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)]))
    return Result.succeed(bytes(new URLSearchParams(entries).toString()))
  }
  return type === "text/plain"
    ? Result.succeed(bytes(str(body) ?? ""))
    : Result.fail(`n8n does not store a body of type '${type}' as it was sent`)
}

const textOf = (body: unknown): string =>
  body instanceof Uint8Array
    ? new TextDecoder().decode(body.subarray(0, 400))
    : body instanceof FormData
    ? JSON.stringify(Object.fromEntries(body))
    : ""

const methodsOf = ({ parameters }: Node): ReadonlyArray<string> => {
  const method = obj(parameters)?.["httpMethod"]
  if (obj(parameters)?.["multipleMethods"] !== true) return [str(method) ?? "GET"]
  return Array.isArray(method) ? method.map(String) : ["GET", "POST"]
}

/** Path of a webhook; an expression is not evaluated, but n8n recorded its value. */
const webhookPath = (node: Node, { params, webhookUrl }: Obj) => {
  const path = str(obj(node.parameters)?.["path"]) ?? ""
  const recorded = /\/webhook(?:-test)?\/(.*)$/.exec(str(webhookUrl) ?? "")?.[1]
  return path.startsWith("=") && recorded !== undefined
    ? pathOf({ ...node, webhookId: "", parameters: { path: recorded } }, obj(params) ?? {}).replace(/^\//, "")
    : pathOf(node, obj(params) ?? {})
}

const webhookRequest = (node: Node, ran: Node, output: number, json: Obj, binary: Obj | undefined) =>
  Result.gen(function*() {
    const ranMethods = methodsOf(ran)
    const method = ranMethods[ranMethods.length > 1 ? output : 0] ?? "GET"
    if (!methods.has(method) || !methodsOf(node).includes(method)) {
      return yield* Result.fail(`the published webhook does not take its method, ${method}`)
    }
    const { "content-type": contentType = "", ...headers } = headersOf(json["headers"])
    const body = method === "GET" || method === "HEAD" ? undefined : yield* bodyOf(json, binary, contentType)
    const type = body instanceof FormData || contentType === ""
      ? {}
      : { "content-type": contentType.replace(/(charset=)[^;]+/i, "$1utf-8") }
    return {
      method: method as WebhookCall["method"],
      path: webhookPath(node, json),
      query: pairs(json["query"]),
      headers: { ...headers, ...type },
      body
    }
  })

/** Keys that a form adds to its fields. */
const formKeys: ReadonlySet<string> = new Set([
  "formMode",
  "formQueryParameters",
  "headers",
  "submittedAt",
  "user"
])

/** Value of a field as a browser sends it. */
const fieldValue = (type: unknown, value: unknown): string =>
  type === "radio" || type === "checkbox" || Array.isArray(value)
    ? JSON.stringify(Array.isArray(value) ? value : [value])
    : String(value)

const formRequest = (node: Node, json: Obj, binary: Obj | undefined) =>
  Result.gen(function*() {
    const parameters = obj(node.parameters) ?? {}
    const fields = arr(obj(parameters["formFields"])?.["values"]).map((field) => obj(field) ?? {})
    const values = new Map(Object.entries(json).filter(([key]) => !formKeys.has(key)))
    const body: Record<string, string> = {}
    for (const [index, { elementName, fieldLabel, fieldName, fieldType, formatDate }] of fields.entries()) {
      const key = [fieldName, fieldLabel, elementName].map(str).find((name) => name !== undefined && values.has(name))
      const value = values.get(key ?? "") ?? undefined
      values.delete(key ?? "")
      if (value === undefined) continue
      if (fieldType === "file") return yield* files
      if (fieldType === "date" && str(formatDate)) {
        return yield* Result.fail(`n8n stored the date '${key}' in another format than it was sent`)
      }
      body[`field-${index}`] = fieldValue(fieldType, value)
    }
    const [unknown] = values.keys()
    if (binary !== undefined) return yield* files
    if (unknown !== undefined) return yield* Result.fail(`the published form does not have its field '${unknown}'`)
    const { "content-type": _, ...headers } = headersOf(json["headers"])
    const path = [parameters["path"], obj(parameters["options"])?.["path"], node["webhookId"]].map(str).find(Boolean)
    const query = pairs(json["formQueryParameters"] ?? {})
    return { method: "POST" as const, isForm: true, path: path ?? "", query, headers, body: formData(body) }
  })

const chatRequest = (node: Node, json: Obj, binary: Obj | undefined) =>
  binary !== undefined ? files : Result.succeed({
    method: "POST" as const,
    path: `${str(node["webhookId"]) ?? ""}/chat`,
    query: [],
    headers: { "content-type": "application/json" },
    body: bytes(JSON.stringify(json))
  })

/** Request that makes a published trigger return a recorded item again, or the reason why there is not one. */
export const make = (node: Node, { item, node: ran, output }: Recorded): Result.Result<Repeated, string> => {
  const json = obj(obj(item)?.["json"])
  const binary = obj(obj(item)?.["binary"])
  if (json === undefined) return Result.fail("n8n stored no request of it")
  const request: Result.Result<Omit<Repeated, "text">, string> = node.type === webhook
    ? webhookRequest(node, ran, output, json, binary)
    : node.type === form
    ? formRequest(node, json, binary)
    : chatRequest(node, json, binary)
  return Result.map(request, (each) => ({ ...each, text: textOf(each.body) }))
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : obj(value) === undefined
    ? value
    : Object.fromEntries(
      Object.entries(obj(value) ?? {}).toSorted(([a], [b]) => a < b ? -1 : 1).map((
        [key, inner]
      ) => [key, sorted(inner)])
    )

/** Keys of a trigger's item that differ if a request is sent again. */
const volatile: ReadonlySet<string> = new Set([
  "executionMode",
  "formMode",
  "headers",
  "submittedAt",
  "user",
  "webhookUrl"
])

/** Digest of the parts of a trigger's item that are the same if the request is sent again. */
export const fingerprint = (item: unknown): string => {
  const { binary, json } = obj(item) ?? {}
  const contents = Object.values(obj(binary) ?? {}).map((file) =>
    obj(file)?.["id"] === undefined && obj(file)?.["data"]
  )
  return sha256(JSON.stringify([sorted(without(obj(json) ?? {}, (_, key) => volatile.has(key))), contents]))
}
