/** Arguments made from a tool's `inputSchema`: valid, valid but for one place, and hostile. */
import { arr, type Obj, obj, str } from "../../src/base/Json.ts"
import { values } from "./hostile.ts"

type Random = (below: number) => number

const words = [
  "Hook",
  "End",
  "n8n-nodes-base.webhook",
  "main",
  "name",
  "a b",
  "ü€😀",
  "9",
  "={{ $json.a }}",
  "orders.json"
]

const pick = <A>(list: ReadonlyArray<A>, random: Random) => list[random(list.length)]

/** A value of the schema; `usual` is one that is known to make sense there. */
export const valid = (schema: unknown, random: Random, usual?: unknown, depth = 0): unknown => {
  const { anyOf, enum: choices, items, maxLength, maximum, minimum, properties, required, type } = obj(schema) ?? {}
  if (usual !== undefined && depth > 0 && random(3) > 0) return usual
  if (Array.isArray(choices)) return pick(choices, random)
  if (Array.isArray(anyOf)) return valid(pick(anyOf, random), random, undefined, depth + 1)
  switch (Array.isArray(type) ? pick(type, random) : type) {
    case "string":
      return (pick(words, random) ?? "").slice(0, typeof maxLength === "number" ? maxLength : undefined)
    case "boolean":
      return random(2) === 0
    case "integer":
    case "number": {
      const least = typeof minimum === "number" ? minimum : 0
      const most = typeof maximum === "number" ? maximum : least + 1_000
      return [least, most, least + random(most - least + 1)][random(3)]
    }
    case "array":
      return Array.from({ length: random(4) }, () => valid(items, random, undefined, depth + 1))
    case "object":
      return properties === undefined
        ? Object.fromEntries(Array.from({ length: random(3) }, () => [pick(words, random), pick(words, random)]))
        : Object.fromEntries(
          Object.entries(obj(properties) ?? {}).flatMap(([key, each]) =>
            arr(required).includes(key) || random(2) === 0
              ? [[key, valid(each, random, obj(usual)?.[key], depth + 1)]]
              : []
          )
        )
    case "null":
      return null
  }
  return pick([...words, 1, true, null, [], {}], random)
}

/** What is just wrong for the schema. */
const near = (schema: unknown, random: Random): unknown => {
  const { enum: choices, maxLength, maximum, minimum, type } = obj(schema) ?? {}
  const wrong: Array<unknown> = [null, "", [], {}, "5", 5, 0.5, true, [null], "null", "[]", "{}"]
  if (typeof maximum === "number") wrong.push(maximum + 1, String(maximum + 1), maximum - 0.5)
  if (typeof minimum === "number") wrong.push(minimum - 1, -minimum, minimum + 0.5)
  if (typeof maxLength === "number") wrong.push("x".repeat(maxLength + 1))
  if (Array.isArray(choices)) wrong.push(String(choices[0]).toUpperCase(), `${String(choices[0])} `)
  if (type === "string") wrong.push(["Hook"], { value: "Hook" })
  return pick(wrong, random)
}

/** Valid arguments with one thing wrong: a value, a name, one missing or one too many. */
export const nearlyValid = (schema: Obj, random: Random, usual: Obj): unknown => {
  const args = obj(valid(schema, random, usual)) ?? {}
  const properties = obj(schema["properties"]) ?? {}
  const key = pick(Object.keys(properties), random)
  if (key === undefined) return { extra: 1 }
  const { [key]: value, ...rest } = args
  switch (random(5)) {
    case 0:
      return rest
    case 1:
      return { ...rest, [key.toUpperCase()]: value ?? 1 }
    case 2:
      return { ...args, [`${key}s`]: value ?? 1 }
  }
  return { ...args, [key]: near(properties[key], random) }
}

/** Valid arguments of which some are hostile, at the top or within. */
export const hostile = (schema: Obj, random: Random, usual: Obj): unknown => {
  const args = obj(valid(schema, random, usual)) ?? {}
  const spoil = (value: unknown, chance: number): unknown => {
    if (random(100) < chance) return pick(values, random)
    if (Array.isArray(value)) return value.map((each) => spoil(each, chance))
    const inner = obj(value)
    return inner === undefined
      ? value
      : Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, spoil(each, chance)]))
  }
  const spoilt = Object.fromEntries(
    Object.keys(obj(schema["properties"]) ?? {}).flatMap((key) =>
      random(100) < 40 ? [[key, pick(values, random)]] : args[key] === undefined ? [] : [[key, spoil(args[key], 10)]]
    )
  )
  return random(10) === 0
    ? { ...spoilt, [str(pick(values.filter((each) => typeof each === "string"), random)) ?? ""]: 1 }
    : spoilt
}
