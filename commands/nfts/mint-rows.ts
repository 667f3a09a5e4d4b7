/** Mints the open rows of a list, several at a time, each until it is confirmed. */
import { ApiError } from '../../src/platform/errors.ts'
import type { Session } from '../cli/session.ts'
import { patiently } from '../lists/patience.ts'
import { atOnce, workThrough } from '../lists/run.ts'
import { checkedBuild, demanding, signingFor, UnexpectedBuild } from '../signing/demand.ts'
import { mintsNft } from '../signing/demanded-assets.ts'
import { signOne } from '../signing/device.ts'
import { programsField, type SigningFlags, txVersionField } from '../signing/flags.ts'
import { sendAll } from '../signing/sending.ts'
import { isMinted, type MintRow } from './list-plan.ts'
import type { MintJournal } from './mint-journal.ts'

export const demandsMint = demanding('this asset, to this owner, without plugins', mintsNft)

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

export interface MintRun {
  list: MintList
  payer: string
  journal: MintJournal
}

export async function mintOpen(
  session: Session,
  flags: SigningFlags,
  run: MintRun,
  rows: readonly MintRow[],
): Promise<void> {
  const open = rows.filter(({ status }) => status === 'to mint')
  return workThrough(session, {
    doing: 'Minting',
    atOnce: await atOnce(session, flags.keypair, CONCURRENT_ROWS),
    jobs: open,
    async work(quiet, row) {
      row.status = await patiently(session, () => mintOnce(quiet, flags, run, row))
      return []
    },
    failed: (row, { message }) => Object.assign(row, { status: 'failed', error: message }),
    progress: () => [rows.filter(({ status }) => status !== 'to mint').length, rows.length],
  })
}

/** The key of its asset ensures that a row is minted once, so it is tried again and its bytes are not stored. */
async function mintOnce(
  session: Session,
  { keypair, wait, ...flags }: SigningFlags,
  { list, payer, journal }: MintRun,
  row: MintRow,
): Promise<MintRow['status']> {
  const body = mintBody(list, payer, row)
  try {
    journal.write(row.id, { name: row.name, at: session.clock.now() })
    const { data } = await session.client.nfts.create({ ...body, ...txVersionField(flags) })
    const demand = await demandsMint(signingFor(session, payer), body)
    const checked = await checkedBuild(session, data.transaction, demand)
    const secretKeys = [row.secretKey]
    const signed = await signOne(session, checked, { built: data, secretKeys, demand, keypair })
    const confirmed = await sendAll(session, [signed], { built: data, wait, bundle: false, recovery: '' })
    return confirmed === null ? 'submitted' : 'minted'
  } catch (error) {
    const mayBeMinted =
      error instanceof ApiError && !(error instanceof UnexpectedBuild) && error.code !== 'rate_limited'
    if (mayBeMinted && (await isMinted(session, row))) return 'there already'
    throw error
  }
}
