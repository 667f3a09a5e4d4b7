/** Keeps balances above 2^53 lamports exact, which a JSON number cannot represent, by adding them as digits. */

/** Quotes inside JSON text are escaped, so this cannot match within a string. */
const BEYOND_NUMBER = /(?<!\\)"lamports":\s*(\d{16,20})/g

/** Fields that an account read through the wrapped `fetch` has beside web3.js's, whose `lamports` is rounded. */
export interface ExactLamports {
  exactLamports?: string
}

/** Wraps the `fetch` of a Connection so that large balances stay exact. */
export function withExactLamports(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init)
    const text = await response.text()
    const exact = text.replace(BEYOND_NUMBER, '"lamports":$1,"exactLamports":"$1"')
    // A Connection reads status and text alone. Another Response with its stream would cost as much as the whole call.
    return Object.defineProperty(response, 'text', { value: async () => exact })
  }
}

/** Returns the exact lamports of an account that web3.js has read, as digits. */
export function exactLamports(account: { lamports: number } & ExactLamports): string {
  return account.exactLamports ?? BigInt(account.lamports).toString()
}
