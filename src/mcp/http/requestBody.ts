/** JSON body of a request. */
import { isJsonContentType } from "@modelcontextprotocol/sdk/shared/mediaType.js"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Refusal from "./refusal.ts"

/** Maximum size of a body in bytes, equal to that of a file. */
export const maxBytes = 10 * 1024 * 1024

const decoder = new TextDecoder("utf-8", { fatal: true })

const parse = (bytes: ArrayBuffer) =>
  Effect.try({
    try: (): unknown => JSON.parse(decoder.decode(bytes)),
    catch: (error) =>
      Refusal.invalid(error instanceof SyntaxError ? "The body is not JSON." : "The body is not UTF-8.", -32700)
  })

/** Parses the body, or refuses it. */
export const json: Effect.Effect<unknown, Refusal.Refusal, HttpServerRequest.HttpServerRequest> = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  (request) => {
    if (!isJsonContentType(request.headers["content-type"])) return Effect.fail(Refusal.notJson)
    const encoding = request.headers["content-encoding"] ?? "identity"
    if (encoding.toLowerCase() !== "identity") return Effect.fail(Refusal.encoded)
    if (Number(request.headers["content-length"]) > maxBytes) return Effect.fail(Refusal.tooLarge(maxBytes))
    return request.arrayBuffer.pipe(
      Effect.mapError(({ reason }) =>
        reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
          ? Refusal.tooLarge(maxBytes)
          : Refusal.invalid("The body could not be read.", -32700)
      ),
      Effect.flatMap(parse)
    )
  }
)
