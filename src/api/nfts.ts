/** NFTs: assets that are minted into a collection and can be burned. */
import { z } from '@hono/zod-openapi'
import {
  address,
  allowProgramsField,
  assetAddress,
  collectionAddress,
  platformId,
  uri,
  warningsField,
} from './chain-scalars.ts'
import { buildBody, listQuery } from './envelope.ts'
import { unsignedPayload } from './payloads.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, timestamp } from './scalars.ts'

const NFT_STATUSES = ['minted', 'burned'] as const

export const nft = z
  .object({
    asset: assetAddress,
    collection: collectionAddress.nullable().meta({
      description: 'Null for an asset without a collection, and if it was burned before this service first saw it',
    }),
    owner: address.nullable().meta({ description: 'Null once burned' }),
    name: z.string(),
    uri: z.string(),
    status: z.enum(NFT_STATUSES),
    frozen: z.boolean().meta({ description: 'True while it is staked, or frozen by its issuer' }),
    created_at: timestamp.nullable(),
  })
  .openapi('Nft')

const nftCreated = unsignedPayload({
  asset: assetAddress.meta({
    description: 'Address of the new asset; its generated key has already signed, unless the request named a key',
  }),
  warnings: warningsField,
}).openapi('NftCreated')

export type Nft = z.output<typeof nft>
export type NftCreated = z.output<typeof nftCreated>

const nftParams = z.object({ asset: assetAddress })

/**
 * Maximum UTF-8 bytes of the texts that fit into a transaction in which payer, authority and owner are three wallets.
 */
export const TEXT_BYTES = 692
const encoder = new TextEncoder()
const bytesOf = (text: string) => encoder.encode(text).length

/** Name and metadata URI of an asset or a collection. */
export const assetTexts = { name: line(64).meta({ example: 'Genesis #1' }), uri }

/** Rejects texts that do not fit into a transaction. */
export function checkTextSize({ name, uri }: { name: string; uri: string }, context: z.RefinementCtx): void {
  const [ofName, ofUri] = [bytesOf(name), bytesOf(uri)]
  if (ofName + ofUri <= TEXT_BYTES) return
  const message = `takes ${ofUri} bytes as UTF-8, and name ${ofName}: together at most ${TEXT_BYTES} fit into a transaction`
  context.addIssue({ code: 'custom', path: ['uri'], message })
}

export const NFTS_TAG: Tag = {
  name: 'NFTs',
  description: 'Assets of Metaplex Core and their collections: mint into one, read, burn.',
}

export const nfts = {
  create: defineRoute({
    at: ['post', '/v2/nfts'],
    tag: NFTS_TAG,
    summary: 'Build the minting of an asset into a collection',
    description:
      "The asset's generated key has already signed. The authority of the collection signs too; the platform wallet does so for the collections that `nfts.cosign_collections` lists.",
    body: buildBody({
      payer: address,
      platform_id: platformId,
      collection: collectionAddress,
      ...assetTexts,
      owner: address.optional().meta({ description: 'Owner of the asset; by default the payer' }),
      allow_programs: allowProgramsField,
      authority: address.optional().meta({
        description:
          'Which authority of the collection signs: its update authority or a delegate (default: the payer if it is one of these)',
      }),
      asset: assetAddress.optional().meta({
        description: 'Address of a new key of your own, which must then sign; the same asset can never be minted twice',
      }),
    }).superRefine(checkTextSize),
    data: nftCreated,
    signed: 'refused',
    payable: 'payer',
    says: ({ name }) => `Mint the NFT ${name}`,
  }),
  burn: defineRoute({
    at: ['delete', '/v2/nfts/{asset}'],
    tag: NFTS_TAG,
    summary: 'Build the burning of an asset',
    description: 'This is permanent: the asset is gone, and most of its rent returns to its owner.',
    params: nftParams,
    body: buildBody({ owner: address, platform_id: platformId, collection: collectionAddress }),
    data: unsignedPayload({}),
    signed: 'refused',
    payable: 'owner',
    says: ({ asset }) => `Burn the NFT ${asset}`,
  }),
  list: defineRoute({
    at: ['get', '/v2/nfts'],
    tag: NFTS_TAG,
    summary: 'List NFTs, newest first',
    description: 'Assets that this service has seen on chain, including burned ones.',
    query: listQuery({ owner: address.optional(), collection: collectionAddress.optional() }),
    data: nft,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/nfts/{asset}'],
    tag: NFTS_TAG,
    summary: 'Read one NFT from the chain',
    description: 'Owner, name and whether it is frozen. The asset may have been minted with any tool.',
    params: nftParams,
    data: nft,
  }),
}
