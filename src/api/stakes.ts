/** Stakes: NFT assets that are frozen in their owner's wallet. */
import { z } from '@hono/zod-openapi'
import { address, platformFeeField, platformId } from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { storedMetadata } from './metadata.ts'
import { paths } from './paths.ts'
import { unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'

export const STAKE_STATUSES = ['unstaked', 'staked', 'burned'] as const

export const stake = z
  .object({
    asset: address,
    collection: address,
    owner: address.nullable(),
    status: z.enum(STAKE_STATUSES),
    platform_id: z.string().nullable(),
    metadata: storedMetadata.nullable(),
  })
  .openapi('Stake')

export const stakeLookup = z
  .object({
    wallet: address,
    note: z.string().meta({ description: 'Where the state of a stake lives and how to decode it' }),
    staked_assets: z.array(stake),
  })
  .openapi('StakeLookup')

export type Stake = z.output<typeof stake>
export type StakeLookup = z.output<typeof stakeLookup>

const stakeParams = z.object({ asset: address })

export const stakes = {
  create: defineRoute({
    at: paths.stakes.create,
    tag: 'Stakes',
    summary: 'Build the staking of an asset',
    body: buildBody({
      user: address,
      platform_id: platformId,
      asset: address,
      collection: address,
      platform_fee: platformFeeField,
    }),
    data: unsignedPayload({}),
    signed: 'refused',
  }),
  release: defineRoute({
    at: paths.stakes.release,
    tag: 'Stakes',
    summary: 'Build the release of a staked asset',
    params: stakeParams,
    body: buildBody({
      user: address,
      platform_id: platformId,
      collection: address,
      platform_fee: platformFeeField,
    }),
    data: unsignedPayload({}),
    signed: 'refused',
  }),
  list: defineRoute({
    at: paths.stakes.list,
    tag: 'Stakes',
    summary: 'List stakes, newest first',
    query: listQuery({
      owner: address.optional(),
      collection: address.optional(),
      status: z.enum(STAKE_STATUSES).optional(),
    }),
    data: stake,
    list: true,
  }),
  get: defineRoute({
    at: paths.stakes.get,
    tag: 'Stakes',
    summary: 'Read one stake from the chain',
    params: stakeParams,
    data: stake,
  }),
  lookup: defineRoute({
    at: paths.stakes.lookup,
    tag: 'Stakes',
    summary: 'Look up the staked assets of a wallet',
    params: z.object({ wallet: address }),
    data: stakeLookup,
  }),
}
