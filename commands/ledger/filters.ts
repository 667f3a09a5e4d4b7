/** The filters of entries, and those of sums. */
import { LEDGER_KINDS, LEDGER_PARTIES } from '../../src/api/ledger-names.ts'
import { choiceOf, type InputValues, mintAddress, poolAddress, text } from '../cli/command.ts'

export const MONTH = text('Only this month, UTC', {
  placeholder: '2026-11',
  conflicts: ['created_after', 'created_before'],
})

export const totalFilterFlags = {
  pool: poolAddress('Only what belongs to this pool', { placeholder: 'ADDRESS' }),
  mint: mintAddress('Only this token: its mint or symbol, or SOL'),
  party: choiceOf(LEDGER_PARTIES, 'Only accounts of this party'),
  kind: choiceOf(LEDGER_KINDS, 'Only movements of this kind'),
}

export const ledgerFilterFlags = {
  ...totalFilterFlags,
  account: text('Only this wallet with its token accounts', { placeholder: 'ADDRESS' }),
  created_after: text('Only what took place after this moment, ISO 8601 or Unix seconds', { placeholder: 'TIME' }),
  created_before: text('Only what took place before this moment', { placeholder: 'TIME' }),
}

export type LedgerFilterValues = InputValues<typeof ledgerFilterFlags>
