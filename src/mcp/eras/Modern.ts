/** MCP 2026-07-28: requests are self-contained; a question ends a request, which the client repeats with the answers. */
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import { sha256 } from "../../base/Hash.ts"
import { canonical, defined, type Obj, obj } from "../../base/Json.ts"
import type { Caller, Protocol } from "../McpTransport.ts"
import * as Methods from "../Methods.ts"
import * as Rpc from "../Rpc.ts"
import * as Versions from "./Versions.ts"

export interface Answer {
  readonly status: number
  readonly body: object
}

type Headers = { readonly [name: string]: string | undefined }

/** Lifetime of results that change only with the process. */
const untilRestart = 10 * 60_000

/** Cacheable results. Results that depend on the caller's n8n are private and may change at any time. */
const cached: { readonly [method: string]: { readonly ttlMs: number; readonly cacheScope: "private" | "public" } } = {
  "server/discover": { ttlMs: untilRestart, cacheScope: "public" },
  "tools/list": { ttlMs: untilRestart, cacheScope: "private" },
  "prompts/list": { ttlMs: untilRestart, cacheScope: "public" },
  "resources/templates/list": { ttlMs: untilRestart, cacheScope: "public" },
  "skills/list": { ttlMs: untilRestart, cacheScope: "public" },
  "skills/get": { ttlMs: untilRestart, cacheScope: "public" },
  "resources/list": { ttlMs: 0, cacheScope: "private" },
  "resources/read": { ttlMs: 0, cacheScope: "private" }
}

/** Methods that may ask questions, each with the parameter that the header `Mcp-Name` repeats. */
const names: { readonly [method: string]: string } = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri"
}

/** Whether a message or its headers belong to this version or a newer one. */
export const isModern = (message: Rpc.Message, headers: Headers = {}): boolean =>
  Versions.metaOf(message)[Versions.meta.version] !== undefined ||
  "method" in message && message.method === "server/discover" ||
  headers["mcp-protocol-version"]?.trim() === Versions.modern

const decoded = (value: string | undefined): string | undefined => {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value ?? "") ?? []
  return base64 === undefined ? value : Buffer.from(base64, "base64").toString("utf8")
}

const mismatch = ({ method, params = {} }: Rpc.Request, version: string, headers: Headers): string | undefined => {
  const name = names[method]
  const repeated: ReadonlyArray<readonly [string, unknown]> = [
    ["MCP-Protocol-Version", version],
    ["Mcp-Method", method],
    ...name === undefined ? [] : [["Mcp-Name", params[name]] as const]
  ]
  return repeated.find(([header, value]) => decoded(headers[header.toLowerCase()]?.trim()) !== value)?.[0]
}

const problem = (request: Rpc.Request, headers: Headers | undefined): Rpc.RpcError | undefined => {
  const meta = Versions.metaOf(request)
  const version = meta[Versions.meta.version]
  if (typeof version !== "string") {
    return Rpc.invalidParams(`_meta needs ${Versions.meta.version}, or the connection must start with initialize`)
  }
  const header = headers === undefined ? undefined : mismatch(request, version, headers)
  if (header !== undefined) {
    return new Rpc.RpcError({
      code: Rpc.codes.headerMismatch,
      message: `The header ${header} is missing or contradicts the body`
    })
  }
  if (version !== Versions.modern) return Versions.unsupported(version)
  if (obj(meta[Versions.meta.capabilities]) === undefined) {
    return Rpc.invalidParams(`_meta needs ${Versions.meta.capabilities}: {} for a client without capabilities`)
  }
}

/** HTTP status of refusals before a method runs, and of unknown methods. */
const statusOf = (code: number) =>
  code === Rpc.codes.methodNotFound ? 404 : code <= Rpc.codes.headerMismatch && code >= -32099 ? 400 : 200

const failed = (id: Rpc.Id, error: Rpc.RpcError, status = statusOf(error.code)): Answer => ({
  status,
  body: Rpc.failure(id, error)
})

/** Refusal of a request before it runs; `headers` are those of HTTP. */
export const refusal = (request: Rpc.Request, headers: Headers | undefined): Answer | undefined => {
  const error = problem(request, headers)
  return error === undefined ? undefined : failed(request.id, error, 400)
}

const digest = (value: unknown) => sha256(canonical(value), "base64url")

/** Subject of a sealed state: the caller and the request. */
const aboutOf = ({ principal = "" }: Caller, { method, params = {} }: Rpc.Request) => {
  const { _meta, inputResponses: _, requestState: __, ...rest } = params
  return digest([principal, method, rest])
}

/** Earlier rounds: digests of questions and their answers, by name. */
interface Rounds {
  readonly asked: Methods.Named<unknown>
  readonly answers: Methods.Named<unknown>
}

const rounds = Effect.fnUntraced(function*({ sealing }: Protocol, caller: Caller, request: Rpc.Request) {
  const { inputResponses = {}, requestState } = request.params ?? {}
  const responses = obj(inputResponses)
  if (responses === undefined || Object.values(responses).some((each) => obj(each) === undefined)) {
    return yield* Rpc.invalidParams("inputResponses must contain an object for each name in inputRequests")
  }
  if (requestState === undefined) return { earlier: { asked: {}, answers: {} }, responses }
  const content = typeof requestState === "string"
    ? yield* sealing.open(requestState, aboutOf(caller, request))
    : undefined
  if (content === undefined) {
    return yield* Rpc.invalidParams(
      "requestState belongs to another caller or request, was used, or has expired: call again without it"
    )
  }
  const earlier: Rounds = { asked: obj(content["asked"]) ?? {}, answers: obj(content["answers"]) ?? {} }
  return { earlier, responses }
})

/** Returns the existing answers, or ends the request with the questions. */
const asker = (
  capabilities: Obj,
  { earlier, responses }: Effect.Success<ReturnType<typeof rounds>>,
  end: (questions: Methods.Named<Methods.Question>, rounds: Rounds) => Effect.Effect<never>
): Methods.Request["ask"] => {
  const answers = { ...earlier.answers }
  return (questions) =>
    Effect.gen(function*() {
      yield* Methods.checkCanAsk(capabilities, questions)
      for (const [name, { isOpen = false, ...question }] of Object.entries(questions)) {
        const isAnswer = isOpen || earlier.asked[name] === digest(question)
        if (isAnswer && Object.hasOwn(responses, name)) answers[name] = responses[name]
      }
      const open = Object.entries(questions).filter(([name]) => !Object.hasOwn(answers, name))
      if (open.length > 0) {
        return yield* end(Object.fromEntries(open), {
          answers,
          asked: Object.fromEntries(open.map(([name, { method, params }]) => [name, digest({ method, params })]))
        })
      }
      return answers
    })
}

/** Answers a request that was not refused. Interruption cancels the call. */
export const answer = (
  protocol: Protocol,
  caller: Caller,
  request: Rpc.Request,
  notify: (message: Rpc.Notification) => void
): Effect.Effect<Answer> => {
  const { id, method, params = {} } = request
  const { about, methods, sealing } = protocol
  const serverInfo = { name: about.name, version: about.version }
  const result = (value: Obj): Answer => ({
    status: 200,
    body: {
      jsonrpc: "2.0",
      id,
      result: {
        resultType: "complete",
        ...value,
        _meta: { ...obj(value["_meta"]), [Versions.meta.server]: serverInfo }
      }
    }
  })
  const complete = (value: Obj) => result({ ...value, ...cached[method] })
  if (method === "server/discover") {
    const { capabilities, instructions } = about
    return Effect.succeed(complete(defined({ supportedVersions: Versions.supported, capabilities, instructions })))
  }

  const capabilities = obj(Versions.metaOf(request)[Versions.meta.capabilities]) ?? {}
  const { inputResponses: _, requestState: __, ...own } = params
  const send: Methods.Request["notify"] = (method, params) =>
    Effect.sync(() => notify({ jsonrpc: "2.0", method, params }))
  const run = (ask: Methods.Request["ask"]) =>
    Effect.map(Methods.run(methods, method, { params: own, caller, capabilities, notify: send, ask }), complete)

  const outcome = names[method] === undefined
    ? run(() => Effect.die(new Error(`${method} must not ask`)))
    : Effect.gen(function*() {
      const state = yield* rounds(protocol, caller, request)
      let questions: Answer | undefined
      const ask = asker(capabilities, state, (open, rounds) =>
        Effect.gen(function*() {
          const inputRequests = Record.map(open, ({ method, params }) => ({ method, params }))
          const requestState = yield* sealing.seal({ ...rounds }, aboutOf(caller, request))
          questions = result({ resultType: "input_required", inputRequests, requestState })
          // The tool could handle a failure, but not an interruption.
          return yield* Effect.interrupt
        }))
      return yield* Effect.catchCause(
        run(ask),
        (cause) => questions === undefined ? Effect.failCause(cause) : Effect.succeed(questions)
      )
    })
  return Effect.catch(outcome, (error) => Effect.succeed(failed(id, error)))
}
