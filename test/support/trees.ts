/** Entries of tree bodies for tests, the same on every run. */
import { walletOf } from '../merkle/reference.ts'

/** Some 32-byte key, told by its number. */
export const wallet = walletOf

export const entries = (count: number, amount = (n: number): unknown => String(n + 1)) =>
  Array.from({ length: count }, (_, n) => ({ wallet: wallet(n), amount: amount(n) }))
