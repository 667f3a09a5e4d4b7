/** What is known of how far the chain has come: by it, answers of endpoints that lag are told from current ones. */
import { COMMITMENT_DEPTH, type Commitment } from '../../solana/constants.ts'

/**
 * Slots by which an endpoint may be behind the furthest one. Sound nodes differ by a few; Agave itself calls a node
 * unhealthy from 128 on (DELINQUENT_VALIDATOR_SLOT_DISTANCE), when every fifth second of a blockhash is gone.
 */
export const MOST_LAG_SLOTS = 24
/** Slots that a chain may have made in a millisecond, at four times the speed of 250 ms slots. */
const FASTEST_SLOTS_PER_MS = 1 / 62
/** Slots that a claim may be ahead of what is known, beyond those that can have passed. */
const LEEWAY_SLOTS = 150
/** Milliseconds after which a claim that nobody contradicts is believed. */
const LONELY_CLAIM_MS = 5_000

/** The furthest slot by commitment at one moment. */
export type SlotMarks = Readonly<Record<Commitment, number>>

export type SlotFit = 'current' | 'behind' | 'early' | 'incredible'

export class SlotBook {
  /** Furthest slot that a bank of each commitment was seen at. */
  #seen: Record<Commitment, number> = { processed: 0, confirmed: 0, finalized: 0 }
  /** Newest slot of a transaction that was reported with this status: a later read must not miss its effects. */
  #reported: Record<'confirmed' | 'finalized', number> = { confirmed: 0, finalized: 0 }
  #seenAt = 0
  /** The last slot that nobody else has supported, with who claimed it. */
  #claim: { slot: number; by: string; at: number } | undefined

  /** What is known now; a request takes it along, and its answer is held against it. */
  marks(): SlotMarks {
    return { ...this.#seen }
  }

  /** The furthest slot of a processed bank that was seen; 0 before the first. */
  get tip(): number {
    return this.#seen.processed
  }

  /** Lowest slot of a bank at the commitment that may answer: 0 where nothing is known. */
  floor(commitment: Commitment, marks: SlotMarks): number {
    const tip = marks[commitment] || Math.max(0, marks.processed - 2 * COMMITMENT_DEPTH[commitment] - 1)
    return Math.max(0, tip - MOST_LAG_SLOTS, this.#reportedAt(commitment))
  }

  /** The finalized bank of a transaction that is only confirmed comes seconds later, and nobody waits for it. */
  #reportedAt(commitment: Commitment): number {
    return commitment === 'finalized' ? this.#reported.finalized : Math.max(...Object.values(this.#reported))
  }

  /**
   * Holds the slot of an answer against the marks of its request, and notes it. `behind` is too far behind the others,
   * `early` before what this process has reported, `incredible` ahead of what can be, as long as nobody supports it.
   */
  note(by: string, commitment: Commitment, slot: number, { marks, now }: { marks: SlotMarks; now: number }): SlotFit {
    if (!this.#isCredible(by, slot, now)) return 'incredible'
    if (this.#claim?.by !== by) this.#claim = undefined
    if (slot > this.#seen[commitment]) {
      this.#seen[commitment] = slot
      this.#seenAt = now
    }
    // A bank of a later commitment is never ahead of the newest one.
    if (slot > this.#seen.processed) this.#seen.processed = slot
    if (marks[commitment] > 0 && slot < marks[commitment] - MOST_LAG_SLOTS) return 'behind'
    return slot < this.#reportedAt(commitment) ? 'early' : 'current'
  }

  #isCredible(by: string, slot: number, now: number): boolean {
    const tip = Math.max(...Object.values(this.#seen))
    if (tip === 0 || slot <= tip + LEEWAY_SLOTS + Math.max(0, now - this.#seenAt) * FASTEST_SLOTS_PER_MS) return true
    const claim = this.#claim
    if (claim !== undefined && claim.by !== by && Math.abs(claim.slot - slot) <= LEEWAY_SLOTS) return true
    // After a machine has slept, one endpoint that is left cannot be supported by another, nor contradicted: what another
    // one says meanwhile removes the claim.
    if (claim?.by === by && slot >= claim.slot && now - claim.at >= LONELY_CLAIM_MS) return true
    if (claim?.by !== by || slot < claim.slot) this.#claim = { slot, by, at: now }
    return false
  }

  /** Notes that a transaction in this slot was reported as confirmed or finalized. */
  report(slot: number, commitment: 'confirmed' | 'finalized'): void {
    if (slot <= this.#seen.processed) this.#reported[commitment] = Math.max(this.#reported[commitment], slot)
  }
}
