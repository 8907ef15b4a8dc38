import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync } from "node:fs"
import { marker, mayHold, places, redact, redactText } from "../../src/base/Redact.ts"
import { rounds } from "../support/seed.ts"
import { costly } from "./costly.ts"

const under = (key: string, value: unknown = "Hunter2") => redact({ [key]: value })[key]

/** Built, not written out: a secret in full would be caught by the scanners of whoever hosts this repository. */
const fill = (length: number) => "aB3dE5gH7j".repeat(Math.ceil(length / 10)).slice(0, length)
const hex = (length: number) => "0a1b2c3d4e5f".repeat(Math.ceil(length / 12)).slice(0, length)

describe("keys", () => {
  it("redacts a string under a credential's name in any case", () => {
    const names = [
      "authorization Authorization AUTHORIZATION proxy-authorization cookie cookies set-cookie Set-Cookie2",
      "apikey apiKey APIKey APIkey api_key API_KEY x-api-key X-N8N-API-KEY apiKeys openAiApiKey xApiKey2 api.key",
      "token access_token accessToken refreshToken resumeToken idToken x-auth-token csrf-token X-CSRFToken botToken",
      "csrfmiddlewaretoken accesstoken AccessTOken tokenValue token2 accessTokens tokenHash x-amz-security-token",
      "password passwd pwd passphrase Password PASSWORD passWord db_password userPwd password2 passwordHash",
      "passwordConfirmation newPassword pass SMTP_PASS user_pass PGPASSWORD sshPassword passcode",
      "secret secrets client_secret clientSecret secretKey secretAccessKey AWS_SECRET_ACCESS_KEY appSecret webhookSecret",
      "privateKey private_key privateKeyPassphrase accessKey signingKey signing_key_primary encryptionKey masterKey",
      "X-Goog-Encryption-Key serversideEncryptionCustomerKey Ocp-Apim-Subscription-Key consumerKey AccountKey authKey",
      "bearer jwt sessionToken JSESSIONID PHPSESSID credential credentials auth X-Auth basicAuth",
      "authorizationHeader user[password] ContentDeliveryaccessToken"
    ].join(" ").split(" ")
    for (const name of [...names, "api key", "Client Secret", "user.password"]) {
      assert.strictEqual(under(name), marker, name)
    }
  })

  it("keeps values under names that only mention a secret", () => {
    const names = [
      "authentication authenticated authType author authority nodeCredentialType genericAuthType credentialId tokenType",
      "maxTokens max_tokens totalTokens total_tokens promptTokens completion_tokens tokens tokenUsage tokenCount tokenizer",
      "token_type tokenUrl accessTokenUrl tokenExpiresIn tokenName secretName secretId passwordReset passwordPolicy",
      "password_needs_reset forceChangePassword isPasswordProtected cookieConsent cookieName cookiePolicy bypass compass",
      "key keys primaryKey sortKey partitionKey publicKey routingKey keyName keyboard monkey issueKey sessionKey",
      "deduplicationKey sessionId session_id sessionIdType session sessions passed passenger passengers testPass boardingPass firstPass",
      "signature design assignee accountSid messageSid secretary keyValue hash value path webhookId",
      "nextPageToken pageToken page_token nextToken next_token nextSyncToken syncToken continuationToken pagetoken",
      "nextpagetoken drivePageToken deltaToken $skiptoken startPageToken maxToken costPerToken eos_token"
    ].join(" ").split(" ")
    for (const name of names) assert.strictEqual(under(name), "Hunter2", name)
  })

  it("keeps anything but strings, and strings that are not secrets", () => {
    for (
      const value of [7, 0, true, false, null, "", "none", "accessToken", "headerAuth", "undefined", "true", marker]
    ) {
      assert.strictEqual(under("token", value), value)
    }
    for (const value of ["={{ $json.token }}", "=Bearer {{ $('Login').item.json.token }}"]) {
      assert.strictEqual(under("authorization", value), value)
    }
    assert.strictEqual(under("authorization", "Bearer undefined"), "Bearer undefined")
  })

  it("redacts a literal typed in expression mode, and known shapes inside expressions", () => {
    assert.strictEqual(under("password", "=hunter2"), marker)
    assert.strictEqual(under("token", `={{ $json.a || "ghp_${fill(36)}" }}`), `={{ $json.a || "${marker}" }}`)
  })

  it("redacts the elements of lists and visits objects", () => {
    assert.deepStrictEqual<unknown>(redact({ "set-cookie": ["a=b", ["c=d"], 5, { id: "x" }] }), {
      "set-cookie": [marker, [marker], 5, { id: "x" }]
    })
    const node = { credentials: { httpHeaderAuth: { id: "uC4Zr", name: "API Token" } }, token: { type: "x", limit: 5 } }
    assert.strictEqual(redact(node), node)
    assert.strictEqual(redact("plain"), "plain")
    assert.strictEqual(redact(undefined), undefined)
  })
})

/** Every way n8n's nodes store a name beside a value. */
const parameters = (value: string) => ({
  headerParameters: { parameters: [{ name: "X-Api-Key", value }, { name: "Accept", value: "text/html" }] },
  queryParameters: { parameters: [{ name: "access_token", value }, { name: "maxTokens", value: "5" }] },
  assignments: { assignments: [{ id: "1", name: "password", value, type: "string" }] },
  values: { string: [{ name: "secret", value }], number: [{ name: "token", value: 5 }] },
  fields: { values: [{ name: "clientSecret", stringValue: value, type: "stringValue" }] },
  list: [{ key: "Authorization", value }, { header: "Cookie", value: [value, value] }, { headerName: "jwt", value }]
})

describe("name and value", () => {
  it("redacts the value next to a credential's name, as n8n's nodes store pairs", () => {
    assert.deepStrictEqual<unknown>(redact(parameters("Hunter2")), {
      ...parameters(marker),
      list: [
        { key: "Authorization", value: marker },
        { header: "Cookie", value: [marker, marker] },
        { headerName: "jwt", value: marker }
      ]
    })
    const expressions = parameters("={{ $json.secret }}")
    assert.strictEqual(redact(expressions), expressions)
  })

  it("keeps values next to other names, and names without a value", () => {
    const value = [{ name: "Content-Type", value: "text/html" }, { id: "1", name: "API Token" }, { value: "token" }]
    assert.strictEqual(redact(value), value)
  })
})

/** [what, a text with secrets, what remains of it] */
const hits: ReadonlyArray<readonly [string, string, string]> = [
  ["OpenAI", `key sk-${fill(40)}.`, `key ${marker}.`],
  ["OpenAI project", `"sk-proj-${fill(40)}"`, `"${marker}"`],
  ["Anthropic", `sk-ant-api03-${fill(40)}`, marker],
  ["GitHub", `ghp_${fill(36)} gho_${fill(36)} ghs_${fill(36)}`, `${marker} ${marker} ${marker}`],
  ["GitHub fine-grained", `github_pat_${fill(22)}_${fill(30)}`, marker],
  ["GitLab", `glpat-${fill(20)}`, marker],
  ["Slack", `xoxb-${fill(12)} xoxp-1-2-${fill(12)} xapp-1-${fill(12)}`, `${marker} ${marker} ${marker}`],
  ["Slack webhook", `https://hooks.slack.com/services/T0/B0/${fill(24)}`, `https://hooks.slack.com/services/${marker}`],
  [
    "Discord webhook",
    `https://discord.com/api/webhooks/12/${fill(60)}`,
    `https://discord.com/api/webhooks/12/${marker}`
  ],
  ["Discord", `M${fill(25)}.${fill(6)}.${fill(27)}`, marker],
  ["AWS", `AKIA${"A1".repeat(8)} (ASIA${"B2".repeat(8)})`, `${marker} (${marker})`],
  ["Google", `AIza${fill(35)} ya29.${fill(40)} GOCSPX-${fill(28)}`, `${marker} ${marker} ${marker}`],
  ["Stripe", `sk_live_${fill(24)} rk_live_${fill(24)} whsec_${fill(32)}`, `${marker} ${marker} ${marker}`],
  ["SendGrid", `SG.${fill(22)}.${fill(43)}`, marker],
  ["Twilio", `SK${hex(32)}`, marker],
  ["Telegram", `https://api.telegram.org/bot123456789:AA${fill(33)}/x`, `https://api.telegram.org/${marker}/x`],
  ["Notion", `ntn_${fill(46)} secret_${fill(43)}`, `${marker} ${marker}`],
  ["Airtable", `pat${fill(14)}.${hex(64)}`, marker],
  ["HubSpot", `pat-eu1-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`, marker],
  ["Shopify", `shpat_${hex(32)}`, marker],
  ["npm and PyPI", `npm_${fill(36)} pypi-${fill(60)}`, `${marker} ${marker}`],
  ["models", `hf_${fill(34)} gsk_${fill(52)} xai-${fill(80)}`, `${marker} ${marker} ${marker}`],
  ["JWT", `eyJ${fill(20)}.eyJ${fill(30)}.${fill(43)}`, marker],
  [
    "PEM",
    `-----BEGIN RSA PRIVATE KEY-----\n${fill(64)}\n-----END x`,
    `-----BEGIN RSA PRIVATE KEY-----${marker}-----END x`
  ],
  [
    "PEM with headers, cut",
    `"-----BEGIN PRIVATE KEY-----\\nDEK-Info: AES-128-CBC\\n\\n${fill(64)}`,
    `"-----BEGIN PRIVATE KEY-----${marker}`
  ],
  ["Bearer", "got Bearer canary-webhook-token, bearer abc12345", `got Bearer ${marker}, bearer ${marker}`],
  [
    "Basic, short",
    "Basic YWI6Y2Qx, got Basic YWI6Y2Q= back, Basic YQ==",
    `Basic ${marker}, got Basic ${marker} back, Basic ${marker}`
  ],
  ["Basic, in its header", "Proxy-Authorization: Basic YTpi", `Proxy-Authorization: Basic ${marker}`],
  ["Basic", "Basic dXNlcjpwYXNz, Basic dXNlcjpwYXNzdw==", `Basic ${marker}, Basic ${marker}`],
  ["Authorization", "-H 'Authorization: token abc123'", `-H 'Authorization: token ${marker}'`],
  ["Cookie", "-H \"Cookie: a=b; c=d\" x", `-H "Cookie: ${marker}" x`],
  ["X-Api-Key", "curl -H 'X-Api-Key: abc' x", `curl -H 'X-Api-Key: ${marker}' x`],
  ["userinfo", "postgres://me:p@ss@db:5432/x", `postgres://me:${marker}@db:5432/x`],
  ["userinfo, a token as user", `https://ghp_${fill(36)}:x@github.com`, `https://${marker}:${marker}@github.com`],
  ["userinfo, no user", "redis://:pw@h", `redis://:${marker}@h`],
  [
    "query",
    "GET https://a.io/x?api_key=abc&q=1&token=d%20e#f",
    `GET https://a.io/x?api_key=${marker}&q=1&token=${marker}#f`
  ],
  [
    "encoded name",
    "https://a.io?api%5Fkey=abc&user%5Bpassword%5D=x",
    `https://a.io?api%5Fkey=${marker}&user%5Bpassword%5D=${marker}`
  ],
  ["signature", "http://n8n/webhook-waiting/7?signature=ab12", `http://n8n/webhook-waiting/7?signature=${marker}`],
  ["fragment", "https://a.io/#access_token=abc", `https://a.io/#access_token=${marker}`],
  [
    "form",
    "grant_type=password&password=abc&client_secret=x",
    `grant_type=password&password=${marker}&client_secret=${marker}`
  ],
  ["connection string", "Server=x;Password=abc;Encrypt=true", `Server=x;Password=${marker};Encrypt=true`],
  ["environment", "export API_KEY=abc && curl --token=abc x", `export API_KEY=${marker} && curl --token=${marker} x`],
  [
    "expression with a literal",
    "=https://a.io/{{ $json.id }}?token=abc",
    `=https://a.io/{{ $json.id }}?token=${marker}`
  ],
  [
    "JSON",
    "{\"user\": \"bob\", \"password\": \"a\\\"b\\\\\", \"n\": 1}",
    `{"user": "bob", "password": "${marker}", "n": 1}`
  ],
  ["JSON after a colon", "error: \"password\": \"a\" is bad", `error: "password": "${marker}" is bad`],
  ["JSON, escaped", "{\\\"token\\\":\\\"a\\\\\\\"b\\\",\\\"n\\\":1}", `{\\"token\\":\\"${marker}\\",\\"n\\":1}`],
  ["JSON, cut", "{\"password\":\"abc", `{"password":"${marker}`],
  [
    "JSON of many",
    "{\"a\":\"b\",\"apiKey\":\"c\",\"d\":\"e\",\"pwd\":\"f\"}",
    `{"a":"b","apiKey":"${marker}","d":"e","pwd":"${marker}"}`
  ],
  [
    "JavaScript",
    "const apiKey = 'abc'; h['X-Api-Key'] = \"d\"",
    `const apiKey = '${marker}'; h['X-Api-Key'] = "${marker}"`
  ],
  ["JavaScript object", "{ apiKey: 'abc', id: 'x' }", `{ apiKey: '${marker}', id: 'x' }`]
]

const misses: ReadonlyArray<string> = [
  `sk-${fill(10)} task-${fill(30)} sk-circle-fade-dot-animation`,
  `ghp_${fill(10)} xghp_${fill(36)} glpat-${fill(5)} github_pat_x`,
  "xoxb-short xapp-x https://hooks.slack.com/docs https://discord.com/api/webhooks/12",
  `AKIA${"A1".repeat(4)} AKIA${"A1".repeat(12)} AIza${fill(10)} ya29.x`,
  `sk_live_x pk_live_${fill(24)} whsec_x SG.a.b SK${hex(20)} AC${hex(32)}`,
  `12:AA${fill(33)} 123456789:BB${fill(33)} M${fill(5)}.${fill(6)}.${fill(27)}`,
  `ntn_x secret_santa pat.${hex(64)} pat-eu1-x shpat_x npm_config hf_x pypi-server gsk_x`,
  `eyJ${fill(20)}.x.y eyJ${fill(20)}`,
  "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY----- \"-----BEGIN PRIVATE KEY-----\"",
  "Bearer authentication, a bearer token-based scheme, Bearer realm=\"x\", Bearer {{ $json.token }}, `Bearer ${token}`",
  "Basic authentication, basic subscription, Basic Subscription, Basic JavaScript",
  "Authorization: header is required. Cookie: none. Unexpected token: } in JSON. Invalid token: expected string",
  "{ Authorization: token, cookie: req.headers.cookie }",
  "https://user@host/a:b@c http://localhost:3000/@x https://me:{{$json.pw}}@host Cookie: a={{ $json.c }}",
  "https://a.io/?page=2&pageToken=abc&maxTokens=5&tokenType=x&key=v&token=&token={{ $json.token }}&token=undefined",
  "{\"password\": \"{{ $json.pw }}\", \"token\": {{ JSON.stringify($json.t) }}, \"token\": \"\", \"apiKey\": 5}",
  "={{ $json.url + '?token=' + $json.token }} {{ $json.token == 'x' }} url + \"token=\" + token",
  "if (token === \"abc\") return token; const f = token=>call(token)",
  "The password is wrong: \"tokenUsage\": \"12\", \"secretName\": \"x\""
]

describe("text", () => {
  it.each(hits)("%s", (_, text, expected) => {
    assert.strictEqual(redactText(text), expected)
    assert.deepStrictEqual(redact([{ message: text }]), [{ message: expected }])
  })

  it.each(misses)("keeps: %s", (text) => {
    assert.strictEqual(redactText(text), text)
  })
})

describe("recorded answers of n8n", () => {
  const folder = new URL("../fixtures/", import.meta.url)
  const canary = /canary-webhook-token|sk-live-canary|sk-secret-\d|"resumeToken":"[0-9a-f]/

  it.each(readdirSync(folder).filter((name) => name.startsWith("execution-")))("%s", (name) => {
    const text = readFileSync(new URL(name, folder), "utf8")
    assert.match(text, canary)
    const before: unknown = JSON.parse(text)
    const after = redact(before)
    assert.notMatch(JSON.stringify(after), canary)
    assert.deepStrictEqual(before, JSON.parse(text))
    // Nothing but the canaries' places differs.
    const places = JSON.stringify(after).split(marker).length - 1
    const secrets =
      text.match(/"(?:authorization|token|resumeToken)":"|"Authorization","value":"|token:'sk-secret-'/g) ?? []
    assert.strictEqual(places, secrets.length)
  })

  it.each(readdirSync(folder).filter((name) => name.startsWith("workflow-")))("%s keeps its shape", (name) => {
    const before: unknown = JSON.parse(readFileSync(new URL(name, folder), "utf8"))
    assert.deepStrictEqual(shape(redact(before)), shape(before))
  })
})

/** The value with every string emptied. */
const shape = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner) => (Predicate.isString(inner) ? "" : inner)))

/** What the patterns look for, in pieces, so that random strings meet their seams. */
const pieces = [
  "= : \" \\\" ' & ? # ; . / - _ \\ [ ] {{ }} @ :// %5D ]= x 9 token password next sk- ghp_ eyJ -----END".split(" "),
  [" ", "\n", ": ", "Bearer ", "Basic ", "Cookie: ", "X-Api-Key: ", "Authorization: ", "-----BEGIN PRIVATE KEY-----"],
  [marker, fill(36)]
].flat()

const Seams = Arbitrary.schema(Schema.Array(Schema.Literals(pieces))).pipe(Arbitrary.map((some) => some.join("")))

const Json = Arbitrary.schema(Schema.Json)

/** Credential-like keys in every usual casing. */
const SecretKey = Arbitrary.schema(Schema.Struct({
  first: Schema.Literals(["", "my", "x", "n8n", "google", "old", "user", "web hook"]),
  noun: Schema.Literals(["token", "password", "api key", "client secret", "authorization", "cookie", "private key"]),
  last: Schema.Literals(["", "2", "value", "hash"]),
  casing: Schema.Literals(["camel", "pascal", "snake", "kebab", "scream", "words"])
})).pipe(Arbitrary.map(({ casing, first, last, noun }) => {
  const words = `${first} ${noun} ${last}`.trim().split(/\s+/)
  const capitals = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  return {
    camel: [...words.slice(0, 1), ...capitals.slice(1)].join(""),
    pascal: capitals.join(""),
    snake: words.join("_"),
    kebab: words.join("-"),
    scream: words.join("_").toUpperCase(),
    words: words.join(" ")
  }[casing]
}))

/** A value put somewhere inside a random one, by a path that is random too. */
const bury = (inside: Schema.Json, value: Schema.Json, path: ReadonlyArray<number>): Schema.Json =>
  path.reduceRight<Schema.Json>(
    (inner, step) => (step % 2 === 0 ? [inside, inner, step] : { [`k${step}`]: inner, other: inside }),
    value
  )

const Path = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })))
const many = { arbitrary: { runs: rounds(300) } }

describe("properties", () => {
  it.prop("a second pass over JSON returns the same reference", {
    json: Json,
    key: SecretKey,
    text: Seams
  }, (_) => {
    const once = redact({ [_.key]: _.json, deep: [_.json, { [_.key]: _.text, plain: _.text }] })
    assert.strictEqual(redact(once), once)
  }, many)

  // Seeded: once in millions of such strings the marker itself completes a name, and a second pass redacts more.
  it.prop("a second pass over text changes nothing", { text: Seams }, ({ text }) => {
    const once = redactText(text)
    assert.strictEqual(redactText(once), once)
  }, { arbitrary: { runs: rounds(3000), size: 30, seed: "seams" } })

  it.prop("keeps the shape, and every number, boolean and null", { json: Json, key: SecretKey }, ({ json, key }) => {
    const value = { [key]: json, pair: { name: key, value: json } }
    assert.deepStrictEqual(shape(redact(value)), shape(value))
  }, many)

  it.prop("never mutates", { json: Json, key: SecretKey }, ({ json, key }) => {
    const value = { a: [{ [key]: "x" }, json] }
    const before = structuredClone(value)
    redact(value)
    assert.deepStrictEqual(value, before)
  }, many)

  it.prop("no canary under a credential's name survives at any depth", {
    inside: Json,
    key: SecretKey,
    path: Path
  }, ({ inside, key, path }) => {
    const canary = "tweety7"
    const held: ReadonlyArray<Schema.Json> = [
      { [key]: canary },
      { [key]: [canary, [canary]] },
      { name: key, value: canary },
      { key, value: [canary] },
      { body: JSON.stringify({ [key]: canary, [`${key} 3`]: `a"${canary}\\` }) },
      { body: JSON.stringify(JSON.stringify({ [key]: `a"${canary}` })) },
      { message: `failed: GET https://a.io/x?${encodeURIComponent(key)}=${canary}&b=c` },
      `${encodeURIComponent(key)}=${canary}`
    ]
    for (const value of held) {
      const buried = bury(inside, value, path)
      assert.include(JSON.stringify(buried), canary)
      assert.notInclude(JSON.stringify(redact(buried)), canary)
    }
  }, many)

  it.prop("reports the place of each secret, nothing else, and never its value", {
    json: Json,
    key: SecretKey
  }, ({ json, key }) => {
    assert.strictEqual(places(json).length === 0, redact(json) === json)
    const secret = fill(40)
    const holder = { list: [{ [key]: secret }], plain: "x" }
    assert.lengthOf(places(holder), 1)
    assert.deepStrictEqual(places(holder)[0]?.slice(0, 2), ["list", 0])
    assert.notInclude(places(holder)[0] ?? [], secret)
  })

  it.prop("a value without secrets is the same reference", { json: Json, path: Path }, ({ json, path }) => {
    const clean = redact(json)
    const value = bury(clean, { maxTokens: "5", list: [clean] }, path)
    assert.strictEqual(redact(value), value)
  }, many)

  it.prop(
    "JSON that cannot hold a secret is not changed",
    { json: Json, key: SecretKey, text: Seams, path: Path },
    (_) => {
      for (const value of [_.text, { [_.text]: 1 }, [_.json, `9\n${_.text}`], { name: _.key, value: _.text }]) {
        const buried = bury(1, value, _.path)
        assert.isTrue(mayHold(JSON.stringify(buried)) || redact(buried) === buried, JSON.stringify(buried))
      }
      assert.isTrue(mayHold(JSON.stringify(bury(_.json, { [_.key]: "Hunter2" }, _.path))))
    },
    { arbitrary: { runs: rounds(3000), size: 12, seed: "seams" } }
  )

  it("recognizes JSON without secrets, whatever its words", () => {
    const item = {
      id: "550e8400-e29b-41d4-a716-446655440000",
      at: "2026-11-21T20:59:48.835Z",
      page: "https://shop.example.com/customers/7?page=2#top",
      note: "The author of the design \"assessed\" key passengers,\nnext: 12345678901234567890",
      total: 1234567890123456.5,
      maxTokens: 5
    }
    for (const some of [item, [item, item], { item, last: 1e300 }]) assert.isFalse(mayHold(JSON.stringify(some)))
    assert.isTrue(mayHold("\"p\\u0061ssword\""))
  })

  it("shares unchanged parts", () => {
    const value = { kept: { a: [1] }, changed: [{ token: "x" }, { b: 1 }] }
    const after = redact(value)
    assert.strictEqual(after.kept, value.kept)
    assert.strictEqual(after.changed[1], value.changed[1])
    assert.deepStrictEqual(after.changed[0], { token: marker })
  })

  it("keeps a __proto__ key an own key", () => {
    const after: object = redact(JSON.parse("{\"__proto__\":{\"token\":\"x\"},\"password\":\"y\"}"))
    assert.strictEqual(JSON.stringify(after), `{"__proto__":{"token":"${marker}"},"password":"${marker}"}`)
  })
})

const nest = (leaf: unknown, depth: number): unknown => {
  let value = leaf
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { token: value } : [value]
  return value
}

describe("finds what is behind", () => {
  // `pnpm bench growth` measures the time; a quadratic pattern would not end here.
  it.each(costly)("2 MB of %j", (piece) => {
    const text = piece.repeat(2_000_000 / piece.length)
    assert.notInclude(redactText(`${text}\n{"password": "Hunter2x9"}`), "Hunter2x9")
    assert.isTrue(mayHold(JSON.stringify([text, { password: "Hunter2x9" }])))
    assert.deepInclude(redact({ [text]: `?token=${text}`, password: "Hunter2x9" }) as object, { password: marker })
  })

  it("10 MB of items", () => {
    const items = Array.from({ length: 50_000 }, (_, id) => ({
      json: { id, email: `user${id}@example.com`, body: "lorem ipsum dolor sit amet ".repeat(4), token: `t${id}` },
      pairedItem: { item: 0 }
    }))
    assert.isFalse(JSON.stringify(redact(items).at(-1)).includes("t49999"))
  })

  it("nesting deeper than the stack", () => {
    const plain = nest({ id: "x" }, 100_000)
    assert.strictEqual(redact(plain), plain)
    let inner = redact(nest("x", 100_000))
    while (Predicate.isObject(inner) || Array.isArray(inner)) inner = Object.values(inner)[0]
    assert.strictEqual(inner, marker)
  })
})
