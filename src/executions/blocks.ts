/** Bytes compressed in blocks, so that reading a part unpacks only its blocks. */
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"

const blockBytes = 1024 * 1024

/** Compressed bytes, readable in parts; `length` is their uncompressed size, `size` the compressed one. */
export type Blocks = ReturnType<Writer["end"]>

/** About 2 ms for a block: on another thread it would be ready later, and at a moment that no test clock controls. */
const pack = (block: Uint8Array): Uint8Array =>
  zstdCompressSync(block, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })

/** Cache of the blocks unpacked last: passes over small parts, also of two bodies side by side, unpack each block once. */
let recent: ReadonlyArray<{ readonly packed: Uint8Array; readonly unpacked: Uint8Array }> = []

const remember = (block: typeof recent[number]) => {
  if (block !== recent[0]) recent = [block, ...recent.filter((each) => each !== block).slice(0, 1)]
  return block.unpacked
}

const unpack = (packed: Uint8Array): Uint8Array =>
  remember(
    recent.find((each) => each.packed === packed) ??
      { packed, unpacked: zstdDecompressSync(packed, { chunkSize: blockBytes }) }
  )

/** Compresses a stream of bytes, a block at a time. */
export class Writer {
  readonly #block = new Uint8Array(blockBytes)
  #filled = 0
  #length = 0
  readonly #packed: Array<Uint8Array> = []

  write(chunk: Uint8Array): void {
    let from = 0
    while (from < chunk.length) {
      const part = chunk.subarray(from, from + blockBytes - this.#filled)
      this.#block.set(part, this.#filled)
      this.#filled += part.length
      this.#length += part.length
      from += part.length
      if (this.#filled === blockBytes) this.#flush()
    }
  }

  #flush() {
    this.#packed.push(pack(this.#block.subarray(0, this.#filled)))
    this.#filled = 0
  }

  end() {
    const packed = this.#packed
    const length = this.#length
    const last = this.#block.subarray(0, this.#filled)
    if (last.length > 0) {
      this.#flush()
      // Most executions are smaller than a block, and are read then.
      remember({ packed: packed.at(-1) ?? last, unpacked: last })
    }
    return {
      length,
      size: packed.reduce((sum, block) => sum + block.length, 0),
      /** Bytes of a range: a view if they are in one block, which is retained as long as the view. */
      read: (start: number, end: number): Uint8Array => {
        const first = Math.floor(start / blockBytes)
        const only = end > start && Math.floor((Math.min(end, length) - 1) / blockBytes) === first
          ? packed[first]
          : undefined
        if (only !== undefined) return unpack(only).subarray(start - first * blockBytes, end - first * blockBytes)
        const result = new Uint8Array(Math.max(0, Math.min(end, length) - start))
        for (let at = start; at < start + result.length;) {
          const index = Math.floor(at / blockBytes)
          const block = packed[index]
          if (block === undefined) break
          const part = unpack(block).subarray(at % blockBytes, at % blockBytes + start + result.length - at)
          result.set(part, at - start)
          at += part.length
        }
        return result
      }
    }
  }
}
