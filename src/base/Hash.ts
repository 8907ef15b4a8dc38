/** Digests of texts. */
import { type BinaryToTextEncoding, createHash } from "node:crypto"

export const sha256 = (text: string, encoding: BinaryToTextEncoding = "hex"): string =>
  createHash("sha256").update(text).digest(encoding)
