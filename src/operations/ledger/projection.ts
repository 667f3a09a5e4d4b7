/** Follows the token accounts of the platform wallets: what pays into them or out of them need not name the wallet. */
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

/** Reason for which a platform wallet is asked for its token accounts. */
const HOLDER_KIND = 'holder'
/** Time between two looks for new token accounts, of which all that happened before is found too. */
const AGAIN_MS = MINUTE_MS
/** Calls of one look: one for each token program. */
const HOLDING_CALLS = 2

/** It writes no records: all that a platform wallet's token accounts show is the ledger's. */
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
      // It must stop nothing but this search.
      log.warn({ err: error, wallet: about }, 'the token accounts of the platform wallet could not be listed')
    }
    await store.write((tx) => planLook(tx, seq, now + AGAIN_MS))
  }
  return found
}
