/** Stakes: NFT assets that are frozen in their owner's wallet. */
import { z } from '@hono/zod-openapi'
import { address, assetAddress, collectionAddress, platformFeeField, platformId } from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { storedMetadata } from './metadata.ts'
import { unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'

const STAKE_STATUSES = ['unstaked', 'staked', 'burned'] as const

export const stake = z
  .object({
    asset: assetAddress,
    collection: collectionAddress,
    owner: address.nullable(),
    status: z.enum(STAKE_STATUSES),
    platform_id: z.string().nullable(),
    metadata: storedMetadata.nullable(),
  })
  .openapi('Stake')

const stakeLookup = z
  .object({
    wallet: address,
    note: z.string().meta({ description: 'Where the state of a stake is stored and how to decode it' }),
    staked_assets: z.array(stake),
  })
  .openapi('StakeLookup')

export type Stake = z.output<typeof stake>

const stakeParams = z.object({ asset: assetAddress })

const STAKES_TAG: Tag = {
  name: 'Stakes',
  description: 'Assets that are frozen in the wallet of their owner until they are released.',
}

export const stakes = {
  create: defineRoute({
    at: ['post', '/v2/stakes'],
    tag: STAKES_TAG,
    summary: 'Build the staking of an asset',
    description:
      "Freezes the asset in its owner's wallet, with a memo that names the platform. It cannot be moved until it is released.",
    body: buildBody({
      user: address,
      platform_id: platformId,
      asset: assetAddress,
      collection: collectionAddress,
      platform_fee: platformFeeField,
    }),
    data: unsignedPayload({}),
    signed: 'refused',
    payable: 'user',
    says: ({ asset }) => `Stake the NFT ${asset}`,
  }),
  release: defineRoute({
    at: ['delete', '/v2/stakes/{asset}'],
    tag: STAKES_TAG,
    summary: 'Build the release of a staked asset',
    description: 'Thaws the asset. Where the platform wallet is the authority of the stake, it has already signed.',
    params: stakeParams,
    body: buildBody({
      user: address,
      platform_id: platformId,
      collection: collectionAddress,
      platform_fee: platformFeeField,
    }),
    data: unsignedPayload({}),
    signed: 'refused',
    payable: 'user',
    says: ({ asset }) => `Release the NFT ${asset}`,
  }),
  list: defineRoute({
    at: ['get', '/v2/stakes'],
    tag: STAKES_TAG,
    summary: 'List stakes, newest first',
    description: 'Stakes that this service has seen on chain. Looking up a wallet finds its other stakes on chain.',
    query: listQuery({
      owner: address.optional(),
      collection: collectionAddress.optional(),
      status: z.enum(STAKE_STATUSES).optional(),
    }),
    data: stake,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/stakes/{asset}'],
    tag: STAKES_TAG,
    summary: 'Read one stake from the chain',
    description: 'Whether the asset is frozen and who owns it now. It may have been staked with any tool.',
    params: stakeParams,
    data: stake,
  }),
  lookup: defineRoute({
    at: ['get', '/v2/wallets/{wallet}/stakes'],
    tag: STAKES_TAG,
    summary: 'Look up the staked assets of a wallet',
    description:
      'Stakes that this service has seen on chain; `note` says where a stake is stored, so that you can read it there.',
    params: z.object({ wallet: address }),
    data: stakeLookup,
  }),
}
