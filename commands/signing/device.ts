/** Signs on a device and sends: a person confirms each transaction there, which may take longer than a blockhash lasts. */
import { BLOCKHASH_SLOTS } from '../../src/solana/constants.ts'
import type { Session } from '../cli/session.ts'
import { LedgerProblem } from '../wallet/ledger-devices.ts'
import { type BuiltTransactions, transactionsOf } from './built-transactions.ts'
import { type CheckedBuild, type Demand, requireDemanded } from './demand.ts'
import type { Wait } from './flags.ts'
import { withFreshBlockhash } from './fresh-blockhash.ts'
import { clusterState, secondsOf } from './lifetime.ts'
import { type SentRun, sendAll, sendInOrder } from './sending.ts'
import { type CompleteTransaction, placeOf, signCompletely, signReturnedKeys } from './signatures.ts'

/** How often a person is asked for the same transaction. */
const MOST_TRIES = 3
/** With fewer blocks left, a transaction would probably expire on its way. */
const LEAST_BLOCKS_LEFT = 5

interface DeviceBuild {
  /** As the API built it; the keys that it returned have not signed yet. */
  built: BuiltTransactions
  secretKeys: readonly (readonly number[])[] | undefined
  demand: Demand
  bundle: boolean
  recovery: string
}

/**
 * Signs one transaction after another and sends each before the next is asked for, so that each has the whole lifetime
 * of a fresh blockhash. A bundle is signed first and sent together.
 */
export async function sendFromDevice(
  session: Session,
  { keypair, wait }: { keypair?: string | undefined; wait?: Wait | undefined },
  { built, bundle, recovery, ...build }: DeviceBuild,
): Promise<SentRun> {
  const all = transactionsOf(built)
  const options = { built, wait, bundle, recovery }
  if (bundle) {
    const places = all.map((_, i) => placeOf(i, all.length))
    const { signed } = await signInTime(session, { ...build, built, keypair, places })
    const confirmed = await sendAll(session, signed, options)
    return { signatures: signed.map(({ signature }) => signature), confirmed }
  }
  const signatures: string[] = []
  const steps = all.map((transaction, i) => async () => {
    const one: BuiltTransactions = 'transactions' in built ? { ...built, transactions: [transaction] } : built
    const signed = await signOneInTime(session, { ...build, built: one, keypair, place: placeOf(i, all.length) })
    signatures.push(signed.signature)
    return signed
  })
  const confirmed = await sendInOrder(session, steps, options)
  return { signatures, confirmed }
}

interface UnsignedBuild extends Omit<DeviceBuild, 'bundle' | 'recovery'> {
  keypair: string | undefined
  /** For each transaction, which of the run it is. */
  places: readonly (string | undefined)[]
}

/** Signs a single transaction as it was checked; on a device in time, as `signInTime` does. */
export async function signOne(
  session: Session,
  checked: CheckedBuild,
  build: Omit<UnsignedBuild, 'places'>,
): Promise<CompleteTransaction & { last_valid_block_height?: number | undefined }> {
  const { built, secretKeys, keypair } = build
  if (await session.wallet.isDevice(keypair)) return signOneInTime(session, build)
  const { last_valid_block_height } = built
  return { ...(await signCompletely(session, checked, { keypair, secretKeys })), last_valid_block_height }
}

/** Signs a single transaction in time, as `signInTime` does. */
export async function signOneInTime(
  session: Session,
  { place, ...build }: Omit<UnsignedBuild, 'places'> & { place?: string | undefined },
): Promise<CompleteTransaction & { last_valid_block_height?: number | undefined }> {
  const { signed, last_valid_block_height } = await signInTime(session, { ...build, places: [place] })
  const [one] = signed
  if (one === undefined) throw new Error('a build without a transaction was signed')
  return { ...one, last_valid_block_height }
}

/**
 * Signs with a blockhash that is fresh when the device asks; a device that can gets another one when the person has
 * approved. If it expires nevertheless, nothing was sent, and the device asks again.
 */
async function signInTime(
  session: Session,
  { built, secretKeys, demand, keypair, places }: UnsignedBuild,
): Promise<{ signed: CompleteTransaction[]; last_valid_block_height?: number | undefined }> {
  let lastValid = built.last_valid_block_height
  const fresh = async () => {
    const refreshed = await withFreshBlockhash(session, built)
    lastValid = refreshed.last_valid_block_height
    const partial = await signReturnedKeys(session, refreshed, secretKeys)
    const transactions = partial.map(({ transaction }) => transaction)
    return requireDemanded(session, transactions, demand, { isPart: true })
  }
  for (let tries = 1; ; tries++) {
    const checked = await fresh()
    // The transactions of a bundle share a blockhash.
    const refresh = checked.length === 1 ? async () => (await fresh())[0] as CheckedBuild : undefined
    const signed: CompleteTransaction[] = []
    for (const [i, transaction] of checked.entries())
      signed.push(await signCompletely(session, transaction, { keypair, place: places[i], refresh }))
    const late = await lateness(session, lastValid)
    if (late === null) return { signed, last_valid_block_height: lastValid }
    if (tries === MOST_TRIES)
      throw new LedgerProblem(
        'internal_error',
        `a blockhash expired ${MOST_TRIES} times before you had confirmed; nothing of it was sent`,
        { next: `run it again, and confirm within ${late}` },
      )
    session.ui.warn(
      `the blockhash expired before you had confirmed, so nothing was sent: confirm again, within ${late}`,
    )
  }
}

/** How long a blockhash lasts, if this one has expired or is about to; null if there is time or the API cannot tell. */
async function lateness(session: Session, lastValid: number | undefined): Promise<string | null> {
  const state = lastValid === undefined ? null : await clusterState(session)
  if (state === null || lastValid === undefined || lastValid - state.block_height >= LEAST_BLOCKS_LEFT) return null
  const { slot_ms } = state
  return slot_ms === null ? `${BLOCKHASH_SLOTS} blocks` : `about ${secondsOf(BLOCKHASH_SLOTS, slot_ms)} seconds`
}
