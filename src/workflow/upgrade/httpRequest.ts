/** HTTP Request from any version to 4.5, with equal requests and equal items. */
import * as Result from "effect/Result"
import { arr, defined, equals, type Obj, obj } from "../../base/Json.ts"
import { isExpression } from "../../catalogue/parameters/ParameterValues.ts"
import * as Template from "../../n8n/model/Template.ts"
import { seesMore, type Shape, shapeOf } from "./downstream.ts"
import { continues, done, entriesOf, left, type Mapping, type Old, type Undecided } from "./mapping.ts"

/** Code of an expression that is nothing but `={{ code }}`, so that its value may be of any type. */
export const codeOf = (value: unknown): string | undefined => {
  if (!isExpression(value)) return undefined
  const [part, ...more] = Template.parts(value)
  const isWhole = part !== undefined && more.length === 0 && value.slice(1, part.start).trim() === "" &&
    value.slice(part.end).trim() === ""
  return isWhole ? part.code.trim() : undefined
}

const isOpen = (value: unknown) => isExpression(value) && Template.parts(value).length > 0

const generic: Readonly<Record<string, string>> = {
  basicAuth: "httpBasicAuth",
  digestAuth: "httpDigestAuth",
  headerAuth: "httpHeaderAuth",
  queryAuth: "httpQueryAuth",
  oAuth1: "oAuth1Api",
  oAuth2: "oAuth2Api"
}

const withBody = new Set(["PATCH", "POST", "PUT"])

interface Field {
  readonly name: unknown
  readonly value: unknown
}

const fieldsOf = (parameters: Obj, key: string): ReadonlyArray<Obj> | undefined => {
  const list = obj(parameters[key])?.["parameter"]
  return list === undefined ? undefined : arr(list).map((each) => obj(each) ?? {})
}

/** The last field of each name, at the place of the first one. */
const lastOfEach = <A extends { readonly name?: unknown }>(
  fields: ReadonlyArray<A>,
  key: (name: unknown) => unknown = (name) => name
): ReadonlyArray<A> => [...new Map(fields.map((field) => [key(field.name), field])).values()]

const lower = (name: unknown) => String(name).toLowerCase()

const sink = left(
  "Version 4 sends a body of this type differently.",
  "Rebuild the body in a node before this one, then set typeVersion by an update."
)

const literalJson = (value: unknown): unknown => {
  if (typeof value !== "string") return value
  if (isOpen(value)) return undefined
  try {
    return JSON.parse(isExpression(value) ? value.slice(1) : value)
  } catch {
    return undefined
  }
}

/** JSON as text; an expression may return an object or nothing. */
const jsonText = (value: unknown, isBody: boolean): unknown => {
  if (typeof value === "object" && value !== null) return JSON.stringify(value, null, 2)
  const code = codeOf(value)
  if (code === undefined || /^JSON\.stringify\([^()]*\)$/.test(code)) return value
  return isBody
    ? `={{ (body => body === "" ? null : body)(${code}) }}`
    : `={{ (value => typeof value === "string" ? value || "{}" : JSON.stringify(value))(${code}) }}`
}

const flat = (value: unknown): ReadonlyArray<Field> | undefined => {
  const fields = Object.entries(obj(literalJson(value)) ?? { "": {} }).map(([name, value]) => ({ name, value }))
  return fields.every(({ value }) => ["string", "number"].includes(typeof value))
    ? fields.map(({ name, value }) => ({ name, value: String(value) }))
    : undefined
}

/** Parameters for a part of the request. */
type Part = Result.Result<Obj, Undecided>

const nested = /[.[]/

/** Body of named fields as JSON, in which version 4 reads a name such as `a.b` as a path. */
const keyedJson = (fields: ReadonlyArray<Obj>): Part => {
  const names = fields.map(({ name }) => name)
  if (names.some(isOpen)) {
    return left("Names of body fields are expressions; version 4 reads a dot in them as a path.", "Write the JSON.")
  }
  if (!names.some((name) => nested.test(String(name)))) {
    return Result.succeed({ bodyParameters: { parameters: fields } })
  }
  const inner = fields.map(({ name, value }) => {
    const code = codeOf(value) ?? (isOpen(value) ? undefined : JSON.stringify(value))
    return code === undefined ? undefined : `${JSON.stringify(name)}: ${code}`
  })
  return inner.includes(undefined) ? sink : Result.succeed({
    specifyBody: "json",
    jsonBody: fields.some(({ value }) => isOpen(value))
      ? `={{ ({ ${inner.join(", ")} }) }}`
      : JSON.stringify(Object.fromEntries(fields.map(({ name, value }) => [name, value])), null, 2)
  })
}

/** Fields that a form with files sends: version 4.2 refuses lists. */
const multipart = (fields: ReadonlyArray<Obj>): Part =>
  fields.some(({ value }) => codeOf(value) !== undefined)
    ? left(
      "A form field is an expression; a list in it was sent as several fields and is refused from version 4.2 on.",
      "If the field is never a list, set typeVersion by an update."
    )
    : Result.succeed({ contentType: "multipart-form-data", bodyParameters: { parameters: lastOfEach(fields) } })

const filesOf = (names: unknown): ReadonlyArray<Obj> | undefined => {
  if (typeof names !== "string" || isOpen(names)) return undefined
  const parts = names.split(",").map((part) => part.trim())
  return lastOfEach(parts.map((part) => {
    const [name = "", field] = part.includes(":") ? part.split(":") : ["file", part]
    return { parameterType: "formBinaryData", name, inputDataFieldName: field }
  }))
}

const plain = "application/x-www-form-urlencoded"

interface Body {
  readonly parameters: Obj
  readonly headers?: ReadonlyArray<Field>
}

const oldBody = ({ parameters: p }: Old, kind: unknown, mime: unknown): Result.Result<Body, Undecided> => {
  const none = Result.succeed<Body>({ parameters: {} })
  const body = (part: Part) => Result.map(part, (made): Body => ({ parameters: { sendBody: true, ...made } }))
  const listed = (parameters: ReadonlyArray<object>) =>
    body(Result.succeed({ contentType: kind, bodyParameters: { parameters } }))
  if (p["jsonParameters"] !== true) {
    const fields = fieldsOf(p, "bodyParametersUi")
    if (fields === undefined) return none
    const unique = lastOfEach(fields)
    if (kind === "multipart-form-data") return body(multipart(unique))
    if (kind === "raw") return sink
    return kind === "form-urlencoded" ? listed(unique) : body(keyedJson(unique))
  }
  if (p["sendBinaryData"] === true) {
    const field = p["binaryPropertyName"]
    const files = filesOf(field)
    if (kind === "multipart-form-data" && files !== undefined) return listed(files)
    return kind !== "raw" ? sink : Result.succeed({
      parameters: { sendBody: true, contentType: "binaryData", inputDataFieldName: field },
      ...(mime === undefined ? { headers: [{ name: "content-type", value: plain }] } : {})
    })
  }
  const value = p["bodyParametersJson"]
  if (value === "" || value === undefined) return none
  if (kind === "raw") {
    const text = typeof value === "object" ? JSON.stringify(value) : value
    return mime === undefined && (codeOf(value) !== undefined || p["responseFormat"] === "file")
      ? sink
      : body(Result.succeed({ contentType: kind, rawContentType: mime ?? plain, body: text }))
  }
  if (kind === "json") return body(Result.succeed({ specifyBody: "json", jsonBody: jsonText(value, true) }))
  const fields = flat(value)
  return fields === undefined ? sink : listed(fields)
}

/** Parameters and options for a part of the request. */
type Optioned = Result.Result<{ readonly parameters: Obj; readonly options: Obj }, Undecided>

const optioned = (parameters: Obj = {}, options: Obj = {}): Optioned => Result.succeed({ parameters, options })

const oldHeaders = ({ parameters: p }: Old, added: ReadonlyArray<Field>): Optioned => {
  const value = p["headerParametersJson"]
  if (p["jsonParameters"] === true && value !== "" && value !== undefined) {
    const known = obj(literalJson(value))
    if (added.length > 0 && known === undefined) {
      return left("The headers are an expression, and the node sets a content type as well.", "Write both as headers.")
    }
    const all = { ...known, ...Object.fromEntries(added.map(({ name, value }) => [name, value])) }
    const isLower = known !== undefined && Object.keys(known).every((name) => name === name.toLowerCase())
    return optioned({
      sendHeaders: true,
      specifyHeaders: "json",
      jsonHeaders: added.length > 0 ? JSON.stringify(all, null, 2) : jsonText(value, false)
    }, isLower ? {} : { lowercaseHeaders: false })
  }
  const fields = p["jsonParameters"] === true ? undefined : fieldsOf(p, "headerParametersUi")
  const all = lastOfEach([...fields ?? [], ...added] as ReadonlyArray<Obj>, lower)
  return all.length === 0 ? optioned() : optioned({ sendHeaders: true, headerParameters: { parameters: all } })
}

const oldQuery = ({ parameters: p }: Old, isRepeated: boolean): Optioned => {
  const value = p["queryParametersJson"]
  const options = isRepeated ? { queryParameterArrays: "repeat" } : {}
  if (p["jsonParameters"] === true) {
    return value === "" || value === undefined
      ? optioned()
      : optioned({ sendQuery: true, specifyQuery: "json", jsonQuery: jsonText(value, false) }, options)
  }
  const fields = fieldsOf(p, "queryParametersUi")
  if (fields === undefined) return optioned()
  const isTwice = lastOfEach(fields).length < fields.length
  return isTwice && fields.some(({ value }) => typeof value !== "string" || codeOf(value) !== undefined)
    ? left("A query parameter occurs twice, with an expression.", "Write its values as one list.")
    : optioned({ sendQuery: true, queryParameters: { parameters: fields } }, options)
}

const oldAuthentication = ({ parameters: p, version }: Old): Part => {
  const value = p["authentication"]
  if (isOpen(value) || isOpen(p["genericAuthType"])) {
    return left("The kind of authentication is an expression.", "Choose one, then upgrade again.")
  }
  if (version < 2) {
    const type = generic[String(value)]
    return Result.succeed(
      type === undefined ? {} : { authentication: "genericCredentialType", genericAuthType: type }
    )
  }
  if (value === "genericCredentialType" && p["genericAuthType"] === "httpCustomAuth") {
    return left("Version 2 ignores the custom authentication, version 4 uses it.", "Choose one.")
  }
  const { authentication, genericAuthType, nodeCredentialType } = p
  return Result.succeed(value === "none" ? {} : defined({ authentication, genericAuthType, nodeCredentialType }))
}

const formats = { json: "json", string: "text", file: "file" } as const

/** Whether later nodes expect the response of version 1: a list as one item, and JSON in a text parsed. */
const unsure = (format: string, isFull: boolean, isSplit: boolean, shape: Shape) => {
  if (format === "json" && !isFull && !isSplit && shape !== "object") {
    return left(
      "If the response is a list, the older version put all of it into one item; version 4 makes one item of each entry.",
      "If the response is never a list, set options.splitIntoItems to true and upgrade again; otherwise adapt what follows."
    )
  }
  return format === "string" && shape !== "text"
    ? left(
      "If the response is JSON, the older version parsed it although it says text; version 4 keeps the text.",
      "Choose the response format JSON if it is JSON, then upgrade again; otherwise set typeVersion by an update."
    )
    : undefined
}

const oldOptions = (old: Old): Part => {
  const { parameters: p } = old
  const options = obj(p["options"]) ?? {}
  const [method, format] = [p["requestMethod"], String(p["responseFormat"])]
  const open = ["fullResponse", "followRedirect", "followAllRedirects", "ignoreResponseCode", "splitIntoItems"]
    .find((key) => isOpen(options[key]))
  if (open !== undefined) return left(`Option ${open} is an expression.`, "Choose a value, then upgrade again.")
  const isGet = method === "GET" || method === "HEAD"
  if (isOpen(method) && (options["followRedirect"] !== false || options["followAllRedirects"] !== true)) {
    return left("The method is an expression, and only some methods follow redirects.", "Choose a method.")
  }
  const isFollowing = options["followAllRedirects"] === true || isGet && options["followRedirect"] !== false
  const isFull = Boolean(options["fullResponse"])
  if (!Object.hasOwn(formats, format)) {
    return left("The response format is an expression.", "Choose a format, then upgrade again.")
  }
  const doubt = old.sendsOnly
    ? undefined
    : unsure(format, isFull, options["splitIntoItems"] === true, shapeOf(old, isFull))
  if (doubt !== undefined) return doubt
  const { batchInterval, batchSize, proxy, timeout } = options
  const name = p["dataPropertyName"]
  const isNamed = format !== "json" && name !== undefined && name !== "data"
  const certificates = p["allowUnauthorizedCerts"]
  return Result.succeed({
    ...(batchSize !== undefined && batchInterval !== undefined && !equals(batchSize, -1)
      ? { batching: { batch: { batchSize, batchInterval } } }
      : {}),
    ...(certificates === undefined || certificates === false ? {} : { allowUnauthorizedCerts: certificates }),
    ...(isFollowing ? {} : { redirect: { redirect: { followRedirects: false } } }),
    response: {
      response: {
        ...(isFull ? { fullResponse: true } : {}),
        ...(options["ignoreResponseCode"] === true ? { neverError: true } : {}),
        responseFormat: formats[format as keyof typeof formats],
        ...(isNamed ? { outputPropertyName: name } : {})
      }
    },
    ...(proxy === undefined || proxy === "" ? {} : { proxy }),
    // Version 4 waits five minutes, the older ones an hour.
    timeout: timeout === undefined ? 3_600_000 : timeout
  })
}

const fromOld: Mapping = (old) => {
  const { parameters: p } = old
  const method = p["requestMethod"]
  const options = obj(p["options"]) ?? {}
  const isForm = withBody.has(String(method))
  const kind = isForm ? options["bodyContentType"] ?? "json" : "json"
  if (isOpen(method) && options["bodyContentType"] !== undefined || isOpen(kind)) {
    return left("The method or the body's type is an expression.", "Choose one, then upgrade again.")
  }
  if (isOpen(p["jsonParameters"]) || isOpen(p["sendBinaryData"])) {
    return left("An expression chooses between fields and JSON.", "Choose one, then upgrade again.")
  }
  const custom = options["bodyContentCustomMimeType"]
  const mime = isForm && custom !== undefined && custom !== "" ? custom : undefined
  return Result.gen(function*() {
    const body = yield* oldBody(old, kind, mime)
    const isBare = isForm && p["responseFormat"] === "file" && kind !== "raw" &&
      body.parameters["sendBody"] === undefined
    const added = isBare && mime === undefined
      ? [{ name: "content-type", value: "application/json" }]
      : body.headers ?? []
    const isTyped = mime !== undefined && body.parameters["contentType"] !== "raw"
    const headers = yield* oldHeaders(old, isTyped ? [...added, { name: "content-type", value: mime }] : added)
    const query = yield* oldQuery(old, options["useQueryString"] === true)
    const authentication = yield* oldAuthentication(old)
    const rest = yield* oldOptions(old)
    return {
      parameters: {
        ...(method === "GET" || method === undefined ? {} : { method }),
        url: p["url"],
        ...authentication,
        ...query.parameters,
        ...headers.parameters,
        ...body.parameters,
        options: { ...rest, ...query.options, ...headers.options }
      },
      fails: "From version 4 on, some messages of failed requests differ, and from 4.5 on their items have 'details'."
    }
  })
}

const lists = [
  ["sendQuery", "queryParameters"],
  ["sendHeaders", "headerParameters"],
  ["sendBody", "bodyParameters"]
] as const

/** Version 3, 4, 4.1 or 4.2 to 4.3. */
const fromThree: Mapping = ({ own, parameters: p, version }) =>
  Result.gen(function*() {
    let parameters: Obj = own
    for (const [sends, key] of lists) {
      const fields = entriesOf(p[key], "parameters")
      // From version 4.3 on, fields of one name are a list; before, the last one counted.
      const isForm = key === "bodyParameters" && p["contentType"] === "multipart-form-data"
      if (p[sends] !== true || isForm && version >= 4.2 || lastOfEach(fields).length === fields.length) continue
      parameters = Object.assign({}, parameters, { [key]: { parameters: lastOfEach(fields) } })
    }
    const fields = entriesOf(parameters["bodyParameters"], "parameters")
    if (p["sendBody"] === true && p["contentType"] === "multipart-form-data" && version < 4.2) {
      yield* multipart(
        fields.map((field) => field["parameterType"] === "formBinaryData" ? { ...field, value: "" } : field)
      )
    }
    if (version >= 4) return { parameters }
    if (p["sendBody"] === true && p["contentType"] === "json" && p["specifyBody"] === "keypair" && fields.length > 0) {
      const { bodyParameters: _, ...others } = parameters
      parameters = { ...others, ...yield* keyedJson(fields) }
    }
    const options = obj(own["options"]) ?? {}
    const follows = obj(obj(options["redirect"])?.["redirect"])?.["followRedirects"]
    const isFollowing = follows === true || isOpen(follows)
    const redirect = { redirect: { followRedirects: false } }
    return { parameters: isFollowing ? parameters : { ...parameters, options: { ...options, redirect } } }
  })

/** Credentials that n8n sends as a header, which a redirect to another origin loses from version 4.4 on. */
const toCredentialsStay: Mapping = ({ own, parameters: p }) => {
  const options = obj(own["options"]) ?? {}
  const isSent = p["authentication"] !== undefined && p["authentication"] !== "none" &&
    p["genericAuthType"] !== "httpQueryAuth"
  const isWritten = options["lowercaseHeaders"] !== undefined && options["lowercaseHeaders"] !== true
  const follows = obj(obj(options["redirect"])?.["redirect"])?.["followRedirects"]
  const isKnown = options["sendCredentialsOnCrossOriginRedirect"] !== undefined
  return done(
    isKnown || follows === false || !isSent && !isWritten
      ? own
      : { ...own, options: { ...options, sendCredentialsOnCrossOriginRedirect: true } }
  )
}

const toDetails: Mapping = (old) => {
  const { node, own } = old
  // The search through what follows is long.
  return continues(node) && seesMore(old, "details", node["onError"] === "continueErrorOutput" ? 1 : undefined)
    ? done(own, { fails: "From version 4.5 on, the item of a failed request has 'details' beside 'error'." })
    : done(own)
}

export const request = [
  { to: 4.3, change: (old: Old) => old.version < 3 ? fromOld(old) : fromThree(old) },
  { to: 4.4, change: toCredentialsStay },
  { to: 4.5, change: toDetails }
]
