/** Finds the accounts whose transactions claim fees of pools: fee claimers of launch curves, positions, and the platform wallet. */
import { positionsIn } from '../../chain/programs/damm-v2/index.ts'
import { feeClaimersOf } from '../../chain/programs/dbc/index.ts'
import type { FollowOptions, FollowServices } from '../../following/projection.ts'
import { dueAccounts, type FollowedAccount, type NewFollowedAccount, planLook } from '../../store/followed-accounts.ts'
import { newPools } from '../../store/newcomers.ts'
import { findPool } from '../../store/pools.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../timing.ts'
import { trySigner } from '../signing/require-signer.ts'

/** Pools that one round asks the chain about. */
const SOURCES_PER_ROUND = 100
/** Searches in a row that fail, after which the others wait for the next round. */
const MOST_FAULTS = 3
const AGAIN_MS = { dbc: DAY_MS, missing: 10 * SECOND_MS, damm_v2: 10 * MINUTE_MS, faulty: MINUTE_MS } as const

/**
 * A pool's own history is its trades, of which there may be any number and which change no record. Claims are in the
 * few transactions of its fee claimer, who signs each, and of its positions.
 */
export async function accountsOfPools(services: FollowServices, options: FollowOptions): Promise<NewFollowedAccount[]> {
  const { store, clock, config } = services
  const pools = await newPools(store.db, { genesis: options.genesis, now: clock.now() })
  const wallets = [config.values['platform-wallet'], (await trySigner(services))?.address]
  return [
    ...wallets.flatMap((address) => (address === undefined ? [] : [claimerAccount(address)])),
    ...pools.map(({ address, type }) => ({ address, kind: type, watch: 'source' }) as const),
    ...(await accountsOfSources(services, options)),
  ]
}

const claimerAccount = (address: string): NewFollowedAccount => ({ address, kind: 'wallet', watch: 'history' })

async function accountsOfSources(
  services: FollowServices,
  { genesis, takeCall }: FollowOptions,
): Promise<NewFollowedAccount[]> {
  const { store, chain, clock, log } = services
  const now = clock.now()
  const due = await dueAccounts(store.db, { genesis, watch: 'source', now, limit: SOURCES_PER_ROUND })
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
      // Public nodes may refuse such a search, which must stop nothing but this pool.
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
    const claimers = await feeClaimersIn(services, configs)
    for (const [i, { source }] of curves.entries()) {
      const claimer = claimers?.[i] ?? null
      if (claimer !== null) found.push(claimerAccount(claimer))
      const wait = claimers === null ? AGAIN_MS.faulty : claimer === null ? AGAIN_MS.missing : AGAIN_MS.dbc
      looked.push({ seq: source.seq, next: now + wait })
    }
  }
  if (looked.length === 0) return found
  await store.write(async (tx) => {
    for (const { seq, next } of looked) await planLook(tx, seq, next)
  })
  return found
}

/** Returns null where the node cannot read them, which stops nothing but these pools. */
async function feeClaimersIn({ chain, log }: FollowServices, configs: readonly string[]) {
  try {
    return await feeClaimersOf(await chain.connection(), configs)
  } catch (error) {
    log.warn({ err: error, configs }, 'the fee claimers of launch curves could not be read')
    return null
  }
}
