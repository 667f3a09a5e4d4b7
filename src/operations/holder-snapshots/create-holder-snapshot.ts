/** Reads the holders of a token or a collection at one slot, and stores them. */
import { createHash } from 'node:crypto'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Chain } from '../../chain/connection.ts'
import { type OwnerKind, ownerKinds } from '../../chain/holders/owner-kinds.ts'
import type { OwnerSums } from '../../chain/holders/owner-sums.ts'
import { type HeldAddress, type HoldersAtSlot, readHolders } from '../../chain/holders/read-holders.ts'
import type { Context } from '../../context.ts'
import { HOLDER_KINDS, type HolderKind } from '../../merkle/allocation/holder-kinds.ts'
import {
  HOLDER_ROW_BYTES,
  NO_PROGRAM,
  ROWS_PER_PIECE,
  UNLISTED_PROGRAM,
  writeHolder,
} from '../../merkle/allocation/holder-rows.ts'
import { Overtaken } from '../../platform/errors.ts'
import { SECOND_MS, turnsOf } from '../../platform/timing.ts'
import { TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { newId } from '../../store/id.ts'
import { insertHolderSnapshot } from '../../store/resources/holder-snapshots.ts'
import { holderSnapshotRecord } from './holder-snapshot-record.ts'

type CreateHolderSnapshotRoute = Api['holderSnapshots']['create']

/** Milliseconds of work after which other requests get their turn. */
const TURN_MS = 8
/** The token or collection that is read now, by chain. Two at once would take twice the memory and strain the node. */
const readings = new WeakMap<Chain, string>()

/** Throws Overtaken while another snapshot is read, and the errors of `readHolders` and `ownerKinds`. */
export async function createHolderSnapshot(
  context: Context,
  { mint, collection, owners, allow_confidential }: Input<CreateHolderSnapshotRoute>,
): Promise<Result<CreateHolderSnapshotRoute>> {
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
