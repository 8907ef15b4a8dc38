/** What each kind of trigger hands to the workflow it starts, made of test data. */
import { arr, type Obj, obj, str } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"

/** What an item can tell of the moment and the place. */
export interface Around {
  /** Epoch milliseconds. */
  readonly now: number
  /** IANA name. */
  readonly timezone: string
  /** Where the trigger's own webhook would answer. */
  readonly webhookUrl: string
}

const webhookKeys: ReadonlySet<string> = new Set(["body", "headers", "query", "params", "webhookUrl", "executionMode"])

/** A whole request instead of its body alone. */
const isRequest = (data: unknown): data is Obj => {
  const keys = Object.keys(obj(data) ?? {})
  return keys.length > 0 && keys.every((key) => webhookKeys.has(key))
}

const lowerCased = (headers: unknown) =>
  Object.fromEntries(Object.entries(obj(headers) ?? {}).map(([name, value]) => [name.toLowerCase(), value]))

/** A request to a webhook, of test data that is its body, or all of it. */
export const request = (method: string, data: unknown) => {
  const whole = isRequest(data) ? data : undefined
  const hasBody = method !== "GET" && method !== "HEAD"
  return {
    headers: lowerCased(whole?.["headers"]),
    params: obj(whole?.["params"]) ?? {},
    query: obj(whole === undefined && !hasBody ? data : whole?.["query"]) ?? {},
    body: whole === undefined ? data : whole["body"]
  }
}

/** The method that a Webhook node takes, the first of several. */
export const methodOf = ({ parameters }: Pick<Node, "parameters">): string => {
  const method = obj(parameters)?.["httpMethod"]
  return str(Array.isArray(method) ? method[0] : method) ?? "GET"
}

const webhook = (node: Node, data: unknown, { webhookUrl }: Around): Obj => {
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
    // n8n gives an empty body where there is none.
    body: body ?? {},
    webhookUrl,
    executionMode: "production"
  }
}

const ordinal = (day: number) => {
  const teen = day % 100 > 10 && day % 100 < 14
  return `${day}${teen ? "th" : ["th", "st", "nd", "rd"][day % 10] ?? "th"}`
}

/** The time as n8n's Schedule Trigger writes it. */
const schedule = ({ now, timezone }: Around): Obj => {
  const part = (options: Intl.DateTimeFormatOptions, type: Intl.DateTimeFormatPartTypes) =>
    new Intl.DateTimeFormat("en-US", { timeZone: timezone, ...options }).formatToParts(now)
      .find((each) => each.type === type)?.value ?? ""
  const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const
  const [hour, minute, second] = [part(clock, "hour"), part(clock, "minute"), part(clock, "second")]
  const year = part({ year: "numeric" }, "year")
  const month = part({ month: "long" }, "month")
  const day = part({ day: "2-digit" }, "day")
  const offset = part({ timeZoneName: "longOffset" }, "timeZoneName").replace("GMT", "") || "+00:00"
  const time = `${Number(hour) % 12 || 12}:${minute}:${second} ${Number(hour) < 12 ? "am" : "pm"}`
  const date = `${year}-${part({ month: "2-digit" }, "month")}-${day}`
  return {
    timestamp: `${date}T${hour}:${minute}:${second}.${String(now % 1000).padStart(3, "0")}${offset}`,
    "Readable date": `${month} ${ordinal(Number(day))} ${year}, ${time}`,
    "Readable time": time,
    "Day of week": part({ weekday: "long" }, "weekday"),
    Year: year,
    Month: month,
    "Day of month": day,
    Hour: hour,
    Minute: minute,
    Second: second,
    Timezone: `${timezone} (UTC${offset})`
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

/** What a sub-workflow declares that it takes is there, if only as `null`. */
const declared = ({ parameters }: Node): Obj => {
  const fields = arr(obj(obj(parameters)?.["workflowInputs"])?.["values"])
  return Object.fromEntries(fields.flatMap((field) => {
    const name = str(obj(field)?.["name"])
    return name === undefined ? [] : [[name, null]]
  }))
}

/** Data as the fields of an item; what is none is its `value`. */
const fields = (data: unknown): Obj => {
  const given = obj(data)
  if (given === undefined) return data === undefined || data === null ? {} : { value: data }
  const isItem = obj(given["json"]) !== undefined &&
    Object.keys(given).every((key) => key === "json" || key === "binary" || key === "pairedItem")
  return isItem ? obj(given["json"]) ?? {} : given
}

const emitted = (node: Node, data: unknown, around: Around): Obj => {
  switch (node.type) {
    case "n8n-nodes-base.webhook":
      return webhook(node, data, around)
    case "n8n-nodes-base.scheduleTrigger":
      return { ...schedule(around), ...fields(data) }
    case "n8n-nodes-base.formTrigger":
      return { ...fields(data), submittedAt: schedule(around)["timestamp"], formMode: "production" }
    case "@n8n/n8n-nodes-langchain.chatTrigger":
    case "@n8n/n8n-nodes-langchain.manualChatTrigger": {
      const chatInput = str(data)
      const said = chatInput === undefined ? fields(data) : { chatInput }
      return { sessionId: "test", action: "sendMessage", chatInput: "", ...said }
    }
    case "n8n-nodes-base.executeWorkflowTrigger":
      return { ...declared(node), ...fields(data) }
    case "n8n-nodes-base.errorTrigger":
      return { ...failedExecution(around.webhookUrl), ...fields(data) }
  }
  return fields(data)
}

/** Test data, item by item: an array is several. */
const each = (testData: unknown) =>
  Array.isArray(testData) && testData.length > 0 ? testData as ReadonlyArray<unknown> : [
    Array.isArray(testData) ? undefined : testData
  ]

/** What the trigger would emit. */
export const ofTrigger = (node: Node, testData: unknown, around: Around): ReadonlyArray<Obj> =>
  each(testData).map((data) => emitted(node, data, around))

/** The items in test data, as they are. */
export const asGiven = (testData: unknown): ReadonlyArray<Obj> => each(testData).map(fields)
