/** Parses URLs without `URL.canParse`, which Node 20 and 22 get wrong, and recognizes those of this machine. */

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

/** Whether the host of a URL is this machine. Nobody on a network can read http requests to it. */
export const isThisMachine = (hostname: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
