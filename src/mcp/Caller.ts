/** Who calls. */

/**
 * Who is at the other end, as far as the transport knows.
 *
 * @category models
 * @since 0.1.0
 */
export interface Caller {
  /** The transport's name for them; over stdio there is one caller only, without a name. */
  readonly client: string | undefined
  /** Who they are to every process of the server, such as the digest of their token; absent for the only one. */
  readonly principal?: string
  /** Who they are to people, such as the subject of an OAuth token; for logs, and for what is kept of a change. */
  readonly subject?: string | undefined
  /** They may change nothing, whatever the server offers. */
  readonly readOnly?: boolean
}
