/**
 * Rules for URIs that are published permanently: the characters of RFC 3986, and schemes that wallets and sites read.
 */

/** The unreserved and reserved characters of RFC 3986, section 2, and percent-encoded bytes. */
const FOREIGN = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/u
const SCHEMES = ['https', 'http', 'ipfs', 'ar', 'data']
const SCHEME_NAMES = 'https, http, ipfs, ar or data'
/** The least that must follow the colon of each scheme. */
const HIERARCHICAL = /^\/\/[^/?#]+/
const DATA = /^[^,]*,/

/**
 * Says what is wrong with a URI, as `must …` or `has …`; null if it may be published.
 *
 * @example
 * uriFault('https://example.com/token.json') // null
 * uriFault('ipfs:Qm') // 'must be a complete URI: nothing follows ipfs:'
 */
export function uriFault(text: string): string | null {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1]
  if (scheme === undefined) return `must be a URI with its scheme: ${SCHEME_NAMES}`
  if (!SCHEMES.includes(scheme.toLowerCase())) return `must have the scheme ${SCHEME_NAMES}, not ${scheme}`
  const foreign = FOREIGN.exec(text)
  if (foreign !== null) {
    const place = [...text.slice(0, foreign.index)].length + 1
    return `has ${named(foreign[0])} at character ${place}, which is not allowed in a URI: write ${encodeURIComponent(foreign[0])}`
  }
  const rest = text.slice(scheme.length + 1)
  const isWhole = scheme.toLowerCase() === 'data' ? DATA.test(rest) : HIERARCHICAL.test(rest)
  return isWhole ? null : `must be a complete URI: nothing follows ${scheme}:`
}

/** A visible character itself, any other one as its code point. */
const named = (character: string): string => {
  if (character === ' ') return 'a space'
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) ? `"${character}"` : code
}

/** The warnings as the field of an answer, which is absent if there are none. */
export function warningsOf(uris: Parameters<typeof uriWarnings>[0]): { warnings?: string[] } {
  const warnings = uriWarnings(uris)
  return warnings.length === 0 ? {} : { warnings }
}

/** Warns of URIs whose content can be changed in transit; each with the name of its field or flag. */
export const uriWarnings = (uris: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(uris).flatMap(([name, uri]) =>
    uri !== undefined && /^http:/i.test(uri)
      ? [`${name}: ${uri} is http, so others can change it in transit: use an https URL`]
      : [],
  )
