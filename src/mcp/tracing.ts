/** Span of an MCP request by OpenTelemetry's conventions for MCP, without arguments and results. */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Headers from "effect/http/Headers"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import { type Obj, obj } from "../base/Json.ts"
import { meta } from "./eras/Versions.ts"
import * as Rpc from "./Rpc.ts"

class RequestFailed extends Data.TaggedError("RequestFailed")<{ readonly message: string }> {}

interface Target {
  readonly attribute: string
  /** Name of an existing tool or prompt: span names never contain a name that a client invented. */
  readonly name: string | undefined
}

/** The client's span from `_meta` (SEP-414), since stdio has no headers. */
const parentOf = (params: Obj): Tracer.ExternalSpan | undefined => {
  const { traceparent } = obj(params["_meta"]) ?? {}
  return typeof traceparent === "string"
    ? Option.getOrUndefined(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent })))
    : undefined
}

/** Attributes of a failure: of the tool, or of the protocol with its code. */
const problemOf = (exit: Exit.Exit<unknown, unknown>) => {
  if (Exit.isSuccess(exit)) {
    const value = exit.value
    const isFailed = Result.isResult(value) ? Result.isFailure(value) : obj(value)?.["isError"] === true
    return isFailed ? { "error.type": "tool_error" } : undefined
  }
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  if (!(error instanceof Rpc.RpcError)) return undefined
  const code = String(error.code)
  return { "error.type": code, "rpc.response.status_code": code }
}

/** Runs a request in its own span below the client's, linked to the HTTP request that carried it. */
export const traced = (
  method: string,
  params: Obj,
  target: Target | undefined
): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> => {
  const { attribute, name } = target ?? {}
  const version = obj(params["_meta"])?.[meta.version]
  const attributes = {
    "mcp.method.name": method,
    ...(typeof version === "string" ? { "mcp.protocol.version": version } : {}),
    ...(attribute === undefined || name === undefined ? {} : { [attribute]: name }),
    ...(method === "tools/call" ? { "gen_ai.operation.name": "execute_tool" } : {})
  }
  return (effect) =>
    References.TracerEnabled.use((isEnabled) => {
      if (!isEnabled) return effect
      const parent = parentOf(params)
      return Effect.flatMap(Effect.option(Effect.currentSpan), (ambient) => {
        const links = parent === undefined || Option.isNone(ambient) ? [] : [{ span: ambient.value, attributes: {} }]
        return Effect.useSpan(
          name === undefined ? method : `${method} ${name}`,
          { kind: "server", attributes, links, ...(parent === undefined ? {} : { parent }) },
          (span) =>
            effect.pipe(
              Effect.withParentSpan(span, { captureStackTrace: false }),
              Effect.onExit((exit) => {
                const problem = problemOf(exit)
                if (problem === undefined) return Effect.void
                return Effect.map(Clock.currentTimeNanos, (now) => {
                  for (const [key, value] of Object.entries(problem)) span.attribute(key, value)
                  span.end(now, Exit.fail(new RequestFailed({ message: problem["error.type"] })))
                })
              })
            )
        )
      })
    })
}
