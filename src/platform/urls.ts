/** Parses URLs, without `URL.canParse`, which Node 20 and 22 get wrong. */

/**
 * The URL, or undefined if the text is not a URL. On Node 20 and 22 `URL.canParse` returns false for non-ASCII letters
 * after some thousand calls (reported in AikidoSec/firewall-node#1086).
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
