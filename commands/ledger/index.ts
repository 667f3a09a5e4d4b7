/** `svc ledger`: what every final transaction has moved: listed, added up, verified and exported. */
import type { LedgerEntry } from '../../src/api/ledger.ts'
import { paths } from '../../src/api/paths.ts'
import { type Noun, text } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { rangeOf, shownEntry } from './entries.ts'
import { exportLedger } from './export.ts'
import { ledgerFilterFlags, MONTH } from './filters.ts'
import { summarizeLedger } from './summary.ts'
import { verifyStoredLedger } from './verify.ts'

const SHOWN = ['occurred_at', 'kind', 'party', 'amount', 'token', 'owner', 'signature'] as const

export const ledgerNoun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List what final transactions have moved, newest first',
      at: paths.ledger.list,
      filters: {
        signature: text('Only this transaction', { placeholder: 'SIGNATURE' }),
        month: MONTH,
        ...ledgerFilterFlags,
      },
      examples: ['svc ledger list', 'svc ledger list --month 2026-11 --party partner --all'],
      columns: ['occurred_at', 'kind', 'party', 'amount', 'token', 'owner', 'counterparty', 'pool', 'signature'],
      table: (entries: readonly LedgerEntry[]) => ({ columns: SHOWN, rows: entries.map(shownEntry) }),
      call: (client, query) => client.ledger.list(rangeOf(query)),
    }),
    summary: summarizeLedger,
    verify: verifyStoredLedger,
    export: exportLedger,
  },
}
