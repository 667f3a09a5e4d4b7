/** What the tests of the contract share: every route, the least body of each write, and where a body is at fault. */
import type { z } from 'zod'
import { api } from '../../src/api/index.ts'
import type { AnyRoute } from '../../src/api/route.ts'

export const A = 'So11111111111111111111111111111111111111112'
export const B = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TX = 'AQID'
export const HASH = 'ab'.repeat(32)
export const DID = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'
export const U64_MAX = '18446744073709551615'

/** Dotted path of the first fault, an unknown field by its name; undefined when there is none. */
export function fault(schema: z.ZodType | undefined, input: unknown): string | undefined {
  const issue = schema!.safeParse(input).error?.issues[0]
  if (!issue) return undefined
  return (issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path).map(String).join('.')
}

export const routes: [string, AnyRoute][] = Object.entries(api).flatMap(([noun, verbs]) =>
  Object.entries(verbs as Record<string, AnyRoute>).map(([verb, route]): [string, AnyRoute] => [
    `${noun}.${verb}`,
    route,
  ]),
)
export const writes = routes.filter(([, { method }]) => method !== 'get')
export const lists = routes.filter(([, { list }]) => list)

/** The least that each write accepts. */
export const MINIMAL: Record<string, Record<string, unknown>> = {
  'pools.create': { creator: A, name: 'My Token', symbol: 'MTK', image: TX },
  'pools.rehearse': { creator: A, name: 'My Token', symbol: 'MTK', image: TX },
  'pools.verify': {},
  'pools.share': { payer: A },
  'pools.swap': { payer: A, side: 'buy', amount: '1' },
  'pools.migrate': { payer: A },
  'pools.transferCreator': { payer: A, new_creator: B },
  'pools.transferPositions': { payer: A, new_owner: B },
  'positions.open': { payer: A },
  'positions.add': { payer: A },
  'positions.remove': { payer: A },
  'positions.lock': { payer: A },
  'positions.vest': { payer: A },
  'positions.close': { payer: A },
  'feeClaims.create': { payer: A },
  'feeClaims.delegate': { payer: A, delegate: B },
  'feeSchedules.create': { cron: '0 6 * * *' },
  'feeSchedules.update': {},
  'feeSchedules.delete': {},
  'feeSchedules.run': {},
  'airdrops.create': { payer: A, platform_id: 'p', mint: A, airdrop_count: 0, merkle_root: HASH },
  'airdrops.claim': { claimer: A, platform_id: 'p', amount: '1' },
  'airdrops.withdraw': { amount: '1' },
  'sponsorships.update': {},
  'sponsorships.build': { claimer: A },
  'sponsorships.submit': { transaction: TX },
  'merkleTrees.create': { mint: A, entries: [{ wallet: A, amount: '1' }] },
  'holderSnapshots.create': { mint: A },
  'stakes.create': { user: A, platform_id: 'p', asset: A, collection: A },
  'stakes.release': { user: A, platform_id: 'p', collection: A },
  'nfts.create': { payer: A, platform_id: 'p', collection: A, name: 'n', uri: 'ipfs://x' },
  'nfts.burn': { owner: A, platform_id: 'p', collection: A },
  'collections.create': { payer: A, name: 'n', uri: 'ipfs://x' },
  'collections.transferAuthority': { payer: A, new_authority: B },
  'goldLocks.create': { user: A, platform_id: 'p', amount: '1', lock_duration_days: 1 },
  'goldLocks.unlock': { platform_id: 'p' },
  'locks.create': { payer: A, mint: A, recipient: B, amount: '1' },
  'locks.claim': { payer: A },
  'locks.cancel': { payer: A },
  'locks.changeRecipient': { payer: A, new_recipient: B },
  'locks.entitle': { payer: A, title: 't' },
  'locks.close': { payer: A },
  'tokens.create': { payer: A, name: 'n', symbol: 's', initial_supply: '0', uri: 'ipfs://x' },
  'tokens.batchFetch': { mints: [A] },
  'tokens.transferAuthority': { payer: A, new_authority: B },
  'tokens.revokeAuthority': { payer: A },
  'tokens.withdrawWithheld': { payer: A },
  'tokens.harvestFees': { payer: A },
  'tokens.updateMetadata': { payer: A, name: 'New' },
  'tokens.updateExtensions': { payer: A, transfer_fee: { basis_points: 1 } },
  'tokens.mint': { payer: A, amount: '1' },
  'tokens.burn': { payer: A, amount: '1' },
  'tokens.freeze': { payer: A, wallet: B },
  'tokens.thaw': { payer: A },
  'tokens.thawList': { payer: A, wallets: [B] },
  'tokens.pause': { payer: A },
  'tokens.resume': { payer: A },
  'tokens.close': { payer: A },
  'solTransfers.create': { payer: A, recipient: B, lamports: '1' },
  'tokenTransfers.create': { payer: A, mint: A, recipients: [{ wallet: B, amount: '1' }] },
  'tokenTransfers.plan': { payer: A, mint: A, recipients: [{ wallet: B, amount: '1' }] },
  'raises.create': { payer: A, mint: B, sale_mode: 'pro_rata', min: '1', max: '2', ends_at: '2030-01-01T00:00:00Z' },
  'raises.storeAllowlist': { entries: [{ wallet: A, cap: '1' }] },
  'raises.open': { payer: A },
  'raises.deposit': { buyer: A, amount: '1' },
  'raises.withdraw': { buyer: A },
  'raises.claim': { buyer: A },
  'raises.refund': { buyer: A },
  'raises.settle': { payer: A },
  'rentReclaims.create': { payer: A },
  'multisigs.create': { payer: A, members: [{ address: A }], threshold: 1 },
  'proposals.create': { approver: { kind: 'squads', multisig: A }, transaction: TX },
  'proposals.import': { multisig: A, transaction_index: '1' },
  'proposals.approve': {},
  'proposals.reject': {},
  'proposals.cancel': {},
  'proposals.execute': {},
  'proposals.reclaim': {},
  'proposals.renew': {},
  'transactions.submit': { transaction: TX },
  'transactions.refresh': { transactions: [TX] },
  'transactions.simulate': { transaction: TX },
  'transactions.forecast': { transactions: [TX] },
  'transactions.batchFetch': { signatures: ['1'.repeat(88)] },
  'events.repair': { since: '2026-01-01' },
  'ledger.repair': {},
  'accounts.batchFetch': { addresses: [A] },
  'pdas.derive': { args: {} },
  'storage.delegate': { agent_did: DID },
  'payRequests.create': { request: { method: 'POST', path: '/v2/sol-transfers' } },
  'payRequests.build': { account: A },
  'payRequests.revoke': {},
  'webhookSubscriptions.create': { url: 'https://example.com', enabled_events: ['*'] },
  'webhookSubscriptions.update': {},
  'webhookSubscriptions.delete': {},
  'webhookSubscriptions.test': {},
  'webhookSubscriptions.replay': { event_ids: ['evt_1'] },
  'webhookSubscriptions.rotateSecret': {},
  'signer.updatePolicy': {},
  'programs.check': {},
  'signer.pause': {},
  'auditEntries.cut': { through: 1, hash: 'ab'.repeat(32) },
  'signer.resume': {},
  'signer.reset': {},
  'signer.test': {},
  'apiKeys.create': { name: 'n' },
  'apiKeys.update': {},
  'apiKeys.rotate': {},
  'apiKeys.revoke': {},
  'approvers.add': { address: A, name: 'n' },
  'approvers.remove': {},
  'consoleSessions.link': {},
  'consoleSessions.end': {},
  'attention.snooze': { until: null },
}

export function bodyOf(name: string): z.ZodObject {
  return routes.find(([found]) => found === name)![1].body
}
export function bodyFault(name: string, changes: Record<string, unknown> = {}): string | undefined {
  return fault(bodyOf(name), { ...MINIMAL[name], ...changes })
}
