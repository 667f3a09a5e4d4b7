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
import { paths } from './paths.ts'
import { defineRoute } from './route.ts'
import { nullOr, recordId, timestamp } from './scalars.ts'

/** Pieces that a snapshot has at most. */
const MOST_PIECES = 1_000

const holderKind = z.enum(HOLDER_KINDS).meta({
  description:
    '`wallet`: a key can sign for it. `pda`: only a program can, as for the vault of a multisig. `program`: an account of a program',
})
const ownersRead = z.enum(['all', 'off_curve']).meta({
  description:
    'Whose accounts are read to tell wallets from programs: those of all owners, or of those alone that no key can sign for, which is much faster',
})

export const holderSnapshot = z
  .object({
    id: z.string(),
    mint: mintAddress.nullable(),
    collection: collectionAddress.nullable(),
    token_program: nullOr(tokenProgramName),
    decimals: z.int().min(0).nullable().meta({ description: 'Of the mint; null for a collection' }),
    slot: z.int().min(0).meta({ description: 'Finalized slot at which all accounts were read' }),
    block_time: timestamp.nullable().meta({ description: 'Null where the node did not know it' }),
    supply: digits.meta({ description: 'Raw units, or the assets of the collection' }),
    accounts: z.int().min(0).meta({ description: 'Token accounts, empty ones included, or assets' }),
    holders: z.int().min(0).meta({ description: 'Addresses that hold something' }),
    withheld: digits.meta({
      description: 'Transfer fees that accounts and mint hold back, which are nobody’s balance',
    }),
    confidential: digits.meta({ description: 'What only its holders can read' }),
    owners: ownersRead,
    kinds: z
      .array(z.object({ kind: holderKind, holders: z.int().min(0), amount: digits }))
      .meta({ description: 'Holders and what they hold by kind' }),
    programs: z.array(address).meta({ description: 'Programs that the rows of the pieces name by their place' }),
    pieces: z.int().min(0).meta({ description: 'Number of pieces with the packed rows' }),
    holders_sha256: hex32.meta({ description: 'SHA-256 of the rows of all pieces, hex' }),
    external_uid: z.string().nullable(),
    metadata: storedMetadata.nullable(),
    created_at: timestamp,
  })
  .openapi('HolderSnapshot')

export const snapshotHolder = z
  .object({
    wallet: address,
    amount: digits,
    kind: holderKind,
    program: address.nullable().meta({ description: 'Program that owns an account at the address, but System' }),
    frozen: z.boolean().meta({ description: 'Whether an account of the holder is frozen' }),
  })
  .openapi('SnapshotHolder')

export const holderPiece = z
  .object({
    n: z.int().min(0),
    rows: z.int().min(0),
    bytes: z.string().meta({
      contentEncoding: 'base64',
      description:
        'Rows of 44 bytes, by address: address 32, amount u64 LE, place in the list of kinds u8, flags u8 (1: frozen), place of the program u16 LE (65534: none, 65535: not listed)',
    }),
  })
  .openapi('HolderPiece')

export type HolderSnapshot = z.output<typeof holderSnapshot>
export type SnapshotHolder = z.output<typeof snapshotHolder>
export type HolderPiece = z.output<typeof holderPiece>

const SNAPSHOTS_TAG = 'Holder snapshots'
const snapshotParams = z.object({ id: recordId.meta({ example: 'hsn_9aPw4DfKs6ZtLm2QvXr8Ye1C' }) })

export const holderSnapshots = {
  create: defineRoute({
    at: paths.holderSnapshots.create,
    tag: SNAPSHOTS_TAG,
    summary: 'Read who holds a token or the assets of a collection, at one slot, and store it',
    description:
      'All accounts are read at one finalized slot and held against the supply; what does not add up is refused. One at a time: it can take minutes, so send an Idempotency-Key, and repeat the request where no answer comes.',
    body: writeBody({
      mint: mintAddress.optional(),
      collection: collectionAddress.optional(),
      owners: ownersRead.default('all'),
      allow_confidential: z.boolean().default(false).meta({
        description: 'Takes what is missing of the supply for confidential balances, where the mint has them',
      }),
    }).superRefine(({ mint, collection }, context) => {
      if ((mint === undefined) !== (collection === undefined)) return
      const message = mint === undefined ? 'is required, or collection' : 'goes without collection: send one of them'
      context.addIssue({ code: 'custom', path: ['mint'], message })
    }),
    example: { mint: MINT_EXAMPLE },
    data: holderSnapshot,
    status: 201,
    scope: 'airdrop:write',
  }),
  list: defineRoute({
    at: paths.holderSnapshots.list,
    tag: SNAPSHOTS_TAG,
    summary: 'List snapshots of holders, newest first',
    description: 'Each with the slot at which it was read. A snapshot does not change any more.',
    query: listQuery({ address: address.optional().meta({ description: 'Those of this mint or collection' }) }),
    data: holderSnapshot,
    list: true,
  }),
  get: defineRoute({
    at: paths.holderSnapshots.get,
    tag: SNAPSHOTS_TAG,
    summary: 'Read one snapshot of holders',
    description: 'At which slot, of which mint or collection, how many holders, and what they hold in all.',
    params: snapshotParams,
    data: holderSnapshot,
  }),
  holders: defineRoute({
    at: paths.holderSnapshots.holders,
    tag: SNAPSHOTS_TAG,
    summary: 'List the holders of a snapshot, by address',
    description: 'Every holder with its raw units, sorted by address so that pages of one snapshot never shift.',
    params: snapshotParams,
    query: listQuery({}),
    data: snapshotHolder,
    list: true,
  }),
  piece: defineRoute({
    at: paths.holderSnapshots.piece,
    tag: SNAPSHOTS_TAG,
    summary: 'Read a piece of the packed holders of a snapshot, up to 8,192 at once',
    description:
      'For programs that read a whole snapshot, as `svc airdrops snapshot` does: packed rows instead of a page of records.',
    params: snapshotParams.extend({
      n: z
        .string()
        .regex(/^(?:0|[1-9][0-9]{0,3})$/, 'must be the number of a piece, from 0 on')
        .transform(Number)
        .refine((n) => n < MOST_PIECES, `must be below ${MOST_PIECES}`)
        .openapi({ type: 'integer', minimum: 0, maximum: MOST_PIECES - 1 }),
    }),
    data: holderPiece,
  }),
}
