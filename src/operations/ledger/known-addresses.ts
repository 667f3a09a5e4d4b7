/** Finds known facts about the addresses and tokens of a transaction: platform wallets, creators of pools, symbols. */

import { vestingClaimsIn } from '../../chain/programs/jupiter-lock/index.ts'
import type { Services } from '../../context.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { recordedHolders } from '../../store/following/recorded-resources.ts'
import { poolCreators, symbolsOfMints } from '../../store/resources/pools.ts'
import type { Reader } from '../../store/store.ts'
import { findTransactions } from '../../store/transactions/transactions.ts'
import { poolOfVesting } from '../pools/claimed-fees.ts'
import { trySigner } from '../signing/require-signer.ts'
import type { KnownAddresses } from './acts.ts'

type KnownServices = Pick<Services, 'store' | 'chain' | 'config' | 'signer' | 'log'>

/** The configured platform wallet, and the signer's wallet. */
export async function platformWallets(services: Omit<KnownServices, 'store' | 'chain'>): Promise<string[]> {
  const wallets = [services.config.values['platform-wallet'], (await trySigner(services))?.address]
  return [...new Set(wallets.flatMap((wallet) => wallet ?? []))]
}

export async function knownAddresses(
  services: KnownServices,
  message: DecodedMessage,
  signature: string,
): Promise<KnownAddresses> {
  const { store, chain, config } = services
  const vestings = new Map<string, string>()
  const claims = vestingClaimsIn(message)
  const genesis = claims.length === 0 ? '' : await chain.genesisHash()
  for (const claim of claims) {
    const pool = await poolOfVesting(store.db, claim, genesis)
    if (pool !== null) vestings.set(claim.escrow, pool)
  }
  return {
    platform: new Set(await platformWallets(services)),
    creators: await poolCreators(store.db, message.keys),
    vestings,
    goldMint: config.values['gold.mint'],
    holders: await recordedHolders(store.db, message.keys),
    isSubmitted: (await findTransactions(store.db, [signature])).length > 0,
  }
}

/** Symbols of the tokens that were launched here, by mint. */
export const tokenSymbols = (reader: Reader, mints: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  symbolsOfMints(reader, mints)
