/** Reads the setting `rpc-urls`: several RPC endpoints, each with a weight and headers. */
import { ConfigError } from '../platform/errors.ts'
import { parseUrl } from '../platform/urls.ts'
import type { RpcEndpoint } from './setting.ts'

export const MOST_ENDPOINTS = 16
const MOST_WEIGHT = 100
const MOST_HEADERS = 8
export const LONGEST_URL = 2_048
const LONGEST_HEADER = 4_096

/** RFC 9110, 5.6.2: the characters of a header's name. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/
/** Visible ASCII separated by spaces; a line break would start another header. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
/** Headers that control how the request is sent; a setting must not change them. */
const OWN_HEADERS =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|sec-.*|traceparent)$/i

const FORM = 'URLs separated by commas, or a JSON array of URLs and of { "url", "weight", "headers" }'

/**
 * Parses a text (URLs separated by commas, or JSON) or the value of a JSON file. Throws ConfigError naming the setting,
 * `origin` and the place in the list; the message repeats no URL and no header, because both may contain keys.
 */
export function parseEndpoints(name: string, raw: unknown, origin: string): RpcEndpoint[] {
  const fail = (what: string): never => {
    throw new ConfigError(`${name} (${origin}) ${what}`, `give ${FORM}`)
  }
  const items = itemsOf(raw) ?? fail(`must be ${FORM}`)
  if (items.length === 0) fail('is an empty list')
  if (items.length > MOST_ENDPOINTS) fail(`has ${items.length} endpoints; at most ${MOST_ENDPOINTS} are possible`)
  const endpoints = items.map((item, i) => endpointIn(item, (what) => fail(`${what} (endpoint ${i + 1})`)))
  const urls = endpoints.map(({ url }) => new URL(url).href)
  const again = urls.findIndex((url, i) => urls.indexOf(url) < i)
  if (again >= 0) fail(`names one URL twice (endpoint ${again + 1})`)
  // `ps` shows command lines to every user of the machine.
  if (origin.startsWith('--') && endpoints.some(({ headers }) => Object.keys(headers).length > 0)) {
    throw new ConfigError(
      `${name} (${origin}) has headers, which other users could read`,
      'set SVC_RPC_URLS to it instead',
    )
  }
  return endpoints
}

/** The items of a JSON array, or of a text: a JSON array, or separated by commas. Undefined for anything else. */
export function itemsOf(raw: unknown): unknown[] | undefined {
  if (Array.isArray(raw)) return raw
  if (typeof raw !== 'string') return undefined
  const text = raw.trim()
  if (!/^[[{]/.test(text)) return text === '' ? [] : text.split(',').map((item) => item.trim())
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

export type Fail = (what: string) => never

/** The fields of an item that is an object. */
export function fieldsOf(item: unknown, fail: Fail): Record<string, unknown> {
  if (typeof item === 'object' && item !== null && !Array.isArray(item)) return item as Record<string, unknown>
  return fail('is neither a URL nor an object with a URL')
}

function endpointIn(item: unknown, fail: Fail): RpcEndpoint {
  if (typeof item === 'string') return { url: urlIn(item, fail), weight: 1, headers: {} }
  const { url, weight = 1, headers = {}, ...others } = fieldsOf(item, fail)
  if (Object.keys(others).length > 0) fail('has a field other than url, weight and headers')
  if (!Number.isInteger(weight) || (weight as number) < 1 || (weight as number) > MOST_WEIGHT) {
    fail(`has a weight that is not a whole number from 1 to ${MOST_WEIGHT}`)
  }
  return { url: urlIn(url, fail), weight: weight as number, headers: headersIn(headers, fail) }
}

function urlIn(text: unknown, fail: Fail): string {
  if (typeof text !== 'string' || !/^https?:\/\//.test(text) || parseUrl(text) === undefined) {
    return fail('has a URL that is not an http or https URL')
  }
  if (text.length > LONGEST_URL) fail(`has a URL of more than ${LONGEST_URL} characters`)
  return text
}

function headersIn(value: unknown, fail: Fail): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail('has headers that are not an object')
  const entries = Object.entries(value)
  if (entries.length > MOST_HEADERS) fail(`has ${entries.length} headers; at most ${MOST_HEADERS} are possible`)
  const names = entries.map(([header]) => header.toLowerCase())
  if (new Set(names).size < names.length) fail('has one header twice')
  for (const [header, text] of entries) {
    if (!HEADER_NAME.test(header)) fail('has a header with an invalid name')
    if (OWN_HEADERS.test(header)) fail(`has the header ${header.toLowerCase()}, which svc sets itself`)
    if (typeof text !== 'string' || text.length > LONGEST_HEADER || !HEADER_VALUE.test(text)) {
      fail(`has the header ${header.toLowerCase()} with a value that is not 1 to ${LONGEST_HEADER} visible characters`)
    }
  }
  return Object.fromEntries(entries.map(([header, text]) => [header.toLowerCase(), text as string]))
}
