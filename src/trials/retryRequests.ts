/** Recorded requests of webhook, form and chat triggers, made again from the items that n8n stored. */
import * as Result from "effect/Result"
import { sha256 } from "../base/Hash.ts"
import { arr, canonical, type Obj, obj, str, without } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import type { WebhookAnswer, WebhookCall } from "../n8n/N8nClient.ts"
import * as Webhooks from "../workflow/Webhooks.ts"
import { marker, methods, pathOf } from "./webhookCalls.ts"

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

const form = "n8n-nodes-base.formTrigger"
const chat = "@n8n/n8n-nodes-langchain.chatTrigger"

/** Whether a node receives its items as requests at a production address. */
export const receivesRequests = ({ parameters, type }: Node): boolean =>
  type === Webhooks.webhookType || type === form || type === chat && obj(parameters)?.["public"] === true

/** Headers of a connection, of a body's encoding, and secrets of the caller. */
const omitted =
  /^(?:authorization|connection|content-encoding|content-length|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/

const headersOf = (recorded: unknown): Record<string, string> => {
  const all = Object.entries(obj(recorded) ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)] as const)
  const hops = new Map(all).get("connection")?.toLowerCase().split(/\s*,\s*/) ?? []
  return Object.fromEntries(all.filter(([name]) => !omitted.test(name) && name !== marker && !hops.includes(name)))
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

const bytes = (text: string) => new TextEncoder().encode(text)

const textOf = ({ body, headers }: Obj, type: string): Result.Result<string, string> => {
  const { "content-length": length = "0", "transfer-encoding": encoding } = obj(headers) ?? {}
  if (encoding === undefined && length === "0") return Result.succeed("")
  if (type === "application/json") return Result.succeed(JSON.stringify(body))
  if (type === "text/plain") return Result.succeed(str(body) ?? "")
  if (type !== "application/x-www-form-urlencoded") {
    return Result.fail(`n8n does not store a body of type '${type}' as it was sent`)
  }
  const fields = Object.entries(obj(body) ?? {})
  const entries = fields.flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)]))
  return Result.succeed(new URLSearchParams(entries).toString())
}

const webhookRequest = (node: Node, { node: ran, output }: Recorded, json: Obj) =>
  Result.gen(function*() {
    const method = Webhooks.methodsOf(ran)[output] ?? ""
    if (!methods.has(method) || !Webhooks.methodsOf(node).includes(method)) {
      return yield* Result.fail(`the published webhook does not take its method, ${method}`)
    }
    const path = pathOf(node, obj(json["params"]) ?? {})
    if (path === undefined || path.split("/").some((part) => part === "." || part === "..")) {
      return yield* Result.fail("the path of its webhook is computed")
    }
    const { "content-type": contentType = "", ...headers } = headersOf(json["headers"])
    const [type = ""] = contentType.toLowerCase().split(/\s*;/)
    const text = method === "GET" || method === "HEAD" ? "" : yield* textOf(json, type)
    return {
      method: method as WebhookCall["method"],
      path,
      query: pairs(json["query"]),
      headers: contentType === ""
        ? headers
        : { ...headers, "content-type": contentType.replace(/(charset=)[^;]+/i, "$1utf-8") },
      ...(text === "" ? {} : { body: bytes(text) }),
      text
    }
  })

const formKeys: ReadonlySet<string> = new Set([
  "formMode",
  "formQueryParameters",
  "headers",
  "submittedAt",
  "user"
])

const fieldValue = (type: unknown, value: unknown): string =>
  type === "radio" || type === "checkbox" || Array.isArray(value)
    ? JSON.stringify([value].flat())
    : String(value)

const formRequest = (node: Node, json: Obj) =>
  Result.gen(function*() {
    const { formFields } = obj(node.parameters) ?? {}
    const values = new Map(Object.entries(json).filter(([key]) => !formKeys.has(key)))
    const body = new FormData()
    for (const [index, field] of arr(obj(formFields)?.["values"]).entries()) {
      const { elementName, fieldLabel, fieldName, fieldType, formatDate } = obj(field) ?? {}
      const key = [fieldName, fieldLabel, elementName].map(str).find((name) => values.has(name ?? "")) ?? ""
      const value = values.get(key)
      values.delete(key)
      if (value === undefined || value === null) continue
      if (fieldType === "date" && str(formatDate)) {
        return yield* Result.fail(`n8n stored the date '${key}' in another format than it was sent`)
      }
      body.append(`field-${index}`, fieldValue(fieldType, value))
    }
    const [unknown] = values.keys()
    if (unknown !== undefined) return yield* Result.fail(`the published form does not have its field '${unknown}'`)
    const { "content-type": _, ...headers } = headersOf(json["headers"])
    return {
      method: "POST" as const,
      isForm: true,
      path: Webhooks.segmentsOf(node)?.join("/") ?? "",
      query: pairs(json["formQueryParameters"] ?? {}),
      headers,
      body,
      text: JSON.stringify(Object.fromEntries(body))
    }
  })

const chatRequest = (node: Node, json: Obj) => {
  const text = JSON.stringify(json)
  return Result.succeed({
    method: "POST" as const,
    path: `${str(node["webhookId"]) ?? ""}/chat`,
    query: [],
    headers: { "content-type": "application/json" },
    body: bytes(text),
    text
  })
}

/** Request that makes a published trigger return a recorded item again, or the reason why there is not one. */
export const make = (node: Node, recorded: Recorded): Result.Result<Repeated, string> => {
  const { binary, json } = obj(recorded.item) ?? {}
  const item = obj(json)
  if (item === undefined) return Result.fail("n8n stored no request of it")
  if (binary !== undefined) return Result.fail("its request had files, which n8n does not return")
  if (node.type === Webhooks.webhookType) return webhookRequest(node, recorded, item)
  return node.type === form ? formRequest(node, item) : chatRequest(node, item)
}

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
export const fingerprint = (item: unknown): string =>
  sha256(canonical(without(obj(obj(item)?.["json"]) ?? {}, (_, key) => volatile.has(key))))

/**
 * Reason why a trigger did not take a request, by its answer before a run starts; a workflow that ran may answer with the
 * same status, but another text.
 */
export const refusal = ({ status, text }: WebhookAnswer): string | undefined =>
  (status === 401 || status === 403) && /authorization (?:is required|data is wrong)|ip is not allowed/i.test(text)
    ? `the webhook refused it (HTTP ${status}): authorization headers are not sent again`
    : undefined
