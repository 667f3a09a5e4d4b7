/** NFTs: assets minted into a collection, and burned. */
import { z } from '@hono/zod-openapi'
import { address, listQuery, platformId, timestamp, unsignedPayload, uri, writeBody } from './envelope.ts'
import { paths } from './paths.ts'
import { defineRoute } from './route.ts'

export const NFT_STATUSES = ['minted', 'burned'] as const
export type NftStatus = (typeof NFT_STATUSES)[number]

export const nft = z
  .object({
    asset: address,
    collection: address,
    owner: address.nullable().meta({ description: 'Null once burned' }),
    name: z.string(),
    uri: z.string(),
    status: z.enum(NFT_STATUSES),
    frozen: z.boolean().meta({ description: 'True while staked' }),
    created_at: timestamp.nullable(),
  })
  .openapi('Nft')

export const nftCreated = unsignedPayload({
  asset: address.meta({ description: 'Address of the new asset; its generated key has already signed' }),
}).openapi('NftCreated')

export type Nft = z.output<typeof nft>
export type NftCreated = z.output<typeof nftCreated>

const params = z.object({ asset: address })

export const nfts = {
  create: defineRoute({
    at: paths.nfts.create,
    tag: 'NFTs',
    summary: 'Build the minting of an asset into a collection',
    body: writeBody({
      payer: address,
      platform_id: platformId,
      collection: address,
      name: z.string().min(1).max(64),
      uri,
    }),
    data: nftCreated,
    signed: 'refused',
  }),
  burn: defineRoute({
    at: paths.nfts.burn,
    tag: 'NFTs',
    summary: 'Build the burning of an asset',
    params,
    body: writeBody({ owner: address, platform_id: platformId, collection: address }),
    data: unsignedPayload({}),
    signed: 'refused',
  }),
  list: defineRoute({
    at: paths.nfts.list,
    tag: 'NFTs',
    summary: 'List NFTs, newest first',
    query: listQuery({ owner: address.optional(), collection: address.optional() }),
    data: nft,
    list: true,
  }),
  get: defineRoute({
    at: paths.nfts.get,
    tag: 'NFTs',
    summary: 'Read one NFT from the chain',
    params,
    data: nft,
  }),
}
