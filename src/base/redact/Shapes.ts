/** Secrets that are recognized without a name: by their shape, or by the text before them. */
import * as Predicate from "effect/Predicate"
import { marker } from "./Names.ts"

/** Secrets by their shape, replaced as a whole; prefixes and lengths of the issuers, many as in gitleaks (MIT). */
const shapes = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek, Langfuse; groups of digits and capitals are numbers of orders
  /sk-(?!\d{1,8}-|(?:[A-Z\d]{1,20}-){1,8}[A-Z\d]{1,20}(?![\w-]))(?=[\w-]*\d)(?=[\w-]*(?:[A-Z]|[a-z\d]{16})|lf-[\da-f]{8}-)[\w-]{16,}/,
  /gh[pousr]_[A-Za-z\d]{20,}|github_pat_\w{20,}/, // GitHub
  /gl(?:pat|ptt|dt|rt|ft|cbt|imt|agent|oas|soat|ffct)-[\w-]{20,}/, // GitLab
  /xox[abeoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,}/, // Slack
  /(?:AKIA|ASIA|ABIA|ACCA)[A-Z\d]{16}(?![\w-])|ABSK[A-Za-z\d+/]{40,}/, // AWS
  /AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|1\/\/0[\w-]{30,}/, // Google
  /[rs]k_(?:org_)?(?:live|test|prod)_\w{10,}|whsec_[\w+/=]{16,}/, // Stripe
  /SG\.[\w-]{16,}\.[\w-]{16,}|xkeysib-[\da-f]{64}-\w{16}/, // SendGrid, Brevo
  /SK[\da-f]{32}(?![\w-])/, // Twilio
  /key-[\da-f]{32}(?![\w-])|[\da-f]{32}-[\da-f]{8}-[\da-f]{8}(?![\w-])|[\da-f]{32}-us\d\d?(?![\w-])/, // Mailgun, Mailchimp
  /(?:bot)?\d{8,10}:AA[\w-]{30,}/, // Telegram
  /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}/, // Discord
  /ntn_[A-Za-z\d]{30,}|secret_[A-Za-z\d]{40,}|lin_(?:api|oauth)_[A-Za-z\d]{32,}/, // Notion, Linear
  /pat[A-Za-z\d]{14}\.[\da-f]{64}(?![\w-])/, // Airtable
  /pat-[a-z]{2}\d-[\da-f-]{36}(?![\w-])|PMAK-[\da-f]{24}-[\da-f]{34}/, // HubSpot, Postman
  /shp(?:at|ca|pa|ss|tka)_[\da-f]{32}(?![\w-])|sq0(?:atp|csp)-[\w-]{22,}|EAAA[\w-]{56,}/, // Shopify, Square
  /EAA[A-Z][A-Za-z\d]{60,}/, // Facebook, Instagram, WhatsApp
  /AT(?:ATT|CTT|BB)[\w=-]{20,}/, // Atlassian
  /dapi[\da-f]{32}(?:-\d)?(?![\w-])|do[opr]_v1_[\da-f]{64}/, // Databricks, DigitalOcean
  /sb[pv]_[\da-f]{40}|sb_secret_[\w-]{20,}|hv[sbr]\.[\w-]{24,}|s\.(?=\w*\d)[A-Za-z\d]{24}(?![\w-])/, // Supabase, Vault
  /glsa_[A-Za-z\d]{32}_[\da-f]{8}|glc_[A-Za-z\d+/]{32,}=*/, // Grafana
  /sk_[\da-f]{48}(?![\w-])|r8_[A-Za-z\d]{30,}|fc-[\da-f]{32}(?![\w-])|tvly-[\w-]{20,}/, // ElevenLabs, Replicate, Firecrawl, Tavily
  /n8n_api_[\da-f]{32,}/, // n8n before its keys were JWTs
  /npm_[A-Za-z\d]{30,}|pypi-[\w-]{50,}|rubygems_[\da-f]{48}|dckr_pat_[\w-]{20,}/, // npm, PyPI, RubyGems, Docker
  /(?:hf|gsk)_[A-Za-z\d]{30,}|(?:xai|pplx)-[A-Za-z\d]{30,}/, // Hugging Face, Groq, xAI, Perplexity
  /pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}|dp\.(?:pt|st|ct|sa)\.[\w.-]{40,}|pul-[\da-f]{40}/, // PlanetScale, Doppler, Pulumi
  /sntry[su]_[\w+/=]{40,}|dt0c01\.[A-Z\d]{24}\.[A-Z\d]{64}|HRKU-[\w-]{36,}|phx_[A-Za-z\d]{30,}/, // Sentry, Dynatrace, Heroku, PostHog
  /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/, // JWT: n8n's own API keys, Supabase, most OAuth
  /nfp_[A-Za-z\d]{30,}|napi_[a-z\d]{40,}|vcp_[A-Za-z\d]{24,}|figd_[\w-]{36,}|tfp_[\w-]{40,}/, // Netlify, Neon, Vercel, Figma, Typeform
  /re_[A-Za-z\d]{8}_[A-Za-z\d]{20,}|lsv2_(?:pt|sk)_[\da-f]{32}_[\da-f]{10}|cf[au]t_[A-Za-z\d]{36,}/, // Resend, LangSmith, Cloudflare
  /CFPAT-[\w-]{40,}|CCIPAT_\w{40,}|shippo_(?:live|test)_[\da-f]{40}|AGE-SECRET-KEY-1[A-Z\d]{50,}/, // Contentful, CircleCI, Shippo, age
  /access-(?:production|development|sandbox)-[\da-f]{8}-[\da-f-]{27}(?![\w-])/ // Plaid
]

/** Openings that make the text after them a secret; the opening, the only group, remains. */
const openings = [
  /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)(?=[\w+/=\s\\:,.-]{16})[\w+/=\s\\:,.]+(?:-(?!----)[\w+/=\s\\:,.]*){0,50}/,
  /(:\/\/[^\s/?#:@"'<>]*:)(?:(?!\{\{)[^\s/?#"'<>]){1,500}(?=@)/, // https://user:password@host
  /(\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]+/,
  /(\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d+\/)[\w-]+/,
  /(\/\/hooks\.zapier\.com\/hooks\/(?:catch|standard)\/)[\w/-]+/,
  /(\/\/hook\.(?:[a-z]{2}\d\.)?make\.(?:com|celonis\.com)\/)[\w-]{16,}/,
  /(\.webhook\.office\.com\/webhookb2\/|\/\/outlook\.office\.com\/webhook\/)[\w@/-]+/,
  /(\/\/open\.(?:feishu|larksuite)\.(?:cn|com)\/open-apis\/bot\/v2\/hook\/)[\w-]+/,
  // "Bearer authentication" is prose: a token has a digit or an inner capital, or is long.
  /(\b(?:[Bb]earer|BEARER)\s+)(?:(?=[\w.~+/-]{1,200}[\dA-Z])[\w.~+/=-]{8,}|[\w.~+/=-]{20,})/,
  /(\b(?:[Bb]asic|BASIC)\s+)(?=[\w+/]+[\dA-Z+/=])(?:(?:[\w+/]{4}){2,500}(?:[\w+/]{2}==|[\w+/]{3}=)?|(?:[\w+/]{4})?(?:[\w+/]{2}==|[\w+/]{3}=))(?![\w+/=])/,
  // In its own header everything that follows is the credential, however short.
  /((?<![\w-])(?:[Pp]roxy-)?[Aa]uthorization: *(?:[Bb]asic|BASIC) +)[\w+/=-]+/,
  // Headers as curl and dumps write them. Other unquoted `name: value` pairs are more often prose than secrets.
  /((?<![\w-])(?:[Pp]roxy-)?[Aa]uthorization: *[A-Za-z-]+ +)(?=[\w.~+/-]*\d)[^\s"',\\{]{6,}/,
  /((?<![\w-])(?:[Ss]et-)?[Cc]ookie: *)[\w.%-]+=[^"'\r\n\\{]+/,
  /((?<![\w-])[Xx]-[\w-]*(?:[Kk]ey|[Tt]oken|[Ss]ecret): *)[^\s"'\\{]+/
]

/** Rare openings, each with a text that it contains. */
const rareOpenings = [
  ["SSWS", /(\bSSWS\s+)[\w-]{20,}/g], // Okta
  ["FlyV1", /(\bFlyV1\s+)[\w+/=,-]{20,}/g], // Fly.io
  ["response=\"", /(\bresponse=")[\da-f]{32,64}(?=")/g], // Digest
  ["IDENTIFIED", /(\bIDENTIFIED\s{1,9}BY\s{1,9}')(?!\{\{)[^'\r\n]{1,200}(?=')/g], // SQL
  ["PASSWORD", /(\bWITH\s{1,9}PASSWORD\s{1,9}')(?!\{\{)[^'\r\n]{1,200}(?=')/g],
  ["<input", /(<input\b(?=[^<>]{0,300}\btype=["']?password)[^<>]{0,300}?\bvalue=["'])[^"'<>{}]{1,200}/g]
] as const

const sources = (patterns: ReadonlyArray<RegExp>) => patterns.map((pattern) => pattern.source).join("|")

const shape = new RegExp(`(?<![\\w-])(?:${sources(shapes)})`, "g")
const opening = new RegExp(sources(openings), "g")

/** One of these is in every opening. */
const inOpenings = /[:/]|earer|EARER|asic|ASIC|-----BEGIN/

const isInWord = new Uint8Array(128)
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+/=:-") {
  isInWord[character.charCodeAt(0)] = 1
}

/** Length of the shortest shape; words of prose are shorter. */
const longWord = 15

/** Index of the first word as long as a secret, or -1. Skips most characters. */
export const indexOfLongWord = (text: string, from = 0): number => {
  let at = from + longWord - 1
  while (at < text.length) {
    if (isInWord[text.charCodeAt(at)] !== 1) {
      at += longWord
      continue
    }
    let start = at
    while (start > from && isInWord[text.charCodeAt(start - 1)] === 1) start--
    let end = at + 1
    while (end - start < longWord && isInWord[text.charCodeAt(end)] === 1) end++
    if (end - start === longWord) return start
    at = end + longWord
  }
  return -1
}

export const hasLongWord = (text: string): boolean => indexOfLongWord(text) !== -1

/** Redacts openings first, since the rest may have a shape, as in `https://ghp_…:x-oauth-basic@github.com`. */
export const redactKnown = (text: string): string => {
  const rare = rareOpenings.reduce(
    (redacted, [needed, pattern]) => redacted.includes(needed) ? redacted.replace(pattern, `$1${marker}`) : redacted,
    text
  )
  const opened = !inOpenings.test(rare) ? rare : rare.replace(
    opening,
    (_, ...groups: ReadonlyArray<unknown>) => `${groups.find(Predicate.isString)}${marker}`
  )
  return hasLongWord(opened) ? opened.replace(shape, marker) : opened
}
