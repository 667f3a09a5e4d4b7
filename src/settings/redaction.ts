/**
 * Removes configured credentials from messages and stored documents. It covers every form in which a private URL may
 * be written.
 */
import { parseUrl } from '../platform/urls.ts'
import { type Config, type RpcEndpoint, SETTINGS, type Setting, type SettingName } from './config.ts'

export interface Redactor {
  /** Redacts a message for people, including anything that looks like a credential. */
  text(message: string): string
  /**
   * Redacts a JSON document or a log line, which stays valid JSON; only values that cannot be ordinary words are
   * removed.
   */
  json(document: string): string
}

interface Needle {
  /** Text to search for. */
  literal: string
  mask: string
  /** Whether no ordinary value of a response can be equal to the literal. */
  distinct: boolean
}

const MASK = '***'
const MAX_ERROR_LENGTH = 300
/** Minimum lengths in characters; shorter values occur in unrelated texts by chance. */
const SHORTEST = { distinct: 8, key: 6, secret: 4 } as const

const redactors = new WeakMap<Config['values'], Redactor>()

/** Returns the redactor for every private URL and secret in the settings. */
export function redactorOf({ values }: Pick<Config, 'values'>): Redactor {
  const known = redactors.get(values)
  if (known !== undefined) return known
  const made = createRedactor(needlesOf(values))
  redactors.set(values, made)
  return made
}

/** Returns the redactor for a URL that is not a setting, such as the value of a flag. */
export const urlRedactor = (url: string): Redactor => createRedactor(urlNeedles(url))

/** Redactor without configured values; it removes only what looks like a credential by its shape. */
export const shapeRedactor: Redactor = { text: withoutShapes, json: (document) => document }

function needlesOf(values: Config['values']): Needle[] {
  const all = (Object.keys(SETTINGS) as SettingName[]).flatMap((name) => {
    const { secret, private: isPrivate, default: standard }: Setting = SETTINGS[name]
    const value = values[name]
    if (name === 'attention-urls') return (values[name] ?? []).flatMap(({ url }) => urlNeedles(url))
    if (name === 'rpc-urls') return endpointNeedles(values['rpc-urls'] ?? [])
    if (!(secret || isPrivate) || typeof value !== 'string' || value === standard) return []
    return [...(secret ? secretNeedles(value) : []), ...urlNeedles(value)]
  })
  // URLs that are published on purpose are not secret, even when another setting contains them.
  const published = [values['public-rpc-url'], values['public-url']].filter((url) => url !== undefined)
  return all.filter(({ literal }) => !published.some((url) => url.includes(literal)))
}

function createRedactor(literals: readonly Needle[]): Redactor {
  const needles = literals.flatMap(quotedForms).sort((a, b) => b.literal.length - a.literal.length)
  const inText = replacing(needles)
  const inJson = replacing(
    needles
      .filter(({ distinct }) => distinct)
      .map((needle) => ({ ...needle, literal: JSON.stringify(needle.literal).slice(1, -1) })),
  )
  return { text: (message) => withoutShapes(inText(message)), json: inJson }
}

/** Each literal is searched separately, because most texts contain none and `includes` is fast. */
function replacing(needles: readonly Needle[]): (text: string) => string {
  const unique = [...new Map(needles.map((needle) => [needle.literal, needle])).values()]
  return (text) =>
    unique.reduce(
      (rest, { literal, mask }) => (rest.includes(literal) ? rest.replaceAll(literal, () => mask) : rest),
      text,
    )
}

/** Returns every quoted form of a text: percent-encoded, decoded, HTML-escaped and with escaped slashes. */
function quotedForms({ literal, ...rest }: Needle): Needle[] {
  const encoded = percentEncoded(literal)
  const all = [
    literal,
    decoded(literal),
    encoded,
    inLowerCase(encoded),
    inLowerCase(literal),
    literal.replaceAll('&', '&amp;'),
    literal.replaceAll('/', '\\/'),
  ]
  return [...new Set(all)].filter((text) => text !== '').map((text) => ({ literal: text, ...rest }))
}

const inLowerCase = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())

/** An unpaired surrogate is replaced, because encodeURIComponent throws on it. */
const percentEncoded = (text: string) => encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'))

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function secretNeedles(secret: string): Needle[] {
  if (secret.length < SHORTEST.secret) return []
  return [{ literal: secret, mask: MASK, distinct: isDistinct(secret) }]
}

/**
 * Returns the literals of a URL: the whole URL, its parts after the host, and each part that may be a key by itself.
 */
function urlNeedles(text: string): Needle[] {
  const url = parseUrl(text)
  if (url === undefined) return []
  const below = url.pathname + url.search + url.hash
  const [, authority = url.host, tail = below] = /^[^:]+:\/\/([^/?#]*)(.*)$/s.exec(text) ?? []
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const parts = secretParts(url)
  const whole = [authority + tail, host + tail, url.host + below]
    .map((form) => form.replace(/\/$/, ''))
    .filter((form) => form !== host && form !== url.host)
    .flatMap((form) => [form, `${form}/`])
    .map((literal) => ({ literal, mask: `${url.host}/${MASK}`, distinct: true }))
  const tails = [below, tail, url.pathname, url.search.slice(1)]
    .flatMap((form) => [form, form.replace(/\/$/, '')])
    .filter((form) => form.length >= SHORTEST.distinct)
    .map((literal) => ({
      literal,
      mask: MASK,
      distinct: parts.some((part) => isDistinct(part) && literal.includes(part)),
    }))
  const alone = parts
    .filter((part) => part.length >= SHORTEST.key && !isWord(part))
    .map((literal) => ({ literal, mask: MASK, distinct: isDistinct(literal) && !looksLikeAddress(literal) }))
  return [...whole, ...tails, ...alone, ...userNeedles(url)]
}

/** Returns the literals of endpoints: their URLs, and the values of their headers, whole and by word (`Bearer …`). */
function endpointNeedles(endpoints: readonly RpcEndpoint[]): Needle[] {
  return endpoints.flatMap(({ url, headers }) => [
    ...urlNeedles(url),
    ...Object.values(headers).flatMap((text) => [text, ...text.split(' ')].flatMap(headerNeedles)),
  ])
}

/** A word such as `Bearer` or `true` is not a secret, and occurs in other texts. */
const headerNeedles = (text: string): Needle[] => (/^[A-Za-z]{1,7}$/.test(text) ? [] : secretNeedles(text))

/** Returns path segments, query values and the fragment exactly as written in the URL. */
function secretParts({ pathname, search, hash }: URL): string[] {
  const values = search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
  return [...pathname.split('/'), ...values, hash.slice(1)].filter((part) => part !== '')
}

function userNeedles({ username, password }: URL): Needle[] {
  if (username === '' && password === '') return []
  const basic = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  // Without a password, the user name is the key.
  const key = password === '' ? username : password
  return [`${username}:${password}`, basic, key].flatMap(secretNeedles)
}

/** Matches ordinary words, hyphenated words and versions, such as `v1`, `mainnet-beta` and `finalized`. */
const isWord = (text: string) =>
  /^(?:v?\d{1,4}|[a-z]{1,12}\d{0,3}(?:[-_.](?:[a-z]{1,12}\d{0,3}|v?\d{1,3}))*)$/.test(text)
const isDistinct = (text: string) => text.length >= SHORTEST.distinct && !isWord(text) && !/^\d+$/.test(text)
/** Addresses are not masked in JSON, because a mint in the URL of a price source also appears in many responses. */
const looksLikeAddress = (text: string) => /^[1-9A-HJ-NP-Za-km-z]{43,44}$/.test(text)

/** Quantifiers are bounded, because a message may contain a megabyte of text from another party. */
function withoutShapes(text: string): string {
  return text
    .replace(/:\/\/[^\s/@]+@/g, '://***@')
    .replace(/([?&][^=&?\s]{0,64}(?:key|token|secret)[^=&?\s]{0,64}=)[^&\s]+/gi, '$1***')
    .replace(/svc_(live|test)_[0-9A-Za-z]+/g, 'svc_$1_***')
    .replace(/whsec_[0-9A-Za-z+/]+=*/g, 'whsec_***')
}

/**
 * An error on one line without credentials. It is shortened after redaction, so no part of a credential remains.
 */
export function errorLine(error: unknown, { text }: Redactor): string {
  const { message, name, code } = (error instanceof Error ? error : { message: String(error) }) as Error & {
    code?: unknown
  }
  const line = text(message).replace(/\s+/g, ' ').trim() || String(code ?? name ?? 'unknown error')
  return line.length > MAX_ERROR_LENGTH ? `${line.slice(0, MAX_ERROR_LENGTH - 1)}…` : line
}
