/** Reads the limits of a mint as flags write them: `MINT:UNITS_PER_TRANSACTION:UNITS_PER_DAY`. */
import type { SignerState } from '../../src/api/signer.ts'
import { usage } from '../ui/problem.ts'

export type TokenLimit = NonNullable<SignerState['policy']>['tokens'][number]

/** Throws a usage error that names the flag. */
export function tokenLimitOf(item: string, flag: string): TokenLimit {
  const [mint, per_transaction = '', per_day = '', more] = item.split(':')
  const areWhole = [per_transaction, per_day].every((units) => /^\d+$/.test(units))
  if (mint && areWhole && more === undefined) return { mint, per_transaction, per_day }
  throw usage(`${flag} must be MINT:UNITS_PER_TRANSACTION:UNITS_PER_DAY in raw units, not "${item}"`, { param: flag })
}
