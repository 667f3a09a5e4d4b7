/** Parses URLs, without `URL.canParse`, which Node 20 and 22 get wrong. */

/**
 * The URL, or undefined for text that is none. `URL.canParse` would answer false for letters beyond ASCII once it was
 * called some thousand times on Node 20 and 22 (reported in AikidoSec/firewall-node#1086).
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
