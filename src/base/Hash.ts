/** Digests of texts. */
import { type BinaryToTextEncoding, createHash } from "node:crypto"

/** SHA-256 of a text. */
export const sha256 = (text: string, encoding: BinaryToTextEncoding = "hex"): string =>
  createHash("sha256").update(text).digest(encoding)
