/** Forms of values. Imports nothing: starts are lean. */

/** Whether a text may be an API key: visible ASCII, as a header requires; blanks around it come from copying. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text.trim())

export const variableName = /^[A-Za-z_]\w*$/

/** Parts of a list, which commas separate. */
export const splitList = (text: string): ReadonlyArray<string> =>
  text.split(",").map((each) => each.trim()).filter((each) => each !== "")

/** Host, and perhaps its port, in front of a path; the parts of a key in the wrong variable are too long. */
const bareHost =
  /^(localhost|\[[\da-f:]+\]|\d{1,3}(?:\.\d{1,3}){3}|[a-z\d-]{1,63}(?=:\d)|(?:[a-z\d-]{1,63}\.)+[a-z]{2,24})(:\d{1,5})?(?:[/?#]|$)/i

/** The text with a scheme: http for this machine, an IP address or a port, https for other host names. */
const withScheme = (text: string) => {
  const [, host, port] = bareHost.exec(text) ?? []
  if (host === undefined) return text
  return `${port === undefined && /[a-z]$/i.test(host) && host !== "localhost" ? "https" : "http"}://${text}`
}

/** Address of n8n, or the part that is wrong. */
export const parseAddress = (text: string): URL | "scheme" | "user" => {
  const address = withScheme(text.trim())
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return "scheme"
  return url.username === "" && url.password === "" ? url : "user"
}

/** Headers of the key, the host, the body and a single connection, which a request cannot have in another form. */
const ownHeader =
  /^(?:x-n8n-api-key|host|content-.*|transfer-encoding|trailer|te|connection|keep-alive|upgrade|http2-settings|expect|proxy-.*)$/i

/** Header of requests to n8n, or the fault of its declaration `NAME=VARIABLE`. */
export const parseHeader = (
  pair: string,
  variables: { readonly [name: string]: string | undefined }
): { readonly name: string; readonly value: string } | string => {
  const [, header, variable] = /^([!#$%&'*+.^_`|~\w-]+)=([A-Za-z_]\w*)$/.exec(pair) ?? []
  if (header === undefined || variable === undefined) {
    return "write it as CF-Access-Client-Id=CF_ID, the name of a header and that of a variable with its value"
  }
  if (ownHeader.test(header)) return `'${header}' belongs to the request or its connection, and cannot be set`
  const value = Object.hasOwn(variables, variable) ? variables[variable]?.trim() : undefined
  if (value === undefined || value === "") return `${variable} is not set`
  if (!/^[\t\x20-\x7e]*$/.test(value)) return `${variable} has a character that no header may have`
  return { name: header.toLowerCase(), value }
}
