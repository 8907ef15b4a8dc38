/** Mappings of nodes that send, receive or start, and of nodes for files. */
import { defined, int, type Obj, obj, str } from "../../base/Json.ts"
import { isExpression } from "../../catalogue/parameters/ParameterValues.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Schedules from "../Schedules.ts"
import { connected, seesMore } from "./downstream.ts"
import * as files from "./files.ts"
import { request } from "./httpRequest.ts"
import {
  asN8n,
  carry,
  done,
  entriesOf,
  left,
  type Mapping,
  type Old,
  optionsOf,
  type Step,
  type Steps,
  steps as ofData,
  type Successors,
  way
} from "./mapping.ts"
import data from "./triggers.json" with { type: "json" }

const respond = "n8n-nodes-base.respondToWebhook"
const isWaiting = (node: Obj) => {
  const { responseMode, resume } = Workflow.parametersOf(node)
  return Workflow.typeOf(node) === "n8n-nodes-base.wait" && node["disabled"] !== true &&
    (resume === "webhook" || resume === "form") && responseMode === "responseNode"
}

const withOptions = (old: Old, more: Obj): Obj => ({ ...old.own, options: { ...optionsOf(old), ...more } })

/** Version 1 has no body for a request without one, and drops files; later versions output `{}` and a file. */
const toBodies: Mapping = (old) => {
  const options = optionsOf(old)
  if (options["binaryData"] !== undefined && options["binaryData"] !== false) {
    return left(
      "Option 'Binary File' makes a file of every request; later versions leave text and JSON as they are.",
      "Remove the option, upgrade, and read 'body' or the file in what follows."
    )
  }
  const isRaw = options["rawBody"] === true
  return !isRaw && seesMore(old, "body")
    ? left(
      "A request without a body has 'body: {}' from version 1.1 on, and one with a file has the file.",
      "If an empty body or a file does no harm to what follows, set typeVersion 2.1 by an update."
    )
    : done(old.own)
}

/** Version 2 refuses a webhook that does not fit the Respond to Webhook nodes after it. */
const toCodes: Mapping = (old) => {
  const { own, parameters: p } = old
  const mode = p["responseMode"]
  const after = connected(old, "after")
  const responses = after.filter((node) => Workflow.typeOf(node) === respond)
  const isOwn = (node: Obj) =>
    connected({ ...old, name: Workflow.nameOf(node) }, "before").some((before) =>
      isWaiting(before) && after.includes(before)
    )
  const { responseCode, responseMode: _, ...others } = own
  const withMode = (responseMode: unknown) => {
    const made = defined({ responseMode: responseMode === mode ? own["responseMode"] : responseMode, ...others })
    return responseCode === undefined || responseCode === 200 || responseMode === "responseNode"
      ? made
      : withOptions({ ...old, own: made }, {
        responseCode: { values: { responseCode: "customCode", customCode: responseCode } }
      })
  }
  if (mode === "responseNode" && responses.length === 0) {
    return left(
      "Version 2 refuses requests, since no Respond to Webhook node follows.",
      "Add one and upgrade again, or choose how it answers.",
      [
        way("onReceived", "It answers immediately.", withMode("onReceived")),
        way("lastNode", "It answers with the first item of the last node.", withMode("lastNode"))
      ]
    )
  }
  if (mode !== "responseNode" && responses.some((node) => !isOwn(node))) {
    return left(
      "Version 2 refuses requests, since a Respond to Webhook node follows that does not answer.",
      "Let that node answer, or remove it and upgrade again.",
      [way("responseNode", "That node answers; so far it did not.", withMode("responseNode"))]
    )
  }
  return done(withMode(mode))
}

const webhook: ReadonlyArray<Step> = [{ to: 1.1, change: toBodies }, { to: 2, change: toCodes }, { to: 2.1 }]

const triggers = new Set(
  ["webhook", "formTrigger", "wait"].map((name) => `n8n-nodes-base.${name}`)
    .concat("@n8n/n8n-nodes-langchain.chatTrigger")
)

const toChecks: Mapping = (old) => {
  const before = connected(old, "before")
  return before.length === 0 || before.some((node) => triggers.has(Workflow.typeOf(node)))
    ? done(old.own)
    : left(
      "Later versions fail when no Webhook, Form Trigger, Chat Trigger or Wait node leads to them.",
      "Connect one, or remove this node."
    )
}

/** Version 1.3 has a second output, which later versions have on request. */
const toBranch: Mapping = (old) => done(old.version === 1.3 ? { ...old.own, enableResponseOutput: true } : old.own)

const isStreaming = (node: Obj) => {
  const parameters = Workflow.parametersOf(node)
  return [parameters["responseMode"], obj(parameters["options"])?.["responseMode"]]
    .some((mode) => mode === "streaming" || str(mode)?.startsWith("=") === true)
}

/** From version 1.5 on, it streams where the trigger does. */
const toStreams: Mapping = (old) =>
  done(
    connected(old, "before").some(isStreaming)
      ? withOptions(old, { enableStreaming: false })
      : old.own
  )

const respondToWebhook: ReadonlyArray<Step> = [
  { to: 1.1, change: toChecks },
  { to: 1.4, change: toBranch },
  { to: 1.5, change: toStreams }
]

const fieldsOf = (old: Old) => entriesOf(old.own["formFields"], "values")

const withFields = (old: Old, change: (field: Obj) => Obj): Obj => {
  const form = obj(old.own["formFields"])
  return form === undefined || !Array.isArray(form["values"])
    ? old.own
    : { ...old.own, formFields: { ...form, values: fieldsOf(old).map(change) } }
}

/** Checkboxes replace a list with several choices. */
const toCheckboxes: Mapping = (old) => {
  const several = fieldsOf(old).filter(({ fieldType, multiselect }) =>
    fieldType === "dropdown" && multiselect !== undefined
  )
  return several.some(({ multiselect }) => typeof multiselect !== "boolean")
    ? left("An expression decides whether a list has several choices.", "Choose Checkboxes or Dropdown.")
    : done(
      withFields(
        old,
        ({ multiselect, ...field }) =>
          field["fieldType"] === "dropdown" && multiselect === true ? { ...field, fieldType: "checkbox" } : field
      )
    )
}

/** A name that only hidden fields had now applies to all fields. */
const toNames: Mapping = (old) =>
  done(
    withFields(old, ({ fieldName, ...field }) =>
      field["fieldType"] === "hiddenField" && fieldName !== undefined ? { ...field, fieldName } : field)
  )

const toTimezone: Mapping = (old) => done(withOptions(old, { useWorkflowTimezone: false, ...optionsOf(old) }))

const toPath: Mapping = (old) => {
  const { path, ...own } = old.own
  const isAnswered = connected(old, "after").some((node) => Workflow.typeOf(node) === respond)
  if (isAnswered || own["responseMode"] === "responseNode") {
    return left(
      "From version 2.2 on, a form cannot be answered by a Respond to Webhook node.",
      "Replace that node by a Form node with the page type Form Ending; then upgrade again."
    )
  }
  return done(path === undefined || path === "" ? own : withOptions({ ...old, own }, { path }))
}

const newAddress: Mapping = () =>
  left("From version 2 on, the form has another address.", "Set typeVersion by an update and publish the new address.")

const formTrigger: ReadonlyArray<Step> = [
  { to: 2, change: newAddress },
  { to: 2.1, change: toTimezone },
  { to: 2.2, change: toPath },
  { to: 2.3, change: toCheckboxes },
  { to: 2.5, change: (old) => old.version < 2.4 ? toNames(old) : carry(old) },
  { to: 2.6 }
]

const form: ReadonlyArray<Step> = [
  { to: 2.3, change: toCheckboxes },
  { to: 2.5, change: (old) => old.version < 2.4 ? toNames(old) : carry(old) }
]

/** Later versions refuse what never starts, or starts beyond its unit. */
const toChecked: Mapping = ({ nextVersion, node, own }) => {
  const [wrong] = Schedules.never({ ...node, typeVersion: nextVersion }, false)
  return wrong === undefined ? done(own) : left(
    `From version 1.3 on, n8n never starts it by rule ${wrong.rule + 1}: ${wrong.why}.`,
    "Choose an interval of whole units within its range, or a cron expression; then upgrade again.",
    []
  )
}

const scheduleTrigger: ReadonlyArray<Step> = [{ to: 1.2 }, { to: 1.3, change: toChecked }, { to: 1.4 }]

const within = (value: unknown, low: number, high: number) => {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : int(value)
  return number !== undefined && number >= low && number <= high ? number : undefined
}

/** Rule of one trigger time; n8n itself chooses the second, and the minute of an hourly interval. */
const ruleOf = (time: Obj): Obj | undefined => {
  const { dayOfMonth = 1, hour = 14, minute = 0, mode = "everyDay", unit = "hours", value = 2, weekday = "1" } = time
  const [m, h] = [within(minute, 0, 59), within(hour, 0, 23)]
  const at = m === undefined || h === undefined ? undefined : { triggerAtHour: h, triggerAtMinute: m }
  const [day, date] = [within(weekday, 0, 6), within(dayOfMonth, 1, 31)]
  const every = within(value, 1, unit === "minutes" ? 59 : 23)
  if (mode === "everyMinute") return { field: "minutes", minutesInterval: 1 }
  if (mode === "everyHour" && m !== undefined) return { field: "hours", hoursInterval: 1, triggerAtMinute: m }
  if (mode === "everyX" && every !== undefined && (unit === "minutes" ? 60 : 24) % every === 0) {
    return unit === "minutes" ? { field: "minutes", minutesInterval: every } : { field: "hours", hoursInterval: every }
  }
  if (mode === "everyDay" && at !== undefined) return { field: "days", daysInterval: 1, ...at }
  if (mode === "everyWeek" && at !== undefined && day !== undefined) {
    return { field: "weeks", weeksInterval: 1, triggerAtDay: [day], ...at }
  }
  if (mode === "everyMonth" && at !== undefined && date !== undefined) {
    return { field: "months", monthsInterval: 1, triggerAtDayOfMonth: date, ...at }
  }
  const expression = Schedules.pollExpression(time)
  return expression === undefined ? undefined : { field: "cronExpression", expression }
}

const scheduled = (old: Old, parameters: Obj) =>
  seesMore(old, "timestamp")
    ? left(
      "A Schedule Trigger gives an item with the time of its start, this node an empty one.",
      "Decide whether what follows can take those fields.",
      [way(asN8n, "", parameters)]
    )
    : done(parameters)

const fromCron: Mapping = (old) => {
  const { own } = old
  const times = entriesOf(own["triggerTimes"], "item")
  if (times.length === 0) return left("It has no times, so it never starts.", "Add a time, or replace it.")
  const interval = times.map(ruleOf)
  if (times.some((time) => Object.values(time).some(isExpression)) || interval.includes(undefined)) {
    return left("An expression or an unknown mode decides when it starts.", "Write the times.")
  }
  return scheduled(old, { rule: { interval } })
}

const seconds: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3600 }
const units = [["seconds", 1, 60], ["minutes", 60, 60], ["hours", 3600, 24], ["days", 86_400, 2]] as const

/** Intervals that begin again with each unit, in ascending order. */
const intervals = units.flatMap(([field, size, cycle]) =>
  Array.from({ length: cycle - 1 }, (_, index) => index + 1).filter((count) => cycle % count === 0)
    .map((count) => ({ count, field, total: size * count }))
)

const fromInterval: Mapping = (old) => {
  const { interval, unit } = old.parameters
  const total = Number(interval) * (seconds[String(unit)] ?? Number.NaN)
  const rule = ({ count, field }: typeof intervals[number]) => ({
    rule: { interval: [{ field, [`${field}Interval`]: count }] }
  })
  const near = [intervals.findLast((each) => each.total <= total), intervals.find((each) => each.total >= total)]
    .filter((each) => each !== undefined)
  const [one] = near
  return one?.total === total ? scheduled(old, rule(one)) : left(
    "Its interval divides neither a minute, nor an hour in whole minutes, nor a day in whole hours.",
    "Choose another interval.",
    near.map((each) =>
      way(
        `${each.count}${each.field}`,
        `It starts every ${each.count} ${each.field}; its item has the time of the start.`,
        rule(each)
      )
    )
  )
}

export const steps: Steps = {
  ...ofData(data),
  "n8n-nodes-base.httpRequest": request,
  "n8n-nodes-base.webhook": webhook,
  "n8n-nodes-base.respondToWebhook": respondToWebhook,
  "n8n-nodes-base.formTrigger": formTrigger,
  "n8n-nodes-base.form": form,
  "n8n-nodes-base.scheduleTrigger": scheduleTrigger,
  "n8n-nodes-base.editImage": files.editImage
}

export const successors: Successors = {
  "n8n-nodes-base.cron": { to: ["n8n-nodes-base.scheduleTrigger"], change: fromCron },
  "n8n-nodes-base.interval": { to: ["n8n-nodes-base.scheduleTrigger"], change: fromInterval },
  "n8n-nodes-base.htmlExtract": { to: ["n8n-nodes-base.html"], change: files.fromHtmlExtract },
  "n8n-nodes-base.iCal": { to: ["n8n-nodes-base.convertToFile"], change: files.fromICal },
  "n8n-nodes-base.readBinaryFile": { to: ["n8n-nodes-base.readWriteFile"], change: files.fromReadBinaryFile },
  "n8n-nodes-base.readBinaryFiles": {
    to: ["n8n-nodes-base.readWriteFile"],
    change: files.fromReadBinaryFiles,
    fails: "Read/Write Files from Disk fails in other cases."
  },
  "n8n-nodes-base.workflowTrigger": { to: ["n8n-nodes-base.n8nTrigger"], change: files.fromWorkflowTrigger },
  "n8n-nodes-base.readPDF": { to: ["n8n-nodes-base.extractFromFile"], change: files.fromReadPdf },
  "n8n-nodes-base.writeBinaryFile": {
    to: ["n8n-nodes-base.readWriteFile"],
    change: files.fromWriteBinaryFile,
    fails: "Read/Write Files from Disk has other messages for a file that cannot be written."
  },
  "n8n-nodes-base.spreadsheetFile": {
    to: ["n8n-nodes-base.convertToFile"],
    change: files.fromSpreadsheet,
    fails: "Convert to File words its failures differently."
  }
}
