/** `svc ledger verify`: compares the ledger with the chain, step by step, after a repair if asked for. */

import type { LedgerRepair, LedgerVerification } from '../../src/api/ledger.ts'
import { paths } from '../../src/api/paths.ts'
import type { Client } from '../../src/client.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS } from '../cli/amounts.ts'
import { toggle, verb } from '../cli/command.ts'
import { eachStep } from '../cli/pages.ts'
import { counted } from '../ui/words.ts'

type VerifiedLedger = Omit<LedgerVerification, 'next_cursor'>
type LedgerFault = LedgerVerification['faults'][number]

export const verifyStoredLedger = verb({
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
