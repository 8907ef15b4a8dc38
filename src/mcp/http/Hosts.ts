/** The server's own hosts, and the origins whose pages may call it; other pages must not (DNS rebinding). */

/** The server's names. */
export interface Names {
  /** The address to listen on. */
  readonly host: string
  /** Further names; one without a port is valid for every port. */
  readonly allowedHosts: ReadonlyArray<string>
  /** Origins of pages that may call, such as `https://app.example.com`. */
  readonly allowedOrigins: ReadonlyArray<string>
}

const hostHeader = /^(\[[\da-f:.]+\]|[^\s:/@?#\\]+)(?::(\d{1,5}))?$/i

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"])

/** Whether only this machine reaches what listens on the address. */
export const isLoopback = (host: string): boolean => loopback.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host)

/** Every address of this machine, and no name of it. */
const wildcard: ReadonlySet<string> = new Set(["0.0.0.0", "::"])

const bare = (host: string) => host.toLowerCase().replace(/^\[|\]$/g, "").replace(/^::ffff:(?=[\d.]+$)/, "")

/** Whether a request's `Host` is a name of this server: its own, the address that was called, or a listed one. */
export const isOwnHost = (names: Names, header: string | undefined, calledAddress: string | undefined): boolean => {
  const [, name, port] = hostHeader.exec(header ?? "") ?? []
  if (name === undefined) return false
  const own = bare(name)
  if (wildcard.has(own)) return false
  if (loopback.has(own) || own === bare(names.host) || own === bare(calledAddress ?? "")) return true
  return names.allowedHosts.some((each) => {
    const [, allowed = "", allowedPort] = hostHeader.exec(each) ?? []
    return bare(allowed) === own && (allowedPort === undefined || allowedPort === port)
  })
}

/** Whether the page is one of the server's own host and port, or of a listed origin. */
export const isOwnOrigin = (names: Names, origin: string, host: string | undefined): boolean => {
  if (names.allowedOrigins.some((allowed) => allowed.toLowerCase().replace(/\/$/, "") === origin.toLowerCase())) {
    return true
  }
  return /^https?:\/\//i.test(origin) && origin.replace(/^https?:\/\//i, "").toLowerCase() === host?.toLowerCase()
}

const singleHeaders = ["host", "authorization"]

/** A header that decides about access and is there twice: a proxy may have read the other one. */
export const ambiguous = (rawHeaders: ReadonlyArray<string>): string | undefined => {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  return singleHeaders.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
}
