/** Plans which rows of a list are minted: their keys, their state on chain, and rows that an earlier run may have minted. */
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { Session } from '../cli/session.ts'
import { patiently } from '../lists/patience.ts'
import { SIGNED_EXPIRY_MS } from '../lists/until-ended.ts'
import { usage } from '../ui/problem.ts'
import { goneRows, type KeyedRow, keyRows, type MintJournal } from './mint-journal.ts'
import type { NftRow } from './rows.ts'

export interface MintRow extends KeyedRow {
  asset: string
  secretKey: number[]
  status: 'to mint' | 'minted' | 'there already' | 'submitted' | 'failed'
  error: string | null
}

/**
 * The most addresses in one request. An account that Metaplex Core owns at an asset's address was minted, and remains
 * after a burn.
 */
const ADDRESSES_PER_REQUEST = 100
const MOST_FAULTS = 100

/**
 * The rows with their state on chain; those that `before` has as minted are not requested again. Throws a usage problem
 * if a row that was started has been changed or removed, because it would be minted again as another asset.
 */
export async function planMints(
  session: Session,
  journal: MintJournal,
  { payer, listed, before = [] }: { payer: string; listed: readonly NftRow[]; before?: readonly MintRow[] },
): Promise<MintRow[]> {
  const keyed = keyRows(journal, payer, listed)
  await refuseGone(session, journal, keyed)
  const rows = await Promise.all(
    keyed.map(async (row, i): Promise<MintRow> => {
      const { address: asset, secretKey } = await session.wallet.derive(row.assetSeed)
      return { ...row, asset, secretKey, status: before[i]?.status ?? 'to mint', error: null }
    }),
  )
  const open = rows.filter(({ status }) => status === 'to mint')
  const minted = await mintedOf(session, open)
  for (const row of open) if (minted.has(row.asset)) row.status = 'there already'
  return rows
}

async function refuseGone(session: Session, journal: MintJournal, rows: readonly KeyedRow[]): Promise<void> {
  const gone = await Promise.all(
    goneRows(journal, rows).map(async ({ assetSeed, ...row }) => ({
      ...row,
      asset: (await session.wallet.derive(assetSeed)).address,
    })),
  )
  const found = await mintedOf(session, gone)
  const [one, ...others] = gone.filter(({ asset }) => found.has(asset))
  if (one !== undefined) {
    const more = others.length === 0 ? '' : `, and ${others.length} more`
    throw usage(`"${one.name}" was minted (${one.asset}${more}), and the CSV has no such row any more`, {
      param: '--from',
      next: `put the row back as it was; rows may be added. They are all in ${journal.file}. To mint a list as a new one, name another --journal`,
    })
  }
  const now = session.clock.now()
  const [latest] = gone.toSorted((a, b) => b.at - a.at)
  if (latest === undefined || latest.at + SIGNED_EXPIRY_MS <= now) return
  throw usage(`"${latest.name}" of an earlier run is not in the CSV any more, and may still be minted`, {
    param: '--from',
    next: `put the row back as it was, or run it again in ${Math.ceil((latest.at + SIGNED_EXPIRY_MS - now) / 1000)} seconds`,
  })
}

/** Throws a usage problem that names the rows whose owners are not wallets, before any row is minted. */
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
    const { accounts } = (await patiently(session, () => session.client.accounts.batchFetch({ addresses }))).data
    for (const [i, { owner, line }] of part.entries()) {
      const account = accounts[i] ?? null
      const kind = account && { ...account, hasData: account.space > 0 }
      const reason = recipientFault(owner, kind, { allowsPrograms: allow_programs })
      if (reason !== null) lines.push(`${file}:${line}: the owner ${owner} is not a wallet (${reason})`)
    }
  }
  if (lines.length === 0) return
  const count = `${lines.length} of ${owned.length} owners are not wallets`
  throw usage(`${lines[0]}; ${count}`, {
    param: '--from',
    lines: [...lines.slice(0, MOST_FAULTS), count],
    next: 'name the owners of token accounts instead; if a vault of a program is meant, add --allow-programs',
  })
}

/** The addresses at which the chain has an asset. A run that was killed could not record them. */
async function mintedOf(session: Session, rows: readonly { asset: string }[]): Promise<Set<string>> {
  const minted = new Set<string>()
  const bar = session.ui.progress('Reading the chain')
  for (let at = 0; at < rows.length; at += ADDRESSES_PER_REQUEST) {
    const addresses = rows.slice(at, at + ADDRESSES_PER_REQUEST).map(({ asset }) => asset)
    const { accounts } = (await patiently(session, () => session.client.accounts.batchFetch({ addresses }))).data
    for (const [i, address] of addresses.entries()) {
      if (accounts[i]?.owner === PROGRAMS.core.id) minted.add(address)
    }
    bar(at + addresses.length, rows.length)
  }
  session.ui.clear()
  return minted
}

/** Whether the asset is on chain now; false if that cannot be read. */
export const isMinted = (session: Session, { asset }: MintRow): Promise<boolean> =>
  session.client.accounts.batchFetch({ addresses: [asset] }).then(
    ({ data }) => data.accounts[0]?.owner === PROGRAMS.core.id,
    () => false,
  )
