/** Wallets and tree bodies for tests, the same on every run. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'

/** Some 32-byte key, told by its number. */
export const wallet = (n: number): string => base58.encode(createHash('sha256').update(`wallet ${n}`).digest())

export const entries = (count: number, amount = (n: number): unknown => String(n + 1)) =>
  Array.from({ length: count }, (_, n) => ({ wallet: wallet(n), amount: amount(n) }))
