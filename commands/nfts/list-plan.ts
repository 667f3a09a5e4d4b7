/** Plans which rows of a list are minted: their keys, their state on chain, and rows that an earlier run may have minted. */

import { ApiError } from '../../src/errors.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { Session } from '../session.ts'
import { RATE_LIMIT_PAUSE_MS } from '../signing/following.ts'
import { SIGNED_EXPIRY_MS } from '../signing/journal.ts'
import { usage } from '../ui/problem.ts'
import type { KeyedRow, KeyedRows } from './mint-journal.ts'
import type { NftRow } from './rows.ts'

export interface MintRow extends KeyedRow {
  asset: string
  secretKey: number[]
  status: 'to mint' | 'minted' | 'there already' | 'submitted' | 'failed'
  error: string | null
}

/** Milliseconds before each retry of a row after a temporary failure; its key ensures that it is minted once. */
export const ROW_RETRY_MS = [1_000, 3_000, 10_000] as const
/** The most pauses for a rate limit; one per minute has capacity again within that time. */
const MAX_RATE_LIMIT_PAUSES = 15
/**
 * The most addresses in one request. An account that Metaplex Core owns at an asset's address was minted, and remains
 * after a burn.
 */
const ADDRESSES_PER_REQUEST = 100
const MOST_FAULTS = 100

/** The rows with their state on chain; those that `before` has as minted are not requested again. */
export async function planMints(
  session: Session,
  journal: string,
  { rows, gone, sentAt }: KeyedRows,
  before: readonly MintRow[] = [],
): Promise<MintRow[]> {
  await refuseGone(session, journal, await withAddresses(session, gone), sentAt)
  const planned = (await withAddresses(session, rows)).map((row, i) => ({
    ...row,
    status: before[i]?.status ?? row.status,
  }))
  await markMinted(
    session,
    planned.filter(({ status }) => status === 'to mint'),
  )
  for (const [i, row] of before.entries()) row.status = planned[i]?.status ?? row.status
  return planned
}

/** Adds to each row the address and key of its asset; whether it is minted is not known yet. */
export function withAddresses<T extends { assetSeed: Uint8Array }>({ wallet }: Session, rows: readonly T[]) {
  return Promise.all(
    rows.map(async (row) => {
      const { address: asset, secretKey } = await wallet.derive(row.assetSeed)
      const [status, error] = ['to mint' as MintRow['status'], null as string | null]
      return { ...row, asset, secretKey, status, error }
    }),
  )
}

/**
 * Throws a usage problem where a row that was minted has been changed or removed, because it would be minted again as
 * another asset.
 */
export async function refuseGone(
  session: Session,
  journal: string,
  gone: readonly Pick<MintRow, 'name' | 'asset' | 'status'>[],
  sentAt: number,
): Promise<void> {
  await markMinted(session, gone)
  const minted = gone.filter(({ status }) => status === 'there already')
  const [one] = minted
  const [first] = gone
  const left = sentAt + SIGNED_EXPIRY_MS - session.clock.now()
  if (one === undefined && first !== undefined && left > 0) {
    throw usage(`"${first.name}" of an earlier run is not in the CSV any more, and may still be minted`, {
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

/** Throws a usage problem that names the rows whose owners are no wallets, before any row is minted. */
export async function refuseOwners(
  session: Session,
  { file, allow_programs }: { file: string; allow_programs: boolean },
  rows: readonly NftRow[],
  payer: string,
): Promise<void> {
  const owned = rows.flatMap(({ owner, line }) => (owner === null || owner === payer ? [] : [{ owner, line }]))
  const lines: string[] = []
  // The module decodes addresses, and help must not load base58.
  const { recipientFault } = await import('../../src/solana/recipients.ts')
  for (let at = 0; at < owned.length; at += ADDRESSES_PER_REQUEST) {
    const part = owned.slice(at, at + ADDRESSES_PER_REQUEST)
    const addresses = part.map(({ owner }) => owner)
    const { accounts } = (await readRetrying(session, () => session.client.accounts.batchFetch({ addresses }))).data
    for (const [i, { owner, line }] of part.entries()) {
      const account = accounts[i] ?? null
      const kind = account && { ...account, hasData: account.space > 0 }
      const reason = recipientFault(owner, kind, { allowsPrograms: allow_programs })
      if (reason !== null) lines.push(`${file}:${line}: the owner ${owner} is no wallet (${reason})`)
    }
  }
  if (lines.length === 0) return
  const count = `${lines.length} of ${owned.length} owners are no wallets`
  throw usage(`${lines[0]}; ${count}`, {
    param: '--from',
    lines: [...lines.slice(0, MOST_FAULTS), count],
    next: 'name the owners of token accounts instead; where a vault of a program is meant, add --allow-programs',
  })
}

/** Reads from the chain which rows are minted, because a run that was killed could not record its progress. */
async function markMinted(session: Session, rows: readonly Pick<MintRow, 'asset' | 'status'>[]): Promise<void> {
  const { client, ui } = session
  const bar = ui.progress('Reading the chain')
  for (let at = 0; at < rows.length; at += ADDRESSES_PER_REQUEST) {
    const part = rows.slice(at, at + ADDRESSES_PER_REQUEST)
    const addresses = part.map(({ asset }) => asset)
    const { accounts } = (await readRetrying(session, () => client.accounts.batchFetch({ addresses }))).data
    for (const [i, row] of part.entries()) {
      if (accounts[i]?.owner === PROGRAMS.core.id) Object.assign(row, { status: 'there already' })
    }
    bar(at + part.length, rows.length)
  }
  ui.clear()
}

/** Retries a read where the rate limit is used up or the API was not reached. */
async function readRetrying<T>({ clock }: Session, read: () => Promise<T>): Promise<T> {
  for (let [tries, ratePauses] = [0, 0]; ; ) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const isQuota = error.code === 'rate_limited' && ratePauses++ < MAX_RATE_LIMIT_PAUSES
      const pause = isQuota ? RATE_LIMIT_PAUSE_MS : error.code === 'internal_error' ? ROW_RETRY_MS[tries++] : undefined
      if (pause === undefined) throw error
      await clock.sleep(pause)
    }
  }
}
