/** Compares what a journal says is done with the transactions on chain, because a journal may be somebody else's. */
import { SECOND_MS } from '../../src/platform/timing.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { signatureHolds } from '../../src/solana/signatures.ts'
import { toggle } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import type { Demand } from '../signing/demanded-calls.ts'
import { patiently } from './patience.ts'
import { inRequests } from './wallet-rows.ts'

export const TRUST_JOURNAL = toggle(
  'With a journal: count a row as done although no RPC node has its transaction any more',
  { needs: ['from'] },
)

/** A row, or a batch of them, that a journal calls done. */
export interface DoneInJournal {
  id: string
  /** The transactions that did it together; empty if the journal names none. */
  signatures: readonly string[]
  /** What they must have done. */
  demand(): Promise<Pick<Demand, 'calls'>>
}

/** How often a node is asked for a transaction, and the pause, because one may be behind the one that confirmed it. */
const LOOKS = 3
const PAUSE_MS = SECOND_MS

/**
 * Why they do not count as done, by id; those that the chain proves are not in it. One request reads 100 transactions.
 * `isTrusted`: what no node has counts.
 */
export async function doubtsAbout(
  session: Session,
  done: readonly DoneInJournal[],
  { isTrusted = false }: { isTrusted?: boolean | undefined } = {},
): Promise<Map<string, string>> {
  const found = await readTransactions(session, [...new Set(done.flatMap(({ signatures }) => signatures))])
  const { containCalls } = await import('../signing/built-calls.ts')
  const doubts = new Map<string, string>()
  for (const { id, signatures, demand } of done) {
    const all = signatures.map((signature) => found.get(signature) ?? null)
    const landed = all.flatMap((each) => (each === null || each.failed ? [] : each.transaction))
    const contents = await Promise.all(landed.map((transaction) => session.wallet.describe(transaction)))
    if (contents.length > 0 && containCalls(contents, await demand())) continue
    const missing = signatures.filter((_, i) => all[i] === null)
    if (signatures.length === 0 || missing.length > 0) {
      const what = missing.length === 0 ? 'the journal names no transaction of it' : `no RPC node has ${missing[0]}`
      if (!isTrusted) doubts.set(id, `${what}: --trust-journal counts it as done`)
    } else {
      const what = landed.length === 0 ? 'failed on chain' : 'is on chain and did something else'
      doubts.set(id, `its transaction in the journal ${what}: ${signatures.at(-1)}`)
    }
  }
  return doubts
}

/** Why they do not count as done, by id; null for those that count. Each is compared once in a run. */
export function doubtsOnce(session: Session, options: { isTrusted?: boolean | undefined }) {
  const known = new Map<string, string | null>()
  return async (done: readonly DoneInJournal[]): Promise<ReadonlyMap<string, string | null>> => {
    const fresh = done.filter(({ id }) => !known.has(id))
    const doubts = await doubtsAbout(session, fresh, options)
    for (const { id } of fresh) known.set(id, doubts.get(id) ?? null)
    return known
  }
}

interface Executed {
  failed: boolean
  transaction: string
}

async function readTransactions(session: Session, signatures: readonly string[]): Promise<Map<string, Executed>> {
  const found = new Map<string, Executed>()
  let missing = signatures
  for (let look = 1; missing.length > 0; look++) {
    for (const part of inRequests(missing)) {
      const { data } = await patiently(session, () => session.client.transactions.batchFetch({ signatures: part }))
      for (const [i, signature] of part.entries()) {
        const one = data.transactions[i] ?? null
        if (one !== null && carries(one.transaction, signature)) found.set(signature, one)
      }
    }
    missing = missing.filter((signature) => !found.has(signature))
    if (look === LOOKS || missing.length === 0) break
    await session.clock.sleep(PAUSE_MS)
  }
  return found
}

/** Whether these bytes are the transaction of this signature, and its payer signed it: the API's word is not enough. */
function carries(transaction: string, signature: string): boolean {
  try {
    const decoded = decodeWireTransaction(Buffer.from(transaction, 'base64'))
    return decoded.signature === signature && signatureHolds(decoded, 0)
  } catch {
    return false
  }
}
