/** Texts that look like secrets again and again: a pattern of redaction that backtracks takes too long on them. */
export const costly: ReadonlyArray<string> = [
  "a - \\ \" ' {a = : [ sk- eyJaaaaaaaaa. Bearer :// ://a: token= &token ?token={{ \"token\": x-key 1 AKIA tokenA"
    .split(" "),
  [" ", "\"password\":\"", "password: '", "-----BEGIN PRIVATE KEY-----a-", "token value ", "cookie: a=b "]
].flat()
