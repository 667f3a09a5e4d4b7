/** Follows the token accounts of the platform wallets, because payments into or out of them need not name the wallet. */
import { readHoldings } from '../../chain/programs/tokens/index.ts'
import type { FollowOptions, FollowServices, Projection } from '../../following/projection.ts'
import { MINUTE_MS } from '../../platform/timing.ts'
import {
  dueAccounts,
  HOLDING_KIND,
  type NewFollowedAccount,
  planLook,
} from '../../store/following/followed-accounts.ts'
import { platformWallets } from './known-addresses.ts'

/** Reason for listing the token accounts of a platform wallet. */
const HOLDER_KIND = 'holder'
/** Time between two searches for new token accounts. Their earlier history is found too. */
const AGAIN_MS = MINUTE_MS
/** Calls of one search: one for each token program. */
const HOLDING_CALLS = 2

/** This projection writes no records: only the ledger uses the history of these token accounts. */
export const ledgerProjection: Projection<never> = {
  changesIn: async () => null,
  write: async () => [],
  accountsToFollow: holdingsToFollow,
  followedPart(account, { kind }) {
    if (kind !== HOLDING_KIND) return undefined
    return account === null ? null : Buffer.concat([Buffer.from(`${account.lamports} `), account.data])
  },
}

async function holdingsToFollow(services: FollowServices, options: FollowOptions): Promise<NewFollowedAccount[]> {
  const { store, chain, clock, log } = services
  const { genesis, takeCall } = options
  const now = clock.now()
  const wallets = await platformWallets(services)
  const found: NewFollowedAccount[] = wallets.map((address) => ({ address, kind: HOLDER_KIND, watch: 'source' }))
  for (const wallet of await dueAccounts(store.db, {
    genesis,
    watch: 'source',
    kinds: [HOLDER_KIND],
    now,
    limit: 10,
  })) {
    const { address: about, seq } = wallet
    if (!wallets.includes(about) || !Array.from({ length: HOLDING_CALLS }, takeCall).every(Boolean)) continue
    try {
      const { holdings } = await readHoldings(chain, { wallet: about })
      found.push(
        ...holdings.map(({ account: address }) => ({ address, kind: HOLDING_KIND, watch: 'state', about }) as const),
      )
    } catch (error) {
      // An error must stop only this search.
      log.warn({ err: error, wallet: about }, 'the token accounts of the platform wallet could not be listed')
    }
    await store.write((tx) => planLook(tx, seq, now + AGAIN_MS))
  }
  return found
}
