/** Records the results of sponsored claims, and returns unused amounts to the budget. */
import { readBlockhashEnd } from '../../chain/reads/statuses.ts'
import type { Services } from '../../context.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import { ENDED_BLOCKHASH_SLOTS } from '../../solana/constants.ts'
import { lifetimeOf } from '../../solana/lifetimes.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import {
  addToUsed,
  type EndedSponsoredClaim,
  endedSponsoredClaims,
  lockSponsorship,
  moveSponsoredClaim,
  type SponsoredClaimRow,
  unsignedSponsoredClaims,
} from '../../store/airdrops/sponsorships.ts'
import { findSigning, supersedeSigning } from '../../store/signing/signings.ts'
import type { Tx } from '../../store/store.ts'

type SettleServices = Pick<Services, 'store' | 'clock'>

/** Claims that one database transaction settles, and claims that one call settles. */
const CLAIMS_PER_WRITE = 100
const MOST_CLAIMS = 1_000
/** Claims without a signature that one round of the worker looks at, and their least age. */
const MOST_UNSIGNED = 20
const UNSIGNED_AGE_MS = 2 * MINUTE_MS

/** Settles claims whose transactions are final or have expired. Reads only the database. */
export async function settleSponsoredClaims(services: SettleServices, signal?: AbortSignal): Promise<void> {
  const { store } = services
  let after = 0
  for (let settled = 0; settled < MOST_CLAIMS; settled += CLAIMS_PER_WRITE) {
    signal?.throwIfAborted()
    const ended = await endedSponsoredClaims(store.db, after, CLAIMS_PER_WRITE)
    if (ended.length > 0) {
      await store.write(async (tx) => {
        // The order is the same everywhere, so that two processes cannot wait for each other.
        const ordered = ended.toSorted((one, other) => (one.airdrop_id < other.airdrop_id ? -1 : 1))
        for (const each of ordered) await settle(tx, services, each)
      })
    }
    const last = ended.at(-1)
    if (last === undefined || ended.length < CLAIMS_PER_WRITE) return
    after = last.seq
  }
}

const EXPIRED = JSON.stringify('BlockhashExpired')

async function settle(tx: Tx, { clock }: SettleServices, ended: EndedSponsoredClaim): Promise<void> {
  const { id, airdrop_id, lamports, fee, lifecycle, err_json } = ended
  const isExpired = lifecycle === 'failed' && err_json === EXPIRED
  const status = lifecycle !== 'failed' ? 'landed' : isExpired ? 'expired' : 'failed'
  const returned = status === 'landed' ? 0n : isExpired ? BigInt(lamports) : BigInt(lamports) - BigInt(fee)
  const changes = { status, live: status === 'landed' ? 1 : 0, settled_at: clock.now() } as const
  const sponsorship = await lockSponsorship(tx, airdrop_id)
  if (!(await moveSponsoredClaim(tx, { id, status: 'submitted' }, changes))) return
  if (sponsorship === null || returned === 0n) return
  await addToUsed(tx, sponsorship, -returned)
}

/**
 * Frees reserved claims that were never stored as signed, for example because a process died, once their blockhash has
 * expired. A signature that was made was never sent and can no longer land. Throws internal_error when the node fails.
 */
export async function freeUnsignedClaims(
  services: SettleServices & Pick<Services, 'chain'>,
  signal?: AbortSignal,
): Promise<void> {
  const { store, clock, chain } = services
  const rows = await unsignedSponsoredClaims(store.db, clock.now() - UNSIGNED_AGE_MS, MOST_UNSIGNED)
  if (rows.length === 0) return
  const genesis = await chain.genesisHash()
  for (const row of rows) {
    signal?.throwIfAborted()
    if (row.genesis !== genesis || (await isOver(services, row))) await free(services, row)
  }
}

async function isOver(
  { store, chain }: SettleServices & Pick<Services, 'chain'>,
  { signing_id }: SponsoredClaimRow,
): Promise<boolean> {
  const signing = await findSigning(store.db, signing_id)
  if (signing?.state !== 'intended') return signing?.state !== 'signed'
  const { blockhash } = lifetimeOf(decodeWireTransaction(signing.transaction).message)
  const { slot, ended } = await readBlockhashEnd(chain, blockhash)
  return ended[0] === true && slot >= (signing.since_slot ?? 0) + ENDED_BLOCKHASH_SLOTS
}

async function free({ store, clock }: SettleServices, row: SponsoredClaimRow): Promise<void> {
  const { id, airdrop_id, signing_id, lamports } = row
  await store.write(async (tx) => {
    const sponsorship = await lockSponsorship(tx, airdrop_id)
    const changes = { status: 'expired', live: 0, settled_at: clock.now() } as const
    if (!(await moveSponsoredClaim(tx, { id, status: 'signing' }, changes))) return
    // No process can sign it any more, so a freed claim is not sent later.
    await supersedeSigning(tx, signing_id)
    if (sponsorship === null) return
    await addToUsed(tx, sponsorship, -BigInt(lamports))
  })
}
