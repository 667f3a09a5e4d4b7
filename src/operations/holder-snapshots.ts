/** Snapshots of the holders of a token or a collection: make, read, list, and open their pieces. */

import { createHash } from 'node:crypto'
import type { HolderSnapshot, SnapshotHolder } from '../api/holder-snapshots.ts'
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import type { Chain } from '../chain/connection.ts'
import { type OwnerKind, ownerKinds } from '../chain/holders/owner-kinds.ts'
import type { OwnerSums } from '../chain/holders/owner-sums.ts'
import { type HeldAddress, type HoldersAtSlot, readHolders } from '../chain/holders/read-holders.ts'
import type { Context } from '../context.ts'
import { HOLDER_KINDS, type HolderKind } from '../merkle/allocation/holder-kinds.ts'
import {
  HOLDER_ROW_BYTES,
  type HolderRows,
  holderAddress,
  holderAt,
  holderRows,
  NO_PROGRAM,
  ROWS_PER_PIECE,
  UNLISTED_PROGRAM,
  writeHolder,
} from '../merkle/allocation/holder-rows.ts'
import { keyToBase58 } from '../merkle/base58.ts'
import { notFound, Overtaken } from '../platform/errors.ts'
import { isoTime, SECOND_MS, turnsOf } from '../platform/timing.ts'
import { TOKEN_PROGRAM } from '../solana/program-ids.ts'
import { newId } from '../store/id.ts'
import { decodeCursor, encodeCursor } from '../store/queries/paging.ts'
import {
  findHolderSnapshot,
  type HolderSnapshotRow,
  insertHolderSnapshot,
  pageHolderSnapshots,
  readHolderPiece,
} from '../store/resources/holder-snapshots.ts'
import { fromJson, fromJsonOrNull, isoTimeOrNull, listOf, oneOf, requireRecord } from './api-records.ts'

type Routes = Api['holderSnapshots']

/** Milliseconds of work after which other requests get their turn. */
const TURN_MS = 8
/** The token or collection that is read now, by chain. Two at once would take twice the memory and strain the node. */
const readings = new WeakMap<Chain, string>()

/** Throws Overtaken while another snapshot is read, and the errors of `readHolders` and `ownerKinds`. */
export async function createHolderSnapshot(
  context: Context,
  { mint, collection, owners, allow_confidential }: Input<Routes['create']>,
): Promise<Result<Routes['create']>> {
  const { chain, clock } = context
  const address = (mint === undefined ? { collection } : { mint }) as HeldAddress
  const reading = readings.get(chain)
  if (reading !== undefined) {
    throw new Overtaken(
      `The holders of ${reading} are being read, and only one snapshot is read at a time: try again when it is done`,
    )
  }
  readings.set(chain, mint ?? collection ?? '')
  try {
    const holders = await readHolders(chain, address, { allowConfidential: allow_confidential })
    const nextTurn = turnsOf(TURN_MS)
    const order = await holders.owners.sorted(nextTurn)
    const kinds = await ownerKinds(chain, addressesIn(holders, order), { owners, minSlot: holders.slot, nextTurn })
    const packed = await packHolders(holders.owners, order, kinds, nextTurn)
    const row = {
      id: newId('hsn'),
      address: mint ?? collection ?? '',
      mint: mint ?? null,
      collection: collection ?? null,
      token_program: holders.program === null ? null : holders.program === TOKEN_PROGRAM ? 'spl' : 'token2022',
      decimals: holders.decimals,
      slot: holders.slot,
      block_time: await readBlockTime(chain, holders.slot),
      supply: holders.supply.toString(),
      accounts: holders.accounts,
      holders: order.length,
      withheld: holders.withheld.toString(),
      confidential: holders.confidential.toString(),
      owners,
      kinds_json: JSON.stringify(packed.kinds),
      programs_json: JSON.stringify(packed.programs),
      pieces: packed.pieces.length,
      holders_sha256: packed.sha256,
      external_uid: context.externalUid ?? null,
      metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
      created_at: clock.now(),
    } as const
    return await context.commit(async (tx) => holderSnapshotRecord(await insertHolderSnapshot(tx, row, packed.pieces)))
  } finally {
    readings.delete(chain)
  }
}

function* addressesIn({ owners }: HoldersAtSlot, order: Uint32Array): Generator<Uint8Array> {
  for (const index of order) yield owners.at(index).owner
}

/** Unix milliseconds; null if the node no longer has it, which does not affect the holders. */
async function readBlockTime(chain: Chain, slot: number): Promise<number | null> {
  try {
    const seconds = await chain.call<unknown>('getBlockTime', [slot])
    return Number.isSafeInteger(seconds) && (seconds as number) > 0 && (seconds as number) < 1e11
      ? (seconds as number) * SECOND_MS
      : null
  } catch {
    return null
  }
}

/** Most programs that a snapshot lists. Rows of other programs are marked as not listed. */
const MOST_PROGRAMS = 1_000

/** Packs sorted holders into the stored pieces, with their hash and the totals by kind. */
interface PackedHolders {
  pieces: Uint8Array[]
  /** SHA-256 of all rows in hex. */
  sha256: string
  programs: string[]
  kinds: { kind: HolderKind; holders: number; amount: string }[]
}

/** `order` has the numbers of the owners sorted by address, and `kinds` their kinds in that order. */
async function packHolders(
  owners: OwnerSums,
  order: Uint32Array,
  kinds: readonly OwnerKind[],
  nextTurn: () => Promise<void> | undefined,
): Promise<PackedHolders> {
  const places = new Map<string, number>()
  const sums = new Map<HolderKind, { holders: number; amount: bigint }>()
  const pieces: Uint8Array[] = []
  const hash = createHash('sha256')
  for (let from = 0; from < order.length; from += ROWS_PER_PIECE) {
    const part = order.subarray(from, from + ROWS_PER_PIECE)
    const piece = new Uint8Array(part.length * HOLDER_ROW_BYTES)
    part.forEach((index, i) => {
      const { owner, amount, isFrozen } = owners.at(index)
      const { kind, program } = kinds[from + i] as OwnerKind
      writeHolder(piece, i, owner, { amount, isFrozen, kind, program: placeOf(places, program) })
      const sum = sums.get(kind) ?? { holders: 0, amount: 0n }
      sums.set(kind, { holders: sum.holders + 1, amount: sum.amount + amount })
    })
    hash.update(piece)
    pieces.push(piece)
    await nextTurn()
  }
  return {
    pieces,
    sha256: hash.digest('hex'),
    programs: [...places.keys()],
    kinds: HOLDER_KINDS.flatMap((kind) => {
      const sum = sums.get(kind)
      return sum === undefined ? [] : [{ kind, holders: sum.holders, amount: sum.amount.toString() }]
    }),
  }
}

function placeOf(places: Map<string, number>, program: string | null): number {
  if (program === null) return NO_PROGRAM
  const known = places.get(program)
  if (known !== undefined) return known
  if (places.size === MOST_PROGRAMS) return UNLISTED_PROGRAM
  places.set(program, places.size)
  return places.size - 1
}

/** Converts rows of holder snapshots to the records of the API. */
const holderSnapshotRecord = (row: HolderSnapshotRow): HolderSnapshot => ({
  id: row.id,
  mint: row.mint,
  collection: row.collection,
  token_program: row.token_program,
  decimals: row.decimals,
  slot: row.slot,
  block_time: isoTimeOrNull(row.block_time),
  supply: row.supply,
  accounts: row.accounts,
  holders: row.holders,
  withheld: row.withheld,
  confidential: row.confidential,
  owners: row.owners,
  kinds: fromJson(row.kinds_json),
  programs: fromJson(row.programs_json),
  pieces: row.pieces,
  holders_sha256: row.holders_sha256,
  external_uid: row.external_uid,
  metadata: fromJsonOrNull(row.metadata_json),
  created_at: isoTime(row.created_at),
})

/** The program is null if the owner is not a program's, or if the snapshot does not list that program. */
function snapshotHolderRecord(rows: HolderRows, index: number, programs: readonly string[]): SnapshotHolder {
  const { amount, kind, program, isFrozen } = holderAt(rows, index)
  return {
    wallet: keyToBase58(holderAddress(rows, index)),
    amount: amount.toString(),
    kind,
    program: program >= NO_PROGRAM ? null : (programs[program] ?? null),
    frozen: isFrozen,
  }
}

export const getHolderSnapshot = oneOf<Routes['get'], HolderSnapshotRow>(
  'holder snapshot',
  findHolderSnapshot,
  holderSnapshotRecord,
)

export const listHolderSnapshots = listOf<Routes['list'], HolderSnapshotRow>(pageHolderSnapshots, holderSnapshotRecord)

/** Lists the holders of a snapshot by address. */
export async function listHolders(
  { store }: Pick<Context, 'store'>,
  { id, limit, cursor }: Input<Routes['holders']>,
): Promise<Result<Routes['holders']>> {
  const row = requireRecord(await findHolderSnapshot(store.db, id), 'holder snapshot', id)
  const list = `snapshot_holders:${id}`
  const from = cursor === undefined ? 0 : decodeCursor(list, cursor)
  const to = Math.min(from + limit, row.holders)
  const programs = fromJson<string[]>(row.programs_json)
  const items: SnapshotHolder[] = []
  let piece: { n: number; rows: HolderRows } | undefined
  for (let index = from; index < to; index++) {
    const n = Math.floor(index / ROWS_PER_PIECE)
    if (piece?.n !== n) piece = { n, rows: await openHolderPiece({ store }, id, n) }
    items.push(snapshotHolderRecord(piece.rows, index - n * ROWS_PER_PIECE, programs))
  }
  return { items, next_cursor: to < row.holders ? encodeCursor(list, to) : null }
}

/** Returns one piece of a snapshot's packed holders. */
export async function getHolderPiece(
  { store }: Pick<Context, 'store'>,
  { id, n }: Input<Routes['piece']>,
): Promise<Result<Routes['piece']>> {
  const { count, bytes } = await openHolderPiece({ store }, id, n)
  return { n, rows: count, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64') }
}

/** Throws not_found if the snapshot has fewer pieces or was removed. */
export async function openHolderPiece({ store }: Pick<Context, 'store'>, id: string, n: number): Promise<HolderRows> {
  const bytes = await readHolderPiece(store.db, id, n)
  if (bytes === null) throw notFound(`The holder snapshot ${id} has no piece ${n}`)
  return holderRows(bytes)
}
