/** Finds the accounts whose transactions claim from pools: fee claimers and creators of launch curves, locks, positions, and the platform wallet. */
import { positionsIn } from '../../chain/programs/damm-v2/index.ts'
import { creatorPart, leftoverPart, readReceivers, vestingEscrowAddress } from '../../chain/programs/dbc/index.ts'
import type { FollowedData, FollowedFor, FollowOptions, FollowServices } from '../../following/projection.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../platform/timing.ts'
import {
  dueAccounts,
  type FollowedAccount,
  type NewFollowedAccount,
  planLook,
} from '../../store/following/followed-accounts.ts'
import { newPools } from '../../store/following/newcomers.ts'
import { findPool } from '../../store/resources/pools.ts'
import { trySigner } from '../signing/require-signer.ts'
import { CLAIMER_KIND } from './claimed-fees.ts'

/** Pools whose accounts one round reads. */
const SOURCES_PER_ROUND = 100
/** After this many failed searches in a row, the others wait for the next round. */
const MOST_FAULTS = 3
const AGAIN_MS = { dbc: DAY_MS, missing: 10 * SECOND_MS, damm_v2: 10 * MINUTE_MS, faulty: MINUTE_MS } as const

/** Reasons for following a launch curve by a wallet's history. The wallet comes after a colon. */
const BY_CREATOR = 'creator'
const BY_RECEIVER = 'leftover'

/**
 * A pool's own history consists of any number of trades, which change no record. Claims are in the few transactions of
 * its fee claimer, who signs each, and of its positions. Its creator may be any wallet, so the creator's history is
 * listed only when the pool's account shows a claim.
 */
export async function accountsOfPools(services: FollowServices, options: FollowOptions): Promise<NewFollowedAccount[]> {
  const { store, clock, config } = services
  const pools = await newPools(store.db, { genesis: options.genesis, now: clock.now() })
  const wallets = [config.values['platform-wallet'], (await trySigner(services))?.address]
  return [
    ...wallets.flatMap((address) => (address === undefined ? [] : [claimerAccount(address)])),
    ...pools.map(({ address, type }) => ({ address, kind: type, watch: 'source' }) as const),
    ...pools.flatMap(({ address, type, creator }) =>
      type === 'damm_v2' || creator === null || wallets.includes(creator) ? [] : [creatorAccount(address, creator)],
    ),
    ...(await accountsOfSources(services, options)),
  ]
}

const claimerAccount = (address: string): NewFollowedAccount => ({ address, kind: CLAIMER_KIND, watch: 'history' })

const followedBy = (address: string, reason: string, wallet: string): NewFollowedAccount => ({
  address,
  kind: `${reason}:${wallet}`,
  watch: 'state',
  history_of: wallet,
})

/** The account of a launch curve, followed for the claims of its creator. */
export const creatorAccount = (pool: string, creator: string): NewFollowedAccount =>
  followedBy(pool, BY_CREATOR, creator)

/** Returns the part of a launch curve's account that the wallet's transactions change. */
export function followedPartOf(
  account: FollowedData,
  { kind, history_of }: FollowedFor,
): Uint8Array | null | undefined {
  if (history_of === null) return undefined
  if (kind.startsWith(`${BY_CREATOR}:`)) return creatorPart(account, history_of)
  return kind.startsWith(`${BY_RECEIVER}:`) ? leftoverPart(account) : undefined
}

async function accountsOfSources(
  services: FollowServices,
  { genesis, takeCall }: FollowOptions,
): Promise<NewFollowedAccount[]> {
  const { store, chain, clock, log } = services
  const now = clock.now()
  const due = await dueAccounts(store.db, {
    genesis,
    watch: 'source',
    kinds: ['dbc', 'damm_v2'],
    now,
    limit: SOURCES_PER_ROUND,
  })
  const found: NewFollowedAccount[] = []
  const looked: { seq: number; next: number }[] = []
  const curves: { source: FollowedAccount; config: string }[] = []
  let faults = 0
  for (const source of due) {
    if (source.kind === 'dbc') {
      const pool = await findPool(store.db, source.address)
      if (pool?.config) curves.push({ source, config: pool.config })
      else looked.push({ seq: source.seq, next: now + AGAIN_MS.missing })
    } else if (faults < MOST_FAULTS && takeCall()) {
      // Public nodes may refuse such a search. An error must stop only this pool.
      const positions = await positionsIn(chain, source.address).catch((error: unknown) => {
        log.warn({ err: error, pool: source.address }, 'the positions of a pool could not be listed')
        return null
      })
      faults = positions === null ? faults + 1 : 0
      if (positions === null) {
        looked.push({ seq: source.seq, next: now + AGAIN_MS.faulty })
        continue
      }
      found.push(...positions.map((address) => ({ address, kind: 'position', watch: 'state' }) as const))
      const wait = positions.length === 0 ? AGAIN_MS.missing : AGAIN_MS.damm_v2
      looked.push({ seq: source.seq, next: now + wait })
    }
  }
  if (curves.length > 0 && takeCall()) {
    const configs = curves.map(({ config }) => config)
    const receivers = await receiversIn(services, configs)
    for (const [i, { source }] of curves.entries()) {
      const { feeClaimer, leftoverReceiver, hasVesting } = receivers?.[i] ?? { hasVesting: false }
      if (feeClaimer !== undefined) found.push(claimerAccount(feeClaimer))
      if (leftoverReceiver !== undefined && leftoverReceiver !== feeClaimer) {
        found.push(followedBy(source.address, BY_RECEIVER, leftoverReceiver))
      }
      if (hasVesting) found.push(await vestingAccount(source.address))
      const wait = receivers === null ? AGAIN_MS.faulty : feeClaimer === undefined ? AGAIN_MS.missing : AGAIN_MS.dbc
      looked.push({ seq: source.seq, next: now + wait })
    }
  }
  if (looked.length === 0) return found
  await store.write(async (tx) => {
    for (const { seq, next } of looked) await planLook(tx, seq, next)
  })
  return found
}

const vestingAccount = async (pool: string): Promise<NewFollowedAccount> => ({
  address: await vestingEscrowAddress(pool),
  kind: 'vesting',
  watch: 'state',
  about: pool,
})

/** Returns null if the node cannot read them, which stops only these pools. */
async function receiversIn({ chain, log }: FollowServices, configs: readonly string[]) {
  try {
    return await readReceivers(chain, configs)
  } catch (error) {
    log.warn({ err: error, configs }, 'the receivers of launch curves could not be read')
    return null
  }
}
