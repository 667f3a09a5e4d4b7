/** Keeps balances exact that are beyond a JSON number: above 2^53 lamports an answer also carries them as digits. */

/** Quotes inside JSON text are escaped, so this cannot match within a string. */
const BEYOND_NUMBER = /(?<!\\)"lamports":\s*(\d{16,20})/g

/** What an account read through the wrapped `fetch` has besides web3.js's fields, where `lamports` is rounded. */
export interface ExactLamports {
  exactLamports?: string
}

/** Wraps the `fetch` of a Connection. */
export function withExactLamports(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init)
    const text = await response.text()
    const exact = text.replace(BEYOND_NUMBER, '"lamports":$1,"exactLamports":"$1"')
    const { status, statusText } = response
    const bodiless = [204, 205, 304].includes(status)
    // What was decoded on the way in has another length and encoding now; nobody reads those of an RPC answer.
    const headers = new Headers(response.headers)
    headers.delete('content-length')
    headers.delete('content-encoding')
    return new Response(bodiless ? null : exact, { status, statusText, headers })
  }
}

/** Lamports of an account as read by web3.js, exact to the last one. */
export function exactLamports(account: { lamports: number } & ExactLamports): string {
  return account.exactLamports ?? BigInt(account.lamports).toString()
}
