/** `svc ledger`: what every final transaction has moved: listed, added up, verified and exported. */
import type { LedgerEntry, LedgerRepair, LedgerVerification } from '../../src/api/ledger.ts'
import { paths } from '../../src/api/paths.ts'
import type { Client } from '../../src/client.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS } from '../cli/amounts.ts'
import { choiceOf, type Noun, required, text, toggle, verb } from '../cli/command.ts'
import { eachStep, MOST_STEPS, type PageQuery, pagesOf } from '../cli/pages.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { jsonText } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import { csvLine, writePieces } from './csv.ts'
import { pricedValue, rangeOf, shownEntry, wholeAmount } from './entries.ts'
import { type LedgerFilterValues, ledgerFilterFlags, MONTH, summarizeLedger } from './summary.ts'

// `svc ledger verify`: compares the ledger with the chain, step by step, after a repair if asked for.

type VerifiedLedger = Omit<LedgerVerification, 'next_cursor'>
type LedgerFault = LedgerVerification['faults'][number]

const verifyStoredLedger = verb({
  about: 'Compare the ledger with the chain: exit 1 if they differ',
  details:
    'Reads every transaction of the ledger from the chain again, and compares each balance change with the entries. Then follows the SOL and the token accounts of the platform wallet: each transaction must begin with the balance that the one before left, and the opening balance plus all entries must be the balance now. With --repair, the histories of the platform wallet and its token accounts are read first, and entries that the ledger lacks are written, each once.',
  calls: [paths.ledger.verify, paths.ledger.repair],
  flags: { repair: toggle('Read again what the ledger lacks, and write it') },
  examples: ['svc ledger verify', 'svc ledger verify --json', 'svc ledger verify --repair'],
  async run({ repair }, { client, ui }) {
    const repaired = repair ? await repairedBy(client) : undefined
    const found: VerifiedLedger = {
      transactions: 0,
      entries: 0,
      faults: [],
      unread: [],
      waiting: 0,
      not_final: 0,
      accounts: [],
    }
    await eachStep(async (from) => {
      const { data } = await client.ledger.verify(from)
      found.transactions += data.transactions
      found.entries += data.entries
      found.waiting += data.waiting
      // A daemon of an earlier version does not count these.
      found.not_final += data.not_final ?? 0
      found.faults.push(...data.faults)
      found.unread.push(...data.unread)
      found.accounts.push(...data.accounts)
      if (data.next_cursor !== null) ui.progress('Comparing')(found.transactions, 0)
      return data.next_cursor
    })
    const isWhole = found.faults.length + found.unread.length === 0
    const data = repaired === undefined ? found : { ...found, repaired }
    return { data, text: reportOf(found, isWhole, repaired), ...(isWhole ? {} : { exitCode: 1 }) }
  },
})

/** Takes every step of the repair. What no node shows is named by the comparison that follows. */
async function repairedBy(client: Client): Promise<LedgerRepair['repaired']> {
  const repaired: LedgerRepair['repaired'] = []
  await eachStep(async (from) => {
    const { data } = await client.ledger.repair(from)
    repaired.push(...data.repaired)
    return data.next_cursor
  })
  return repaired
}

function reportOf(found: VerifiedLedger, isWhole: boolean, repaired: LedgerRepair['repaired'] = []) {
  const { transactions, entries, faults, unread, waiting, not_final, accounts } = found
  const compared = `Compared ${counted(transactions, 'transaction')} with ${counted(entries, 'entry', 'entries')}`
  return [
    ...repaired.map((signature) => `repaired ${signature}`),
    ...faults.map(faultLine),
    ...unread.map(({ signature, reason }) => `unread ${signature}: ${reason}`),
    ...accounts.map(({ account, token, ...amounts }) => {
      const [opening, change, balance] = [amounts.opening, amounts.change, amounts.balance].map((amount) =>
        groupedDecimalOf(BigInt(amount), token === 'SOL' ? LAMPORT_DECIMALS : 0),
      )
      return `${account}: ${opening} ${token === 'SOL' ? token : `raw units of ${token}`} at first, ${change} in entries, ${balance} now`
    }),
    ...(not_final === 0 ? [] : [`Not final yet: ${counted(not_final, 'transaction')}, whose entries follow.`]),
    ...(waiting === 0 ? [] : [`${waiting} final transactions are not in the ledger yet.`]),
    ...(waiting > 0 && accounts.length === 0 ? ['The platform wallet is followed once they are.'] : []),
    ...(repaired.length === 0 ? [] : [`Wrote the missing entries of ${counted(repaired.length, 'transaction')}.`]),
    isWhole ? `${compared}: all equal.` : `${compared}: ${faults.length} differ, ${unread.length} unread.`,
  ].join('\n')
}

const REASONS: Record<LedgerFault['reason'], string> = {
  amount: 'the entries are not the change on the chain',
  unbalanced: 'the entries do not sum to zero',
  not_on_chain: 'the chain does not have it',
  discontinuous: 'it begins with another balance than the one before has left',
  missing: 'the ledger does not have it',
  balance: 'opening balance and entries do not add up to the balance now',
}

function faultLine({ signature, account, token, reason, expected, found }: LedgerFault): string {
  const where = [signature, account, token].filter((part) => part !== null).join(' ')
  const amounts = expected === null ? '' : ` (${expected} expected, ${found} found)`
  return `differs ${where}: ${REASONS[reason]}${amounts}`
}

// `svc ledger export`: the entries of a month or of all time as a file for accountants.

const CSV_COLUMNS = [
  ...['date', 'signature', 'account', 'owner', 'party', 'kind', 'detail', 'token', 'symbol', 'amount', 'amount_raw'],
  ...['decimals', 'price', 'currency', 'value', 'counterparty', 'pool', 'slot'],
] as const

const csvCells = (entry: LedgerEntry) => [
  ...[entry.occurred_at, entry.signature, entry.account, entry.owner, entry.party, entry.kind, entry.detail],
  ...[entry.token, entry.symbol, wholeAmount(entry), entry.amount, entry.decimals, entry.price, entry.price_currency],
  ...[pricedValue(entry), entry.counterparty, entry.pool, entry.slot],
]

const exportLedger = verb({
  about: 'Write the ledger for accountants, as CSV or JSON lines',
  details:
    'Newest entries come first; dates are UTC. Amounts are in whole tokens and in raw units. A value is the amount at the price that was stored with it. Text that a spreadsheet would compute gets a leading apostrophe.',
  calls: [paths.ledger.list],
  flags: {
    format: choiceOf(['csv', 'json'], 'Form of the file (default csv)', { json: 'one JSON object a line' }),
    month: MONTH,
    out: required(text('File to write (0600), or - for standard output', { placeholder: 'FILE' })),
    ...ledgerFilterFlags,
  },
  examples: ['svc ledger export --month 2026-11 --out november.csv', 'svc ledger export --format json --out -'],
  async run({ format = 'csv', out, ...filters }, session) {
    const written = { entries: 0 }
    const query = rangeOf(filters) as LedgerFilterValues
    await writePieces(out, pieces(session, query, format, written))
    if (out === '-') return { data: undefined, rows: { columns: [], rows: [] } }
    return {
      data: { file: out, format, ...written },
      text: `Wrote ${counted(written.entries, 'entry', 'entries')} to ${out}.`,
    }
  },
})

async function* pieces(
  { client, ui }: Pick<Session, 'client' | 'ui'>,
  filters: LedgerFilterValues,
  format: 'csv' | 'json',
  written: { entries: number },
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(CSV_COLUMNS)
  const list = (paging: PageQuery) => client.ledger.list({ ...filters, ...paging })
  for await (const { data: entries } of pagesOf(list, { most: MOST_STEPS })) {
    written.entries += entries.length
    ui.progress('Reading')(written.entries, 0)
    yield entries.map((entry) => (format === 'csv' ? csvLine(csvCells(entry)) : `${jsonText(entry, 0)}\n`)).join('')
  }
}

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
