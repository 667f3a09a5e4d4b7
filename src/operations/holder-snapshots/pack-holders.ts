/** Packs sorted holders into the stored pieces, with their hash and the totals by kind. */
import { createHash } from 'node:crypto'
import type { OwnerKind } from '../../chain/holders/owner-kinds.ts'
import type { OwnerSums } from '../../chain/holders/owner-sums.ts'
import { HOLDER_KINDS, type HolderKind } from '../../merkle/allocation/holder-kinds.ts'
import {
  HOLDER_ROW_BYTES,
  NO_PROGRAM,
  ROWS_PER_PIECE,
  UNLISTED_PROGRAM,
  writeHolder,
} from '../../merkle/allocation/holder-rows.ts'

/** Most programs that a snapshot lists. Rows of other programs are marked as not listed. */
const MOST_PROGRAMS = 1_000

export interface PackedHolders {
  pieces: Uint8Array[]
  /** SHA-256 of all rows in hex. */
  sha256: string
  programs: string[]
  kinds: { kind: HolderKind; holders: number; amount: string }[]
}

/** `order` has the numbers of the owners sorted by address, and `kinds` their kinds in that order. */
export async function packHolders(
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
