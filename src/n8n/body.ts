/** Bodies of answers, bounded in size after decompression. */
import * as Bytes from "effect/Bytes"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"

const megabyte = 1_000_000

export const maxBytes = { json: 64 * megabyte, page: 4 * megabyte, webhook: megabyte, error: 256_000 } as const

export interface Read {
  readonly bytes: Uint8Array
  /** Whether there is more, which was not read. */
  readonly isCut: boolean
}

/** Responses whose bodies were read to the end. */
const complete = new WeakSet<HttpClientResponse.HttpClientResponse>()

/** Whether a response's body was read to the end. */
export const isRead = (response: HttpClientResponse.HttpClientResponse): boolean => complete.has(response)

/** Reads at most `max` bytes of a body, without waiting for the rest. */
export const readBytes = (
  response: HttpClientResponse.HttpClientResponse,
  max: number
): Effect.Effect<Read, HttpClientError.HttpClientError> =>
  Effect.suspend(() => {
    const parts: Array<Uint8Array> = []
    let size = 0
    return Stream.runForEachWhile(response.stream, (chunk) =>
      Effect.sync(() => {
        size += chunk.length
        parts.push(chunk)
        return size <= max
      })).pipe(
        Effect.catchIf(({ reason }) => reason._tag === "EmptyBodyError", () => Effect.void),
        Effect.map(() => {
          const isCut = size > max
          if (!isCut) complete.add(response)
          return { bytes: Bytes.concat(parts).subarray(0, max), isCut }
        })
      )
  })

export const read = (
  response: HttpClientResponse.HttpClientResponse,
  max: number
): Effect.Effect<{ readonly text: string; readonly isCut: boolean }, HttpClientError.HttpClientError> =>
  // Most answers are small and announce their length: they need no stream.
  Number(response.headers["content-length"]) <= max && response.headers["content-encoding"] === undefined
    ? Effect.map(response.text, (text) => {
      complete.add(response)
      return { text, isCut: false }
    })
    : Effect.map(readBytes(response, max), ({ bytes, isCut }) => ({ text: new TextDecoder().decode(bytes), isCut }))

export const beginning = (response: HttpClientResponse.HttpClientResponse, max: number) =>
  Effect.map(read(response, max), ({ text }) => text)
