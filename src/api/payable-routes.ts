/** The routes whose build a pay request may name: each builds one transaction that the user's wallet signs. */
import { paths } from './paths.ts'
import type { RoutePath } from './route.ts'

export interface PayableRoute {
  /** Its name in the contract, such as `pools.swap`. */
  name: string
  at: RoutePath
  /** The field of the path or body with the wallet that pays and signs. */
  account: string
}

const { pools, positions, feeClaims, airdrops, stakes, nfts, collections, goldLocks, locks, tokens, proposals } = paths

export const PAYABLE_ROUTES = [
  { name: 'pools.swap', at: pools.swap, account: 'payer' },
  { name: 'pools.transferCreator', at: pools.transferCreator, account: 'payer' },
  { name: 'pools.transferPositions', at: pools.transferPositions, account: 'payer' },
  { name: 'positions.open', at: positions.open, account: 'payer' },
  { name: 'positions.add', at: positions.add, account: 'payer' },
  { name: 'positions.remove', at: positions.remove, account: 'payer' },
  { name: 'positions.lock', at: positions.lock, account: 'payer' },
  { name: 'positions.vest', at: positions.vest, account: 'payer' },
  { name: 'positions.close', at: positions.close, account: 'payer' },
  { name: 'pools.migrate', at: pools.migrate, account: 'payer' },
  { name: 'pools.share', at: pools.share, account: 'payer' },
  { name: 'feeClaims.create', at: feeClaims.create, account: 'payer' },
  { name: 'feeClaims.delegate', at: feeClaims.delegate, account: 'payer' },
  { name: 'airdrops.create', at: airdrops.create, account: 'payer' },
  { name: 'airdrops.claim', at: airdrops.claim, account: 'claimer' },
  { name: 'stakes.create', at: stakes.create, account: 'user' },
  { name: 'stakes.release', at: stakes.release, account: 'user' },
  { name: 'nfts.create', at: nfts.create, account: 'payer' },
  { name: 'nfts.burn', at: nfts.burn, account: 'owner' },
  { name: 'collections.create', at: collections.create, account: 'payer' },
  { name: 'collections.transferAuthority', at: collections.transferAuthority, account: 'payer' },
  { name: 'goldLocks.create', at: goldLocks.create, account: 'user' },
  { name: 'goldLocks.unlock', at: goldLocks.unlock, account: 'user' },
  { name: 'locks.create', at: locks.create, account: 'payer' },
  { name: 'locks.claim', at: locks.claim, account: 'payer' },
  { name: 'locks.cancel', at: locks.cancel, account: 'payer' },
  { name: 'locks.changeRecipient', at: locks.changeRecipient, account: 'payer' },
  { name: 'locks.entitle', at: locks.entitle, account: 'payer' },
  { name: 'locks.close', at: locks.close, account: 'payer' },
  { name: 'tokens.create', at: tokens.create, account: 'payer' },
  { name: 'tokens.transferAuthority', at: tokens.transferAuthority, account: 'payer' },
  { name: 'tokens.revokeAuthority', at: tokens.revokeAuthority, account: 'payer' },
  { name: 'tokens.withdrawWithheld', at: tokens.withdrawWithheld, account: 'payer' },
  { name: 'tokens.harvestFees', at: tokens.harvestFees, account: 'payer' },
  { name: 'tokens.updateExtensions', at: tokens.updateExtensions, account: 'payer' },
  { name: 'tokens.updateMetadata', at: tokens.updateMetadata, account: 'payer' },
  { name: 'tokens.mint', at: tokens.mint, account: 'payer' },
  { name: 'tokens.burn', at: tokens.burn, account: 'payer' },
  { name: 'tokens.freeze', at: tokens.freeze, account: 'payer' },
  { name: 'tokens.thaw', at: tokens.thaw, account: 'payer' },
  { name: 'tokens.thawList', at: tokens.thawList, account: 'payer' },
  { name: 'tokens.pause', at: tokens.pause, account: 'payer' },
  { name: 'tokens.resume', at: tokens.resume, account: 'payer' },
  { name: 'tokens.close', at: tokens.close, account: 'payer' },
  { name: 'solTransfers.create', at: paths.solTransfers.create, account: 'payer' },
  { name: 'tokenTransfers.create', at: paths.tokenTransfers.create, account: 'payer' },
  { name: 'rentReclaims.create', at: paths.rentReclaims.create, account: 'payer' },
  { name: 'multisigs.create', at: paths.multisigs.create, account: 'payer' },
  { name: 'proposals.approve', at: proposals.approve, account: 'member' },
  { name: 'proposals.reject', at: proposals.reject, account: 'member' },
  { name: 'proposals.cancel', at: proposals.cancel, account: 'member' },
  { name: 'proposals.execute', at: proposals.execute, account: 'member' },
  { name: 'proposals.reclaim', at: proposals.reclaim, account: 'member' },
] as const satisfies readonly PayableRoute[]
export type PayableName = (typeof PAYABLE_ROUTES)[number]['name']

/** `POST /v2/pools/{address}/swaps` */
export const routeText = ([method, path]: RoutePath): string => `${method.toUpperCase()} ${path}`

/** Returns the route of a request and the parameters of its path; null for any other request. */
export function payableRouteOf(
  method: string,
  path: string,
): { route: (typeof PAYABLE_ROUTES)[number]; params: Record<string, string> } | null {
  for (const route of PAYABLE_ROUTES) {
    if (route.at[0].toUpperCase() !== method.toUpperCase()) continue
    const params = paramsOf(route.at[1], path)
    if (params !== null) return { route, params }
  }
  return null
}

/** The parameters of a path; null if it is not one of this template. */
function paramsOf(template: string, path: string): Record<string, string> | null {
  const [wanted, given] = [template.split('/'), path.split('/')]
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? ''
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? []
    if (name === undefined ? part !== value : !/^[\w.:-]{1,128}$/.test(value)) return null
    if (name !== undefined) params[name] = value
  }
  return params
}
