/** Reads one airdrop: its stored record joined with the chain. One without a record is read only from the chain. */
import type { Airdrop, Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Distributor } from '../../chain/programs/merkle-distributor/index.ts'
import { optionalRead } from '../../chain/reads/optional-read.ts'
import type { Context } from '../../context.ts'
import { findAirdrop } from '../../store/airdrops/airdrops.ts'
import type { Row } from '../../store/schema.ts'
import { airdropRecord, requireRecord } from '../api-records.ts'
import {
  airdropKeyOf,
  type ChainAirdrop,
  type PresentAirdrop,
  readAirdrop,
  reasonsNotToFund,
  statusOnChain,
} from './on-chain.ts'
import { airdropRank, airdropStatusOn } from './transitions.ts'
import { isoOfUnixTime } from './unix-times.ts'

type GetAirdropRoute = Api['airdrops']['get']

/** If the node fails or is slow, a stored airdrop is returned without its chain state. */
export async function getAirdrop(context: Context, { id }: Input<GetAirdropRoute>): Promise<Result<GetAirdropRoute>> {
  const { chain, store, log, actor } = context
  airdropKeyOf(id)
  const row = await findAirdrop(store.db, id)
  if (row === null) return foreignAirdrop(await readAirdrop(chain, id))
  const read = await optionalRead(log, 'an airdrop was read without its chain state', async () => ({
    genesis: await chain.genesisHash(),
    airdrop: await readAirdrop(chain, id),
  }))
  const record = read === null ? airdropRecord(row) : await storedAirdropWithChain(row, read.airdrop, read.genesis)
  return { ...record, own: row.created_by === actor.apiKeyId }
}

/** Returns the later of both states, because a node may lag behind the events that were written. */
export function currentStatus(row: Row<'merkle_trees'>, distributor: Distributor | null, genesis: string) {
  const [stored, shown] = [airdropStatusOn(row, genesis), statusOnChain(row, distributor)]
  return airdropRank(shown) > airdropRank(stored) ? shown : stored
}

async function storedAirdropWithChain(
  row: Row<'merkle_trees'>,
  airdrop: ChainAirdrop,
  genesis: string,
): Promise<Airdrop> {
  const { address, distributor } = airdrop
  const status = currentStatus(row, distributor, genesis)
  const record = { ...airdropRecord(row), status, distributor: address }
  if (distributor === null) return record
  if (distributor.root === row.root) {
    return {
      ...record,
      ...airdropStateOf(airdrop, distributor),
      ...(await vaultShortfall(row, { ...airdrop, distributor })),
    }
  }
  const note = `The distributor of this mint and airdrop_count has another root: ${distributor.admin} made it for another list. Store this list under another airdrop_count`
  return { ...record, ...airdropStateOf(airdrop, distributor), note }
}

/**
 * Describes an airdrop made by another tool, or from a list that is not stored here. Its limits replace the unknown
 * totals.
 */
function foreignAirdrop(airdrop: ChainAirdrop): Airdrop {
  const { id, mint, airdropCount } = airdrop
  const distributor = requireRecord(airdrop.distributor, 'airdrop', id)
  const { root, maxNodes, maxTotal } = distributor
  const leaf_count = maxNodes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(maxNodes) : 0
  return {
    id,
    mint,
    airdrop_count: airdropCount,
    root,
    leaf_count,
    status: statusOnChain(
      // With a schedule amounts may vest, so wallets that have claimed may get more later.
      {
        root,
        leaf_count: leaf_count || Number.MAX_SAFE_INTEGER,
        total: String(maxTotal),
        total_locked: distributor.endsAt - distributor.startsAt > 1n ? String(maxTotal) : '0',
      },
      distributor,
    ),
    created_at: null,
    own: null,
    total: null,
    total_locked: null,
    distributor: airdrop.address,
    ...airdropStateOf(airdrop, distributor),
    vault_lacks: null,
    note: distributor.isClawedBack
      ? WITHDRAWN
      : 'Its merkle tree is not stored here: a claim must send its amount and proof',
  }
}

function airdropStateOf({ vaultAddress, vault }: ChainAirdrop, distributor: Distributor) {
  return {
    on_chain_root: distributor.root,
    admin: distributor.admin,
    vault: vaultAddress,
    vault_balance: String(vault?.amount ?? 0n),
    claimed_count: Number(distributor.claimedNodes),
    claimed_amount: String(distributor.claimedTotal),
    starts_at: isoOfUnixTime(distributor.startsAt),
    ends_at: isoOfUnixTime(distributor.endsAt),
    clawback_at: isoOfUnixTime(distributor.clawbackAt),
    clawback_receiver: distributor.clawbackReceiver,
    clawed_back: distributor.isClawedBack,
  }
}

const WITHDRAWN = 'The vault was withdrawn after the clawback time: nothing can be claimed from it'

/**
 * Returns what prevents some wallets from claiming, or unclaimed tokens from returning to the admin. Missing funding
 * is included only if neither applies.
 */
async function vaultShortfall(
  row: Row<'merkle_trees'>,
  { distributor, vault, vaultAddress, mint }: PresentAirdrop,
): Promise<Pick<Airdrop, 'vault_lacks' | 'note'>> {
  if (distributor.isClawedBack) return { vault_lacks: null, note: WITHDRAWN }
  const reasons = await reasonsNotToFund(mint, distributor, row)
  if (reasons.length > 0) return { vault_lacks: null, note: reasons.join('. ') }
  const missing = BigInt(row.total) - distributor.claimedTotal - (vault?.amount ?? 0n)
  if (missing <= 0n) return { vault_lacks: '0', note: null }
  return {
    vault_lacks: String(missing),
    note: `The vault ${vaultAddress} lacks ${missing} of what can still be claimed`,
  }
}
