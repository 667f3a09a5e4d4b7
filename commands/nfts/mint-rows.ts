/** Mints the rows of a list that are open, some at a time, each until it is there. */

import type { NftCreated } from '../../src/api/nfts.ts'
import { ApiError } from '../../src/errors.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type Session, sessionWith } from '../command.ts'
import type { SigningFlags } from '../signing/flags.ts'
import { follow } from '../signing/following.ts'
import { didFail } from '../signing/sign-and-submit.ts'
import { submitSigned } from '../signing/submitting.ts'
import { failure } from '../ui/problem.ts'
import { touch } from './journal.ts'
import { AGAIN_MS, QUOTA_MS, type Row } from './list-plan.ts'

export interface List {
  file: string
  journal: string | undefined
  collection: string
  platform_id: string
}

/** Rows under way at once. */
const WIDTH = 8

export const bodyOf = ({ collection, platform_id }: List, payer: string, { name, uri, owner, asset }: Row) => ({
  payer,
  platform_id,
  collection,
  name,
  uri,
  owner,
  asset,
})

/** Some at a time; the first that fails for good lets no other begin. */
export async function mintOpen(
  session: Session,
  flags: SigningFlags,
  { list, payer, journal }: { list: List; payer: string; journal: string },
  rows: readonly Row[],
): Promise<void> {
  const open = rows.filter(({ status }) => status === 'to mint')
  const done = () => rows.filter(({ status }) => status !== 'to mint').length
  const bar = session.ui.progress('Minting')
  // Each row's last words are the list's.
  const quiet = sessionWith(session, {
    ui: { ...session.ui, preview: async () => undefined, waiting: () => undefined },
    lastWords: () => undefined,
  })
  const waiting = [...open]
  let isStopped = false
  const worker = async () => {
    for (let row = waiting.shift(); row !== undefined && !isStopped; row = waiting.shift()) {
      try {
        touch(journal, session.clock.now())
        row.status = await mintOne(quiet, flags, bodyOf(list, payer, row), row)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        isStopped = true
        Object.assign(row, { status: 'failed', error: error.message })
      }
      bar(done(), rows.length)
    }
  }
  session.lastWords('What was sent may have landed; run the same command again for the rest')
  try {
    await Promise.all(Array.from({ length: Math.min(WIDTH, open.length) }, worker))
  } finally {
    session.lastWords(null)
    session.ui.clear()
  }
}

async function mintOne(
  session: Session,
  flags: SigningFlags,
  body: ReturnType<typeof bodyOf>,
  row: Row,
): Promise<Row['status']> {
  for (let tries = 0; ; ) {
    try {
      const { data } = await session.client.nfts.create(body)
      return await sent(session, flags, data, row)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // One that an earlier run had sent may have landed meanwhile.
      if (error.code !== 'rate_limited' && (await isThere(session, row))) return 'there already'
      const pause = error.code === 'rate_limited' ? QUOTA_MS : AGAIN_MS[tries++]
      if (pause === undefined || !isPassing(error)) throw error
      await session.clock.sleep(pause)
    }
  }
}

/** What may come out differently the next time: a fault on the way, or a transaction that did not land in time. */
const isPassing = ({ code }: ApiError) => code === 'internal_error' || code === 'rate_limited' || code === 'conflict'

async function isThere({ client }: Session, { asset }: Row): Promise<boolean> {
  try {
    const { accounts } = (await client.accounts.batchFetch({ addresses: [asset] })).data
    return accounts[0]?.owner === PROGRAMS.core.id
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

async function sent(
  session: Session,
  { keypair, wait = 'confirmed' }: SigningFlags,
  data: NftCreated,
  { secretKey }: Row,
): Promise<Row['status']> {
  const { transaction, signature, missing } = await session.wallet.sign(data.transaction, {
    keypair,
    secretKeys: [secretKey],
  })
  if (signature === null || missing.length > 0) throw failure(`not signed by ${missing.join(', ')}`)
  const { tracked_resource } = data
  await submitSigned(session, signature, {
    transaction,
    ...(tracked_resource === undefined ? {} : { tracked_resource }),
  })
  if (wait === 'none') return 'submitted'
  const landed = await follow(session, signature, wait)
  if (landed.lifecycle === 'failed') throw await didFail(session, data.transaction, landed)
  return 'minted'
}
