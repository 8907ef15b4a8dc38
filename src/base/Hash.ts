/** Digests of texts, in Node, browsers and edge functions. */
import { sha256 as digest } from "@noble/hashes/sha2.js"
import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"

const encoders = { hex: Hex.encode, base64: Base64.encode, base64url: Base64Url.encode }

/** SHA-256 of a text. Node's own is eight times as fast; elsewhere only the key of an n8n is one. */
export const sha256 = (text: string, encoding: keyof typeof encoders = "hex"): string =>
  globalThis.process?.getBuiltinModule?.("node:crypto").createHash("sha256").update(text).digest(encoding) ??
    encoders[encoding](digest(new TextEncoder().encode(text)))
