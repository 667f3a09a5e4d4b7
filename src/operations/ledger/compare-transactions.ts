/** Reads transactions of the ledger from the chain again, and compares each balance change with the entries. */
import type { LedgerVerification } from '../../api/index.ts'
import { type ExecutedBalances, readBalances } from '../../chain/reads/executed-balances.ts'
import { UnreadableTransaction } from '../../chain/reads/history.ts'
import { readFirstBlock } from '../../chain/reads/statuses.ts'
import type { Context } from '../../context.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { type LedgerEntryRow, ledgerTransactionsAfter, readEntries } from '../../store/ledger/ledger.ts'
import { groupedBy } from './grouping.ts'
import { NETWORK } from './parties.ts'
import { SOL } from './postings.ts'

/** Calls to the node in one step. */
const TRANSACTIONS_PER_STEP = 48
const READ_TOGETHER = 8

/** Adds the findings to `step`. Returns the place to continue from, or null at the end. */
export async function compareTransactions(
  { store, chain }: Pick<Context, 'store' | 'chain'>,
  { genesis, after }: { genesis: string; after: number },
  step: LedgerVerification,
): Promise<number | null> {
  const rows = await ledgerTransactionsAfter(store.db, { genesis, after, limit: TRANSACTIONS_PER_STEP })
  const written = rows.filter(({ status }) => status === 'written')
  for (const { status, signature, reason } of rows) {
    if (status === 'unread') step.unread.push({ signature, reason: reason ?? 'it has not been read yet' })
  }
  const signatures = written.map(({ signature }) => signature)
  const entries = groupedBy(await readEntries(store.db, genesis, signatures), ({ signature }) => signature)
  let historyStart: number | null = null
  for (let at = 0; at < written.length; at += READ_TOGETHER) {
    const part = written.slice(at, at + READ_TOGETHER)
    const answers = await Promise.allSettled(part.map(({ signature }) => readBalances(chain, signature)))
    for (const [i, { signature, slot }] of part.entries()) {
      const answer = answers[i]
      const own = entries.get(signature) ?? []
      step.entries += own.length
      if (answer?.status !== 'fulfilled') {
        if (!(answer?.reason instanceof UnreadableTransaction)) throw answer?.reason
        step.unread.push({ signature, reason: answer.reason.message })
      } else if (answer.value !== null) {
        step.transactions++
        step.faults.push(...faultsOf(signature, own, answer.value))
      } else {
        // A node proves nothing about transactions before its history.
        historyStart ??= await readFirstBlock(chain)
        if ((slot ?? 0) < historyStart) {
          step.unread.push({ signature, reason: 'the history of the node begins after it' })
        } else {
          step.faults.push({ ...NO_PLACE, signature, reason: 'not_on_chain', expected: null, found: null })
        }
      }
    }
  }
  return rows.length < TRANSACTIONS_PER_STEP ? null : (rows.at(-1)?.seq ?? null)
}

const NO_PLACE = { account: null, token: null } as const

/** Compares the change of each account and token on chain with the sum of its entries. */
function faultsOf(
  signature: string,
  entries: readonly LedgerEntryRow[],
  executed: ExecutedBalances,
): LedgerVerification['faults'] {
  const changes = changesOf(executed)
  const sums = new Map<string, bigint>()
  const byToken = new Map<string, bigint>()
  for (const { account, token, amount } of entries) {
    const key = `${account} ${token}`
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount))
    byToken.set(token, (byToken.get(token) ?? 0n) + BigInt(amount))
  }
  const unequal = [...new Set([...changes.keys(), ...sums.keys()])].flatMap((key) => {
    const [expected, found] = [changes.get(key) ?? 0n, sums.get(key) ?? 0n]
    if (expected === found) return []
    const [account = '', token = ''] = key.split(' ')
    const place = { account, token: token === SOL ? 'SOL' : token }
    return [{ signature, ...place, reason: 'amount' as const, expected: String(expected), found: String(found) }]
  })
  const unbalanced = [...byToken].flatMap(([token, sum]) => {
    if (sum === 0n) return []
    const place = { account: null, token: token === SOL ? 'SOL' : token }
    return [{ signature, ...place, reason: 'unbalanced' as const, expected: '0', found: String(sum) }]
  })
  return [...unequal, ...unbalanced]
}

function changesOf({ accounts, fee }: ExecutedBalances): Map<string, bigint> {
  const changes = new Map<string, bigint>([[`${NETWORK} ${SOL}`, fee]])
  const supplies = new Map<string, bigint>()
  for (const { address, before, after, holdings } of accounts) {
    changes.set(`${address} ${SOL}`, after - before)
    for (const { mint, before: held, after: holds } of holdings) {
      if (mint === WRAPPED_SOL) continue
      changes.set(`${address} ${mint}`, holds - held)
      supplies.set(mint, (supplies.get(mint) ?? 0n) + holds - held)
    }
  }
  for (const [mint, supply] of supplies) changes.set(`${mint} ${mint}`, -supply)
  return changes
}
