/** Items that each kind of trigger emits, made from test data. */
import * as DateTime from "effect/DateTime"
import { arr, type Obj, obj, str } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"

/** Time and place of a simulated trigger event. */
export interface TriggerContext {
  readonly now: number
  readonly timezone: string
  /** URL of the trigger's own webhook. */
  readonly webhookUrl: string
}

const webhookKeys: ReadonlySet<string> = new Set(["body", "headers", "query", "params", "webhookUrl", "executionMode"])

const isRequest = (data: unknown): data is Obj => {
  const keys = Object.keys(obj(data) ?? {})
  return keys.length > 0 && keys.every((key) => webhookKeys.has(key))
}

const lowerCaseKeys = (headers: unknown) =>
  Object.fromEntries(Object.entries(obj(headers) ?? {}).map(([name, value]) => [name.toLowerCase(), value]))

export const request = (method: string, data: unknown) => {
  const whole = isRequest(data) ? data : undefined
  const hasBody = method !== "GET" && method !== "HEAD"
  return {
    headers: lowerCaseKeys(whole?.["headers"]),
    params: obj(whole?.["params"]) ?? {},
    query: obj(whole === undefined && !hasBody ? data : whole?.["query"]) ?? {},
    body: whole === undefined ? data : whole["body"]
  }
}

/** HTTP method of a Webhook node, or the first of several. */
export const methodOf = ({ parameters }: Pick<Node, "parameters">): string => {
  const method = obj(parameters)?.["httpMethod"]
  return str(Array.isArray(method) ? method[0] : method) ?? "GET"
}

const webhook = (node: Node, data: unknown, { webhookUrl }: TriggerContext): Obj => {
  const { body, headers, params, query } = request(methodOf(node), data)
  const standard = {
    host: new URL(webhookUrl).host,
    "user-agent": "effect-n8n-mcp",
    "content-type": "application/json"
  }
  return {
    headers: { ...standard, ...headers },
    params,
    query,
    // n8n emits an empty object for a missing body.
    body: body ?? {},
    webhookUrl,
    executionMode: "production"
  }
}

const ordinal = (day: number) => {
  const teen = day % 100 > 10 && day % 100 < 14
  return `${day}${teen ? "th" : ["th", "st", "nd", "rd"][day % 10] ?? "th"}`
}

const twoDigits = (value: number) => String(value).padStart(2, "0")

const schedule = ({ now, timezone }: TriggerContext): Obj => {
  const time = DateTime.makeZonedUnsafe(now, { timeZone: timezone })
  const name = (options: Intl.DateTimeFormatOptions) => DateTime.format(time, { locale: "en-US", ...options })
  const { day, hour, minute, second, year } = DateTime.toParts(time)
  const timestamp = DateTime.formatIsoOffset(time)
  const month = name({ month: "long" })
  const clock = `${hour % 12 || 12}:${twoDigits(minute)}:${twoDigits(second)} ${hour < 12 ? "am" : "pm"}`
  return {
    timestamp,
    "Readable date": `${month} ${ordinal(day)} ${year}, ${clock}`,
    "Readable time": clock,
    "Day of week": name({ weekday: "long" }),
    Year: String(year),
    Month: month,
    "Day of month": twoDigits(day),
    Hour: twoDigits(hour),
    Minute: twoDigits(minute),
    Second: twoDigits(second),
    Timezone: `${timezone} (UTC${timestamp.slice(-6)})`
  }
}

const failedExecution = (url: string): Obj => ({
  execution: {
    id: "231",
    url: new URL("/workflow/1/executions/231", url).href,
    error: { message: "Example Error Message", stack: "Stacktrace" },
    lastNodeExecuted: "Node With Error",
    mode: "manual"
  },
  workflow: { id: "1", name: "Example Workflow" }
})

const declaredInputs = ({ parameters }: Node): Obj => {
  const fields = arr(obj(obj(parameters)?.["workflowInputs"])?.["values"])
  return Object.fromEntries(fields.flatMap((field) => {
    const name = str(obj(field)?.["name"])
    return name === undefined ? [] : [[name, null]]
  }))
}

/** Converts data to the fields of an item; anything but an object becomes its `value`. */
const fields = (data: unknown): Obj => {
  const object = obj(data)
  if (object === undefined) return data === undefined || data === null ? {} : { value: data }
  const json = obj(object["json"])
  const isItem = Object.keys(object).every((key) => key === "json" || key === "binary" || key === "pairedItem")
  return json !== undefined && isItem ? json : object
}

/** Triggers whose items have fields of the time. */
const timed: ReadonlySet<string> = new Set(["n8n-nodes-base.scheduleTrigger", "n8n-nodes-base.formTrigger"])

const emit = (node: Node, data: unknown, context: TriggerContext, time: Obj): Obj => {
  switch (node.type) {
    case "n8n-nodes-base.webhook":
      return webhook(node, data, context)
    case "n8n-nodes-base.scheduleTrigger":
      return { ...time, ...fields(data) }
    case "n8n-nodes-base.formTrigger":
      return { ...fields(data), submittedAt: time["timestamp"], formMode: "production" }
    case "@n8n/n8n-nodes-langchain.chatTrigger":
    case "@n8n/n8n-nodes-langchain.manualChatTrigger": {
      const chatInput = str(data)
      const message = chatInput === undefined ? fields(data) : { chatInput }
      return { sessionId: "test", action: "sendMessage", chatInput: "", ...message }
    }
    case "n8n-nodes-base.executeWorkflowTrigger":
      return { ...declaredInputs(node), ...fields(data) }
    case "n8n-nodes-base.errorTrigger":
      return { ...failedExecution(context.webhookUrl), ...fields(data) }
  }
  return fields(data)
}

const itemsOf = (testData: unknown) =>
  Array.isArray(testData) && testData.length > 0 ? testData as ReadonlyArray<unknown> : [
    Array.isArray(testData) ? undefined : testData
  ]

export const fromTrigger = (node: Node, testData: unknown, context: TriggerContext): ReadonlyArray<Obj> => {
  const time = timed.has(node.type) ? schedule(context) : {}
  return itemsOf(testData).map((data) => emit(node, data, context, time))
}

/** Items of test data without a trigger's fields. */
export const fromTestData = (testData: unknown): ReadonlyArray<Obj> => itemsOf(testData).map(fields)
