/** What of a list is to be minted: its keys, what the chain shows of them, and rows that an earlier run may have minted. */

import { ApiError } from '../../src/errors.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { Session } from '../command.ts'
import { usage } from '../ui/problem.ts'
import type { Planned, planRows } from './journal.ts'

export interface Row extends Planned {
  asset: string
  secretKey: number[]
  status: 'to mint' | 'minted' | 'there already' | 'submitted' | 'failed'
  error: string | null
}

/** A row that failed on the way is tried again after so many milliseconds: its key makes sure that it is minted once. */
export const AGAIN_MS = [1_000, 3_000, 10_000] as const
export const QUOTA_MS = 5_000
/** A quota of a minute comes back within this. */
const MOST_QUOTA_WAITS = 15
/** A blockhash lives for a minute or two: what was sent before can land no more. */
const MAY_LAND_MS = 180_000
/** Of Metaplex Core: what it owns at the address of an asset was minted, and stays there when it is burned. */
const BATCH = 100

/** What is to be done; rows that `before` knows to be there are not asked for again. */
export async function plan(
  session: Session,
  journal: string,
  { rows, gone, sentAt }: ReturnType<typeof planRows>,
  before: readonly Row[] = [],
): Promise<Row[]> {
  await refuseGone(session, journal, await keyed(session, gone), sentAt)
  const planned = (await keyed(session, rows)).map((row, i) => ({ ...row, status: before[i]?.status ?? row.status }))
  await markMinted(
    session,
    planned.filter(({ status }) => status === 'to mint'),
  )
  for (const [i, row] of before.entries()) row.status = planned[i]!.status
  return planned
}

/** Each with its address, and nothing known of it yet. */
export function keyed<T extends { assetSeed: Uint8Array }>({ wallet }: Session, rows: readonly T[]) {
  return Promise.all(
    rows.map(async (row) => {
      const { address: asset, secretKey } = await wallet.derive(row.assetSeed)
      const [status, error] = ['to mint' as Row['status'], null as string | null]
      return { ...row, asset, secretKey, status, error }
    }),
  )
}

/** A row that was minted and says something else now would be minted again, as another one. */
export async function refuseGone(
  session: Session,
  journal: string,
  gone: readonly Pick<Row, 'name' | 'asset' | 'status'>[],
  sentAt: number,
): Promise<void> {
  await markMinted(session, gone)
  const minted = gone.filter(({ status }) => status === 'there already')
  const [one] = minted
  const left = sentAt + MAY_LAND_MS - session.clock.now()
  if (one === undefined && gone.length > 0 && left > 0) {
    throw usage(`"${gone[0]!.name}" of an earlier run is not in the CSV any more, and may still be minted`, {
      param: '--from',
      next: `put the row back as it was, or run it again in ${Math.ceil(left / 1000)} seconds`,
    })
  }
  if (one === undefined) return
  const others = minted.length === 1 ? '' : `, and ${minted.length - 1} more`
  throw usage(`"${one.name}" was minted (${one.asset}${others}), and the CSV has no such row any more`, {
    param: '--from',
    next: `put the row back as it was; rows may be added. ${journal} knows them all. To mint a list as a new one, name another --journal`,
  })
}

/** Asks the chain: a run that was killed cannot have told how far it came. */
async function markMinted(session: Session, rows: readonly Pick<Row, 'asset' | 'status'>[]): Promise<void> {
  const { client, ui } = session
  const bar = ui.progress('Reading the chain')
  for (let at = 0; at < rows.length; at += BATCH) {
    const part = rows.slice(at, at + BATCH)
    const addresses = part.map(({ asset }) => asset)
    const { accounts } = (await patiently(session, () => client.accounts.batchFetch({ addresses }))).data
    for (const [i, row] of part.entries()) {
      if (accounts[i]?.owner === PROGRAMS.core.id) Object.assign(row, { status: 'there already' })
    }
    bar(at + part.length, rows.length)
  }
  ui.clear()
}

/** A read, again where a quota is used up or the API was not reached. */
async function patiently<T>({ clock }: Session, read: () => Promise<T>): Promise<T> {
  for (let [tries, waits] = [0, 0]; ; ) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const isQuota = error.code === 'rate_limited' && waits++ < MOST_QUOTA_WAITS
      const pause = isQuota ? QUOTA_MS : error.code === 'internal_error' ? AGAIN_MS[tries++] : undefined
      if (pause === undefined) throw error
      await clock.sleep(pause)
    }
  }
}
