/** Callers of the server. */

/** Caller, as far as the transport knows. */
export interface Caller {
  /** Name from the transport; the only caller over stdio has none. */
  readonly client: string | undefined
  /** Identity across all processes of the server, such as the digest of the token; absent for an only caller. */
  readonly principal?: string
  /** Name for people, such as the subject of an OAuth token; for logs and recorded changes. */
  readonly subject?: string | undefined
  /** Whether the caller may change nothing, whatever the server offers. */
  readonly readOnly?: boolean
}
