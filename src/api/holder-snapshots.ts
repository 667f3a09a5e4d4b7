/** Snapshots of holders: who held a token, or the assets of a collection, at one slot. */
import { z } from '@hono/zod-openapi'
import { HOLDER_KINDS } from '../merkle/allocation/holder-kinds.ts'
import {
  address,
  collectionAddress,
  digits,
  hex32,
  MINT_EXAMPLE,
  mintAddress,
  tokenProgramName,
} from './chain-scalars.ts'
import { listQuery, writeBody } from './envelope.ts'
import { storedMetadata } from './metadata.ts'
import { defineRoute, type Tag } from './route.ts'
import { nullOr, recordId, timestamp } from './scalars.ts'

/** The most pieces of a snapshot. */
const MOST_PIECES = 1_000

const holderKind = z.enum(HOLDER_KINDS).meta({
  description:
    '`wallet`: a key can sign for it. `pda`: only a program can, for example the vault of a multisig. `program`: an account of a program',
})
const ownersRead = z.enum(['all', 'off_curve']).meta({
  description:
    'Which owners’ accounts are read to distinguish wallets from programs: all, or only those that no key can sign for, which is much faster',
})

const holderSnapshot = z
  .object({
    id: z.string(),
    mint: mintAddress.nullable(),
    collection: collectionAddress.nullable(),
    token_program: nullOr(tokenProgramName),
    decimals: z.int().min(0).nullable().meta({ description: 'Of the mint; null for a collection' }),
    slot: z.int().min(0).meta({ description: 'Finalized slot at which all accounts were read' }),
    block_time: timestamp.nullable().meta({ description: 'Null if the node did not know it' }),
    supply: digits.meta({ description: 'Raw units, or the assets of the collection' }),
    accounts: z.int().min(0).meta({ description: 'Token accounts, empty ones included, or assets' }),
    holders: z.int().min(0).meta({ description: 'Addresses with a balance' }),
    withheld: digits.meta({
      description: 'Withheld transfer fees in accounts and mint, which belong to no holder',
    }),
    confidential: digits.meta({ description: 'Confidential balances, which only their holders can read' }),
    owners: ownersRead,
    kinds: z
      .array(z.object({ kind: holderKind, holders: z.int().min(0), amount: digits }))
      .meta({ description: 'Holders and their balances by kind' }),
    programs: z
      .array(address)
      .meta({ description: 'Programs; the rows of the pieces refer to them by their position' }),
    pieces: z.int().min(0).meta({ description: 'Number of pieces with the packed rows' }),
    holders_sha256: hex32.meta({ description: 'SHA-256 of the rows of all pieces, hex' }),
    external_uid: z.string().nullable(),
    metadata: storedMetadata.nullable(),
    created_at: timestamp,
  })
  .openapi('HolderSnapshot')

const snapshotHolder = z
  .object({
    wallet: address,
    amount: digits,
    kind: holderKind,
    program: address
      .nullable()
      .meta({ description: 'Program that owns the account at this address, other than System' }),
    frozen: z.boolean().meta({ description: 'Whether one of the holder’s token accounts is frozen' }),
  })
  .openapi('SnapshotHolder')

const holderPiece = z
  .object({
    n: z.int().min(0),
    rows: z.int().min(0),
    bytes: z.string().meta({
      contentEncoding: 'base64',
      description:
        'Rows of 44 bytes, sorted by address: address 32, amount u64 LE, position in the list of kinds u8, flags u8 (1: frozen), position of the program u16 LE (65534: none, 65535: not listed)',
    }),
  })
  .openapi('HolderPiece')

export type HolderSnapshot = z.output<typeof holderSnapshot>
export type SnapshotHolder = z.output<typeof snapshotHolder>

const snapshotParams = z.object({ id: recordId.meta({ example: 'hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C' }) })

const HOLDER_SNAPSHOTS_TAG: Tag = {
  name: 'Holder snapshots',
  description: 'Who held a token, or the assets of a collection, at one slot: the basis of an airdrop.',
}

export const holderSnapshots = {
  create: defineRoute({
    at: ['post', '/v2/holder-snapshots'],
    tag: HOLDER_SNAPSHOTS_TAG,
    summary: 'Read who holds a token or the assets of a collection, at one slot, and store it',
    description:
      'All accounts are read at one finalized slot, and their sum must equal the supply, otherwise the snapshot is refused. Only one runs at a time. It can take minutes, so send an Idempotency-Key, and repeat the request if no answer comes.',
    body: writeBody({
      mint: mintAddress.optional(),
      collection: collectionAddress.optional(),
      owners: ownersRead.default('all'),
      allow_confidential: z.boolean().default(false).meta({
        description: 'Counts the part of the supply that is missing as confidential balances, if the mint has them',
      }),
    }).superRefine(({ mint, collection }, context) => {
      if ((mint === undefined) !== (collection === undefined)) return
      const message =
        mint === undefined
          ? 'is required, unless collection is sent'
          : 'must not be sent with collection: send one of them'
      context.addIssue({ code: 'custom', path: ['mint'], message })
    }),
    example: { mint: MINT_EXAMPLE },
    data: holderSnapshot,
    status: 201,
    scope: 'airdrop:write',
  }),
  list: defineRoute({
    at: ['get', '/v2/holder-snapshots'],
    tag: HOLDER_SNAPSHOTS_TAG,
    summary: 'List snapshots of holders, newest first',
    description: 'Each with the slot at which it was read. A snapshot never changes.',
    query: listQuery({
      address: address.optional().meta({ description: 'Only snapshots of this mint or collection' }),
    }),
    data: holderSnapshot,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/holder-snapshots/{id}'],
    tag: HOLDER_SNAPSHOTS_TAG,
    summary: 'Read one snapshot of holders',
    description: 'Its slot, its mint or collection, the number of holders, and their total balance.',
    params: snapshotParams,
    data: holderSnapshot,
  }),
  holders: defineRoute({
    at: ['get', '/v2/holder-snapshots/{id}/holders'],
    tag: HOLDER_SNAPSHOTS_TAG,
    summary: 'List the holders of a snapshot, by address',
    description: 'Every holder with its raw units. They are sorted by address, so pages of one snapshot never shift.',
    params: snapshotParams,
    query: listQuery({}),
    data: snapshotHolder,
    list: true,
  }),
  piece: defineRoute({
    at: ['get', '/v2/holder-snapshots/{id}/pieces/{n}'],
    tag: HOLDER_SNAPSHOTS_TAG,
    summary: 'Read a piece of the packed holders of a snapshot, up to 8,192 at once',
    description:
      'Packed rows instead of a page of records, for programs that read a whole snapshot, such as `svc airdrops snapshot`.',
    params: snapshotParams.extend({
      n: z
        .string()
        .regex(/^(?:0|[1-9][0-9]{0,3})$/, 'must be the number of a piece, starting at 0')
        .transform(Number)
        .refine((n) => n < MOST_PIECES, `must be below ${MOST_PIECES}`)
        .openapi({ type: 'integer', minimum: 0, maximum: MOST_PIECES - 1 }),
    }),
    data: holderPiece,
  }),
}
