/** Mints the open rows of a list, several at a time, each until it is confirmed. */

import type { NftCreated } from '../../src/api/nfts.ts'
import { ApiError } from '../../src/errors.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type Session, sessionWith } from '../session.ts'
import { checkedBuild, signingFor, UnexpectedBuild } from '../signing/demand.ts'
import { DEMANDS } from '../signing/demands.ts'
import { programsField, type SigningFlags, txVersionField } from '../signing/flags.ts'
import { RATE_LIMIT_PAUSE_MS } from '../signing/following.ts'
import { sendAll } from '../signing/sending.ts'
import { signCompletely } from '../signing/signatures.ts'
import { type MintRow, ROW_RETRY_MS } from './list-plan.ts'
import type { MintJournal } from './mint-journal.ts'

export interface MintList {
  file: string
  journal: string | undefined
  collection: string
  platform_id: string
  allow_programs: boolean
}

/** The number of rows that are minted at the same time. */
const CONCURRENT_ROWS = 8

export const mintBody = (
  { collection, platform_id, allow_programs }: MintList,
  payer: string,
  { name, uri, owner, asset }: MintRow,
) => ({
  payer,
  platform_id,
  collection,
  name,
  uri,
  owner,
  asset,
  ...programsField({ allow_programs }),
})

/** Mints several rows at a time; after a row has failed permanently, no other row is started. */
export async function mintOpen(
  session: Session,
  flags: SigningFlags,
  { list, payer, journal }: { list: MintList; payer: string; journal: MintJournal },
  rows: readonly MintRow[],
): Promise<void> {
  const open = rows.filter(({ status }) => status === 'to mint')
  const done = () => rows.filter(({ status }) => status !== 'to mint').length
  const bar = session.ui.progress('Minting')
  // The whole list has one preview, one progress bar and one note for Ctrl-C, so those of each row are suppressed.
  const quiet = sessionWith(session, {
    ui: { ...session.ui, preview: async () => undefined, waiting: () => undefined },
    setInterruptNote: () => undefined,
  })
  const waiting = [...open]
  let isStopped = false
  const worker = async () => {
    for (let row = waiting.shift(); row !== undefined && !isStopped; row = waiting.shift()) {
      try {
        journal.touch(session.clock.now())
        row.status = await mintOne(quiet, flags, { ...mintBody(list, payer, row), ...txVersionField(flags) }, row)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        isStopped = true
        Object.assign(row, { status: 'failed', error: error.message })
      }
      bar(done(), rows.length)
    }
  }
  session.setInterruptNote('What was sent may have landed; run the same command again for the rest')
  try {
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_ROWS, open.length) }, worker))
  } finally {
    session.setInterruptNote(null)
    session.ui.clear()
  }
}

async function mintOne(
  session: Session,
  flags: SigningFlags,
  body: ReturnType<typeof mintBody> & ReturnType<typeof txVersionField>,
  row: MintRow,
): Promise<MintRow['status']> {
  for (let tries = 0; ; ) {
    try {
      const { data } = await session.client.nfts.create(body)
      return await sendMint(session, flags, { body, data, row })
    } catch (error) {
      if (!(error instanceof ApiError) || error instanceof UnexpectedBuild) throw error
      // A transaction of an earlier run may have been confirmed meanwhile.
      if (error.code !== 'rate_limited' && (await isOnChain(session, row))) return 'there already'
      const pause = error.code === 'rate_limited' ? RATE_LIMIT_PAUSE_MS : ROW_RETRY_MS[tries++]
      if (pause === undefined || !isRetryable(error)) throw error
      await session.clock.sleep(pause)
    }
  }
}

/** Whether a retry may succeed: after a temporary fault, or a transaction that expired. */
const isRetryable = ({ code }: ApiError) => code === 'internal_error' || code === 'rate_limited' || code === 'conflict'

async function isOnChain({ client }: Session, { asset }: MintRow): Promise<boolean> {
  try {
    const { accounts } = (await client.accounts.batchFetch({ addresses: [asset] })).data
    return accounts[0]?.owner === PROGRAMS.core.id
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

async function sendMint(
  session: Session,
  { keypair, wait }: SigningFlags,
  { body, data, row }: { body: ReturnType<typeof mintBody>; data: NftCreated; row: MintRow },
): Promise<MintRow['status']> {
  const demand = await DEMANDS['nfts mint'](signingFor(session, body.payer), body)
  const checked = await checkedBuild(session, data.transaction, demand)
  const signed = await signCompletely(session, checked, { keypair, secretKeys: [row.secretKey] })
  const confirmed = await sendAll(session, [signed], { built: data, wait, bundle: false, recovery: '' })
  return confirmed === null ? 'submitted' : 'minted'
}
