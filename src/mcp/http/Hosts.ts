/** Hosts of the server, and origins whose pages may call it (against DNS rebinding). */

/** Names by which callers may address the server. */
export interface Names {
  /** Name or address of the server. Default: the address on which it listens, and every loopback name. */
  readonly host?: string
  /** Further names; a name without a port is valid for every port. Default: none. */
  readonly allowedHosts?: ReadonlyArray<string>
  /** Origins of pages that may call the server, such as `https://app.example.com`. Default: none. */
  readonly allowedOrigins?: ReadonlyArray<string>
}

const hostHeader = /^(\[[\da-f:.]+\]|[^\s:/@?#\\]+)(?::(\d{1,5}))?$/i

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"])

/** Whether an address is reachable only from this machine. */
export const isLoopback = (host: string): boolean => loopback.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host)

const wildcard: ReadonlySet<string> = new Set(["0.0.0.0", "::"])

const bare = (host: string) => host.toLowerCase().replace(/^\[|\]$/g, "").replace(/^::ffff:(?=[\d.]+$)/, "")

/** Whether a request's `Host` is a loopback name, the server's host, the called address, or an allowed name. */
export const isOwnHost = (names: Names, header: string | undefined, calledAddress: string | undefined): boolean => {
  const [, name, port] = hostHeader.exec(header ?? "") ?? []
  if (name === undefined) return false
  const own = bare(name)
  if (wildcard.has(own)) return false
  if (loopback.has(own) || own === bare(names.host ?? "localhost") || own === bare(calledAddress ?? "")) return true
  return (names.allowedHosts ?? []).some((each) => {
    const [, allowed = "", allowedPort] = hostHeader.exec(each) ?? []
    return bare(allowed) === own && (allowedPort === undefined || allowedPort === port)
  })
}

/** Whether an origin is the server's own or an allowed one. */
export const isOwnOrigin = (names: Names, origin: string, host: string | undefined): boolean => {
  const page = origin.toLowerCase()
  return (names.allowedOrigins ?? []).some((allowed) => allowed.toLowerCase().replace(/\/$/, "") === page) ||
    /^https?:\/\//.test(page) && page.replace(/^https?:\/\//, "") === host?.toLowerCase()
}

/** Name of a header that decides about access and occurs twice: a proxy may have read the other value. */
export const ambiguous = (rawHeaders: ReadonlyArray<string>): string | undefined => {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  return ["host", "authorization"].find((name) => names.indexOf(name) !== names.lastIndexOf(name))
}
