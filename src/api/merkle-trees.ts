/** Merkle trees: the stored lists of airdrops, and their proofs. */
import { z } from '@hono/zod-openapi'
import { address, airdropCount, digits, hex32, mintAddress, treeId, warningsField } from './chain-scalars.ts'
import { listQuery, writeBody } from './envelope.ts'
import { defineRoute, type Tag } from './route.ts'
import { timestamp } from './scalars.ts'

export const merkleTree = z
  .object({
    id: treeId,
    mint: mintAddress,
    airdrop_count: airdropCount,
    root: hex32.meta({ description: 'Hex, no prefix' }),
    root_hex: z
      .string()
      .regex(/^0x[0-9a-f]{64}$/)
      .meta({ description: 'Hex with 0x prefix' }),
    leaf_count: z.int().min(0),
    total: digits.meta({ description: 'Sum of all amounts, including locked ones, in raw units' }),
    total_locked: digits.meta({ description: 'Sum of the locked amounts in raw units; 0 without vesting' }),
    list_sha256: z.string().meta({
      description:
        'SHA-256 of the canonical list in hex: in leaf order wallet 32 bytes, amount u64 LE, and locked amount u64 LE if any wallet of the list has one',
    }),
    persisted: z.boolean(),
    created_by: z.string().nullable().meta({
      description: 'Id of the API key that stored it; null if none is recorded',
    }),
    created_at: timestamp.nullable(),
  })
  .openapi('MerkleTree')

const merkleTreeCreated = merkleTree.extend({ warnings: warningsField }).openapi('MerkleTreeCreated')

const merkleEntry = z
  .object({
    wallet: address,
    amount: digits.meta({ description: 'What can be claimed at once, raw units' }),
    amount_locked: digits.meta({ description: 'What vests over time, raw units; 0 without vesting' }),
  })
  .openapi('MerkleEntry')

const merkleProof = z
  .object({
    wallet: address,
    mint: mintAddress,
    amount: digits.meta({ description: 'What can be claimed at once, raw units' }),
    amount_locked: digits.meta({ description: 'What vests over time, raw units; 0 without vesting' }),
    root: hex32,
    proof: z.array(hex32).meta({ description: 'Sibling hashes in hex, leaf to root' }),
  })
  .openapi('MerkleProof')

const entryAmount = z.union([digits, z.number().min(0)])

export type TreeRecord = z.output<typeof merkleTree>
export type TreeCreated = z.output<typeof merkleTreeCreated>
export type MerkleEntry = z.output<typeof merkleEntry>
export type MerkleProof = z.output<typeof merkleProof>

export const MERKLE_TREES_TAG: Tag = {
  name: 'Merkle trees',
  description: 'Lists of wallets and amounts, the root that represents them on chain, and the proof of each wallet.',
}

export const merkleTrees = {
  create: defineRoute({
    at: ['post', '/v2/merkle-trees'],
    tag: MERKLE_TREES_TAG,
    summary: 'Build a tree from a list of wallets and amounts, and store it',
    description:
      'If the same id with the same root is already stored, the answer is that tree. `replace` stores another list in its place, for the API key that stored it or one with `airdrop:admin` or `*`. Amounts as strings are raw units. Amounts as numbers are scaled by `decimals`, exactly as written.',
    body: writeBody({
      mint: mintAddress,
      airdrop_count: airdropCount.default(0),
      decimals: z.int().min(0).max(18).optional(),
      entries: z
        .array(
          z.strictObject({
            wallet: address,
            amount: entryAmount,
            amount_locked: entryAmount.optional().meta({
              description: 'What vests over time, in addition to `amount` and in the same notation. Default 0',
            }),
          }),
        )
        .min(1)
        .max(50000),
      persist: z.boolean().default(true),
      duplicates: z.enum(['reject', 'sum']).default('reject'),
      replace: z.boolean().default(false),
    }),
    example: { persist: true },
    raw: true,
    large: true,
    data: merkleTreeCreated,
    status: 201,
    unstored: 'Nothing new is stored: `persist` is false, or the tree is already stored with the same root',
    scope: 'airdrop:write',
  }),
  list: defineRoute({
    at: ['get', '/v2/merkle-trees'],
    tag: MERKLE_TREES_TAG,
    summary: 'List stored trees, newest first',
    description: 'Roots and totals. The wallets of a tree are in the list of its entries.',
    query: listQuery({ mint: mintAddress.optional() }),
    data: merkleTree,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/merkle-trees/{id}'],
    tag: MERKLE_TREES_TAG,
    summary: 'Read one stored tree',
    description:
      'Root, total and number of leaves, with the state of its airdrop. The id names mint and `airdrop_count`.',
    params: z.object({ id: treeId }),
    data: merkleTree,
  }),
  entries: defineRoute({
    at: ['get', '/v2/merkle-trees/{id}/entries'],
    tag: MERKLE_TREES_TAG,
    summary: 'List the wallets and amounts of a stored tree, in leaf order',
    description: 'In the order of the list it was built from, so that the same entries give the same root elsewhere.',
    params: z.object({ id: treeId }),
    query: listQuery({}),
    data: merkleEntry,
    list: true,
  }),
  proof: defineRoute({
    at: ['get', '/v2/merkle-trees/{id}/proofs/{wallet}'],
    tag: MERKLE_TREES_TAG,
    summary: 'Read the proof of one wallet',
    description:
      'The hashes from the leaf of this wallet to the root, in the form that the distributor on chain accepts.',
    params: z.object({ id: treeId, wallet: address }),
    data: merkleProof,
  }),
}
