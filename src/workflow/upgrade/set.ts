/** Edit Fields (Set) 1 to 3.5. */
import type { Parse } from "../../base/JavaScript.ts"
import { arr, defined, type Obj, obj, str } from "../../base/Json.ts"
import { literal, type Operand, operand } from "./filters.ts"
import { done, entriesOf, left, type Mapping, way } from "./mapping.ts"

interface Value {
  readonly name: string
  readonly group: string
  readonly operand: Operand
}

const constantly = "Make it independent of data, then upgrade again."

const conversion = (code: string) =>
  `(typeof ${code} === "string" && !Number.isNaN(Number(${code})) ? Number(${code}) : ${code})`

/** Value that the old node writes, if it does not depend on data. */
const constant = ({ group, operand: { value } }: Value, version: number): unknown =>
  group === "boolean"
    ? Boolean(value)
    : group === "number" && version >= 2 && typeof value === "string" && !Number.isNaN(Number(value))
    ? Number(value)
    : value

const isPrimitive = (value: unknown) => value === null || ["string", "number", "boolean"].includes(typeof value)

const assignment = (value: Value, version: number, id: string): Obj | undefined => {
  const { group, name, operand: { isLiteral, isSure, kind, raw } } = value
  if (isLiteral) {
    const made = constant(value, version)
    return isPrimitive(made)
      ? { id, name, value: made, type: made === null ? "string" : typeof made }
      : undefined
  }
  if (value.operand.isMixed === true && group === "string") return { id, name, value: raw, type: "string" }
  return isSure === true && (kind === "string" && group === "string" || kind === "boolean" && group !== "number")
    ? { id, name, value: raw, type: kind }
    : undefined
}

const entry = (value: Value, version: number): string | undefined => {
  const { group, name, operand: { guarded, isLiteral } } = value
  const code = isLiteral ? literal(constant(value, version)) : guarded
  if (code === undefined) return undefined
  const made = isLiteral
    ? code
    : group === "boolean"
    ? `!!${code}`
    : group === "number" && version >= 2
    ? conversion(code)
    : code
  return `  ${literal(name)}: ${made}`
}

const valuesOf = (values: unknown, parse: Parse): ReadonlyArray<Value> | undefined => {
  const all = new Map<string, Value>()
  for (const group of ["boolean", "number", "string"]) {
    for (const each of arr(obj(values)?.[group])) {
      const entry = obj(each) ?? {}
      const named = operand(entry["name"], parse)
      const name = str(named.value)
      if (name === undefined || name.includes("__proto__")) return undefined
      all.delete(name)
      all.set(name, { name, group, operand: operand(entry["value"], parse) })
    }
  }
  return [...all.values()]
}

const first: Mapping = ({ isAccepted, lookups, node, parameters, version }) => {
  const values = valuesOf(parameters["values"], lookups.parse)
  const keep = parameters["keepOnlySet"]
  if (values === undefined || typeof keep !== "boolean") {
    return left("The names of its fields, or 'keepOnlySet', depend on data.", constantly)
  }
  const dotNotation = obj(parameters["options"])?.["dotNotation"]
  if (dotNotation !== undefined && typeof dotNotation !== "boolean") {
    return left("Its 'dotNotation' depends on data.", constantly)
  }
  const shared = {
    ...(keep ? {} : { includeOtherFields: true }),
    options: dotNotation === false ? { dotNotation: false } : {}
  }
  const assignments = values.map((value, index) =>
    assignment(value, version, `${String(node["id"] ?? "set")}-${index}`)
  )
  if (assignments.every((each) => each !== undefined)) {
    return done({ assignments: { assignments }, ...shared })
  }
  const date = values.find(({ operand: { isDated, kind } }) => isDated && kind === undefined)
  const entries = values.map((value) => entry(value, version))
  if (entries.includes(undefined) || date !== undefined && !isAccepted) {
    return left(
      date === undefined
        ? "A value has code that cannot be read."
        : `'${date.name}' can be a date, which the new version converts to text.`,
      date === undefined ? "Correct its code, then upgrade again." : "Decide whether what follows can take a text."
    )
  }
  // A missing value removes a field that the item has.
  const missing = values.filter(({ group, operand: { isLiteral, isMixed, isSure } }) =>
    group !== "boolean" && !isLiteral && isMixed !== true && isSure !== true
  ).map(({ name }) => name)
  const unclear = missing.find((name) =>
    dotNotation !== false && /[.[\]]/.test(name) || !keep && /^$|^\s|\s$|,/.test(name)
  )
  if (unclear !== undefined && !isAccepted) {
    return left(
      `The new version leaves '${unclear}' as it is where its value is missing.`,
      "Decide whether its value can be missing."
    )
  }
  return done({
    mode: "raw",
    jsonOutput: `={{ {\n${entries.join(",\n")}\n} }}`,
    ...shared,
    ...(keep || missing.length === 0 ? {} : { include: "except", excludeFields: missing.join(", ") })
  })
}

/** Value of an assignment that replaces a field of 3 to 3.2. */
const field = (given: Obj, version: number, parse: Parse): unknown | undefined => {
  const type = str(given["type"]) ?? "stringValue"
  const value = given[type]
  const read = operand(value, parse)
  if (type === "objectValue" && !read.isLiteral && (read.isMixed === true || read.code === undefined)) return undefined
  if (version > 3 || type !== "stringValue" || read.isLiteral || read.isMixed === true) return value
  return read.guarded === undefined || read.isDated ? undefined : `={{ ${read.guarded} ?? String(${read.guarded}) }}`
}

const third: Mapping = (old) => {
  const { lookups, node, own, parameters, version } = old
  if (version < 3) return first(old)
  const options = obj(own["options"]) ?? {}
  const include = version < 3.3
    ? str(parameters["include"]) ?? "all"
    : parameters["includeOtherFields"] === true
    ? str(parameters["include"]) ?? "all"
    : parameters["includeOtherFields"] === undefined || parameters["includeOtherFields"] === false ||
        parameters["includeOtherFields"] === ""
    ? "none"
    : undefined
  const { include: _, includeOtherFields: __, fields: ___, options: ____, ...rest } = own
  const { includeBinary, ...others } = options
  const isBinary = includeBinary === true
  if (
    include === undefined || include.startsWith("=") ||
    includeBinary !== undefined && typeof includeBinary !== "boolean"
  ) {
    return left("Which fields or files it includes depends on data.", constantly)
  }
  if (isBinary && include === "none") {
    return left(
      "It passes files on, but not the other fields; the new version passes both or neither.",
      "Choose fields and files, or neither.",
      version < 3.3 && parameters["mode"] !== "raw" ? [] : [
        way("withFields", "Passes the other fields on too.", { ...rest, includeOtherFields: true, options: others }),
        way("withoutFiles", "Passes on neither.", { ...rest, options: others })
      ]
    )
  }
  const shared = {
    ...rest,
    ...(include === "none" ? {} : { includeOtherFields: true, ...(include === "all" ? {} : { include }) }),
    options: include === "none" || isBinary ? others : { ...others, stripBinary: true }
  }
  if (version >= 3.3 || parameters["mode"] === "raw") return done(shared)
  const assignments: Array<Obj> = []
  const isNull = version > 3 && version < 3.2 && others["ignoreConversionErrors"] !== true
  let fails: string | undefined
  for (const [index, each] of arr(obj(parameters["fields"])?.["values"]).entries()) {
    const entry = obj(each) ?? {}
    const value = field(entry, version, lookups.parse)
    if (value === undefined) {
      return left(
        entry["type"] === "objectValue"
          ? `The new version does not write objects inside the JSON of '${
            String(entry["name"])
          }' as JSON, nor repair it.`
          : `A missing value of '${
            String(entry["name"])
          }' is the text 'null' or 'undefined', in the new version it is null.`,
        "Write the value as one expression, then upgrade again."
      )
    }
    const type = str(entry["type"]) ?? "stringValue"
    const read = operand(entry[type], lookups.parse)
    if (
      !read.isLiteral &&
      (type === "objectValue" || isNull && type === "stringValue" && read.isMixed !== true && read.isSure !== true)
    ) {
      fails = `The new version does not fail, or with another text, where '${String(entry["name"])}' has no such value.`
    }
    assignments.push({
      id: `${String(node["id"] ?? "set")}-${index}`,
      name: entry["name"],
      value,
      type: type.replace("Value", "")
    })
  }
  return done({ assignments: { assignments }, ...shared }, defined({ fails }))
}

const dates = /\bnew Date\b|DateTime|\$now|\$today|toJSDate|toDateTime/

const fifth: Mapping = ({ own }) => {
  const live = entriesOf(own["assignments"], "assignments").find(({ type, value }) =>
    type === "dateTime" || type !== "string" && type !== "number" && type !== "boolean" && dates.test(String(value))
  )
  return live === undefined ? done(own) : left(
    `'${String(live["name"])}' can be a date that later nodes use as one; version 3.5 converts it to text.`,
    "Check that no later node calls a method of it, then set typeVersion 3.5 by an update."
  )
}

export const set = [{ to: 3.4, change: third }, { to: 3.5, change: fifth }]
