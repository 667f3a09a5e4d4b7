/** Collections into which assets are minted, and the authorities that may mint. */
import { z } from '@hono/zod-openapi'
import { address, allowProgramsField, collectionAddress, otherWallet, warningsField } from './chain-scalars.ts'
import { buildBody } from './envelope.ts'
import { assetTexts, checkTextSize, NFTS_TAG } from './nfts.ts'
import { unsignedPayload } from './payloads.ts'
import { defineRoute } from './route.ts'

export const collection = z
  .object({
    address,
    name: z.string(),
    uri: z.string(),
    update_authority: address,
    update_delegates: z
      .array(address)
      .meta({ description: 'Wallets that may mint into it besides its update authority' }),
    num_minted: z.int().min(0).meta({ description: 'Number of assets ever minted into it' }),
    current_size: z.int().min(0).meta({ description: 'Number of assets that are not burned' }),
    frozen: z.boolean().meta({ description: 'True while its issuer has frozen the whole collection' }),
    cosigned: z.boolean().meta({ description: 'Whether the platform wallet signs mints into it' }),
  })
  .openapi('Collection')

const collectionCreated = unsignedPayload({
  collection: collectionAddress.meta({
    description: 'Address of the new collection; its generated key has already signed',
  }),
  warnings: warningsField,
}).openapi('CollectionCreated')

const collectionTransfer = unsignedPayload({
  collection: collectionAddress,
  update_authority: address.meta({ description: 'The holder until now, which signs' }),
  new_authority: otherWallet,
}).openapi('CollectionTransfer')

export type Collection = z.output<typeof collection>
export type CollectionTransfer = z.output<typeof collectionTransfer>
export type CollectionCreated = z.output<typeof collectionCreated>

export const collections = {
  create: defineRoute({
    at: ['post', '/v2/collections'],
    tag: NFTS_TAG,
    summary: 'Build the creation of a collection',
    description: 'Assets can be minted into it afterwards. Its authority is the update authority of all of them.',
    body: buildBody({
      payer: address,
      ...assetTexts,
      update_authority: address.optional().meta({
        description: 'Wallet that may mint into it and change it; by default the payer',
      }),
      allow_programs: allowProgramsField,
    }).superRefine(checkTextSize),
    data: collectionCreated,
    signed: 'refused',
    payable: 'payer',
    says: ({ name }) => `Create the collection ${name}`,
  }),
  transferAuthority: defineRoute({
    at: ['put', '/v2/collections/{address}/update-authority'],
    tag: NFTS_TAG,
    summary: 'Give the update authority of a collection to another address',
    description:
      'The present holder signs, and only the new one can give it back. It is the update authority of all assets in the collection too. The vault of a multisig can hold it, with `allow_programs`.',
    params: z.object({ address: collectionAddress }),
    body: buildBody({
      payer: address.meta({ description: 'Wallet that holds the authority and pays the fee' }),
      new_authority: otherWallet,
      allow_programs: allowProgramsField,
    }),
    data: collectionTransfer,
    signed: 'refused',
    payable: 'payer',
  }),
  get: defineRoute({
    at: ['get', '/v2/collections/{address}'],
    tag: NFTS_TAG,
    summary: 'Read one collection from the chain',
    description: 'Name, authority and numbers, and whether the platform wallet signs mints into it.',
    params: z.object({ address: collectionAddress }),
    data: collection,
  }),
}
