/** The contract and the operations of the routes that a pay request may name; an operation is loaded when it builds. */

import type { PayableName } from '../../api/payable-routes.ts'
import type { AnyRoute } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'

// biome-ignore lint/suspicious/noExplicitAny: the input is validated by the body of its route
type Operate = (context: Context, input: any) => Promise<object>

const deciding = async (decision: 'approved' | 'rejected' | 'cancelled'): Promise<Operate> => {
  const { decideProposal } = await import('../proposals/verbs.ts')
  return ofMultisig(decideProposal(decision))
}

/** Whoever has the link calls the operation, so it must only build. That of a rule's proposal decides at once. */
const ofMultisig =
  (operate: Operate): Operate =>
  async (context, input) => {
    const { requireProposal } = await import('../proposals/proposal-record.ts')
    const { id, kind } = await requireProposal(context.store.db, input.id)
    if (kind === 'squads') return operate(context, input)
    throw badRequest(`${id} is a proposal of a rule, about which no transaction decides: svc proposals show ${id}`)
  }

const OPERATIONS: Record<PayableName, () => Promise<Operate>> = {
  'pools.swap': async () => (await import('../pools/swap-pool.ts')).swapPool,
  'pools.transferCreator': async () => (await import('../pools/transfer-creator.ts')).transferCreator,
  'pools.transferPositions': async () => (await import('../pools/transfer-positions.ts')).transferPositions,
  'positions.open': async () => (await import('../positions/open-position.ts')).openPosition,
  'positions.add': async () => (await import('../positions/add-liquidity.ts')).addLiquidity,
  'positions.remove': async () => (await import('../positions/remove-liquidity.ts')).removeLiquidity,
  'positions.lock': async () => (await import('../positions/lock-position.ts')).lockPosition,
  'positions.vest': async () => (await import('../positions/vest-position.ts')).vestPosition,
  'positions.close': async () => (await import('../positions/close-position.ts')).closePosition,
  'pools.migrate': async () => (await import('../pools/migrate-pool.ts')).migratePool,
  'pools.share': async () => (await import('../pools/share-preset.ts')).sharePreset,
  'feeClaims.create': async () => (await import('../fee-claims/create-fee-claim.ts')).createFeeClaim,
  'feeClaims.delegate': async () => (await import('../fee-claims/delegate-fees.ts')).delegateFees,
  'airdrops.create': async () => (await import('../airdrops/create-airdrop.ts')).createAirdrop,
  'airdrops.claim': async () => (await import('../airdrops/claim-airdrop.ts')).claimAirdrop,
  'stakes.create': async () => (await import('../stakes.ts')).createStake,
  'stakes.release': async () => (await import('../stakes.ts')).releaseStake,
  'nfts.create': async () => (await import('../nfts.ts')).createNft,
  'nfts.burn': async () => (await import('../nfts.ts')).burnNft,
  'collections.create': async () => (await import('../collections.ts')).createCollection,
  'collections.transferAuthority': async () => (await import('../collections.ts')).transferCollectionAuthority,
  'goldLocks.create': async () => (await import('../gold-locks/verbs.ts')).createGoldLock,
  'goldLocks.unlock': async () => (await import('../gold-locks/verbs.ts')).unlockGoldLock,
  'locks.create': async () => (await import('../locks/verbs.ts')).createLock,
  'locks.claim': async () => (await import('../locks/verbs.ts')).claimLock,
  'locks.cancel': async () => (await import('../locks/verbs.ts')).cancelLock,
  'locks.changeRecipient': async () => (await import('../locks/verbs.ts')).changeLockRecipient,
  'locks.entitle': async () => (await import('../locks/verbs.ts')).entitleLock,
  'locks.close': async () => (await import('../locks/verbs.ts')).closeLock,
  'tokens.create': async () => (await import('../tokens/create-token.ts')).createToken,
  'tokens.transferAuthority': async () => (await import('../tokens/authorities.ts')).transferAuthority,
  'tokens.revokeAuthority': async () => (await import('../tokens/authorities.ts')).revokeAuthority,
  'tokens.withdrawWithheld': async () => (await import('../tokens/withheld-fees.ts')).withdrawWithheld,
  'tokens.harvestFees': async () => (await import('../tokens/withheld-fees.ts')).harvestFees,
  'tokens.updateMetadata': async () => (await import('../tokens/update-metadata.ts')).updateMetadata,
  'tokens.updateExtensions': async () => (await import('../tokens/update-extensions.ts')).updateExtensions,
  'tokens.mint': async () => (await import('../tokens/wallet-acts.ts')).mintTokens,
  'tokens.burn': async () => (await import('../tokens/wallet-acts.ts')).burnTokens,
  'tokens.freeze': async () => (await import('../tokens/wallet-acts.ts')).freezeAccounts,
  'tokens.thaw': async () => (await import('../tokens/wallet-acts.ts')).thawAccount,
  'tokens.thawList': async () => (await import('../tokens/wallet-acts.ts')).thawAccounts,
  'tokens.pause': async () => (await import('../tokens/mint-acts.ts')).pauseToken,
  'tokens.resume': async () => (await import('../tokens/mint-acts.ts')).resumeToken,
  'tokens.close': async () => (await import('../tokens/mint-acts.ts')).closeToken,
  'solTransfers.create': async () => (await import('../sol-transfers.ts')).createSolTransfer,
  'tokenTransfers.create': async () =>
    (await import('../token-transfers/create-token-transfer.ts')).createTokenTransfer,
  'rentReclaims.create': async () => (await import('../rent-reclaims/create-rent-reclaim.ts')).createRentReclaim,
  'multisigs.create': async () => (await import('../multisigs.ts')).createMultisig,
  'proposals.approve': () => deciding('approved'),
  'proposals.reject': () => deciding('rejected'),
  'proposals.cancel': () => deciding('cancelled'),
  'proposals.execute': async () => ofMultisig((await import('../proposals/verbs.ts')).executeProposal),
  'proposals.reclaim': async () => ofMultisig((await import('../proposals/verbs.ts')).reclaimProposal),
}

/** The route in the contract, with the schemas of its path and body. */
export async function payableRoute(name: PayableName): Promise<AnyRoute> {
  const api: Record<string, Record<string, AnyRoute>> = (await import('../../api/index.ts')).api
  const [noun = '', verb = ''] = name.split('.')
  const route = api[noun]?.[verb]
  if (route === undefined) throw new Error(`the contract has no route ${name}`)
  return route
}

export const payableOperation = (name: PayableName): Promise<Operate> => OPERATIONS[name]()
