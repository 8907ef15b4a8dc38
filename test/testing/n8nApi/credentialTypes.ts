/** The fields of n8n's credential types, in the short form that the fake reads. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"

const require = createRequire(import.meta.url)

/** The file with the types, which are those of the newest n8n. */
export const generated: string = fileURLToPath(
  new URL("../../../src/testing/n8nApi/generated/credentialTypes.json", import.meta.url)
)

const types = ["n8n-nodes-base", "@n8n/n8n-nodes-langchain"].flatMap((name): ReadonlyArray<Obj> =>
  JSON.parse(readFileSync(`${dirname(require.resolve(`${name}/package.json`))}/dist/types/credentials.json`, "utf8"))
)

const parentsOf = (type: Obj) => arr(type["extends"])

const propertiesOf = (type: Obj) => arr(type["properties"]).map((property) => obj(property) ?? {})

const isParent = (name: unknown) => types.some((type) => parentsOf(type).includes(name))

/** Types whose requests n8n limits to domains, by two fields that it adds. */
const limitsDomains = (type: Obj) =>
  type["hideDomainRestrictionFields"] !== true &&
  (type["authenticate"] !== undefined || type["genericAuth"] === true ||
    parentsOf(type).some((parent) => ["oAuth2Api", "oAuth1Api", "googleOAuth2Api"].includes(String(parent)))) &&
  !propertiesOf(type).some(({ name }) => name === "allowedHttpRequestDomains")

const field = ({ displayOptions, doNotInherit, options, required, type }: Obj) => {
  const kind = type === "options" ? arr(options).map((option) => obj(option)?.["value"]) : type
  const [show] = Object.entries(obj(obj(displayOptions)?.["show"]) ?? {})
  const more = {
    ...(required === true && { required }),
    ...(show !== undefined && { show: [show[0], arr(show[1])[0] ?? ""] }),
    ...(doNotInherit === true && { doNotInherit })
  }
  return Object.keys(more).length === 0 ? kind : { type: kind, ...more }
}

const short = (type: Obj) => {
  const isChild = type["extends"] !== undefined
  const properties = propertiesOf(type).filter(({ doNotInherit }) => !isChild || doNotInherit !== true)
  const hides = isChild || isParent(type["name"])
    ? properties.filter(({ type }) => type === "hidden").map(({ name }) => name)
    : []
  const fields = properties.filter(({ type }) => type !== "hidden")
  return {
    ...(isChild && { extends: type["extends"] }),
    ...(limitsDomains(type) && { limitsDomains: true }),
    ...(hides.length > 0 && { hides }),
    fields: Object.fromEntries(fields.map((property) => [property["name"], field(property)]))
  }
}

/** Prints one type per line. */
export const print = (): string =>
  `{\n${
    types.map((type) => [str(type["name"]) ?? "", short(type)] as const).toSorted(([a], [b]) => a < b ? -1 : 1)
      .map(([name, type]) => `${JSON.stringify(name)}: ${JSON.stringify(type)}`).join(",\n")
  }\n}\n`
