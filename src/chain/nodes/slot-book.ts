/** Records how far the chain has come, to distinguish answers of lagging endpoints from current ones. */
import { COMMITMENT_DEPTH, type Commitment } from '../../solana/constants.ts'

/**
 * Slots by which an endpoint may be behind the furthest one. Sound nodes differ by a few; Agave itself calls a node
 * unhealthy from 128 on (DELINQUENT_VALIDATOR_SLOT_DISTANCE), when every fifth second of a blockhash is gone.
 */
export const MOST_LAG_SLOTS = 24
/** Slots that a chain may have made in a millisecond, at four times the speed of 250 ms slots. */
const FASTEST_SLOTS_PER_MS = 1 / 62
/** Slots by which an endpoint may exceed what is plausible without being doubted. */
const LEEWAY_SLOTS = 150
/** Most slots by which all other endpoints may lag: some hours. A greater lead needs a second endpoint. */
const MOST_LEAD_SLOTS = 20_000
/** Milliseconds for which an endpoint must be ahead before its slot counts without a second one. */
const CLAIM_MS = 2_000
/** Age up to which an endpoint's reported slot counts as its present one: twice the time between two surveys. */
const RECENT_MS = 10_000

/** The furthest slot by commitment at one moment; if none was seen, it is derived from that of the newest bank. */
export type SlotMarks = Readonly<Record<Commitment, number>>

interface Told {
  slot: number
  at: number
}

export type SlotFit = 'current' | 'behind' | 'early' | 'incredible'

export class SlotBook {
  /** Furthest slot of a bank that was seen for each commitment. */
  #seen: Record<Commitment, number> = { processed: 0, confirmed: 0, finalized: 0 }
  /** Newest slot of a transaction that was reported with this status: a later read must not miss its effects. */
  #reported: Record<'confirmed' | 'finalized', number> = { confirmed: 0, finalized: 0 }
  #seenAt = 0
  /** Slots that are too far ahead to be accepted at once, with their endpoint and the time since then. */
  readonly #claims = new Map<string, { slot: number; at: number }>()
  /** Furthest accepted slot of each endpoint, and when it last reported one. */
  readonly #told = new Map<string, Told>()
  /**
   * Slots that were accepted from one endpoint alone, until others reach them. The endpoint's lead is measured from
   * there.
   */
  readonly #leads = new Map<string, Told>()
  /** Since when no endpoint has supported the tip, while others agree on less. */
  #doubtedAt: number | undefined
  #hasBegun = false

  /**
   * Starts with the slots of the first survey; before it every answer counts. The furthest slot is right, unless its
   * lead is more than nodes ever lag.
   */
  begin(told: readonly { label: string; slot: number }[], now: number): void {
    const sorted = told.map(({ slot }) => slot).toSorted((a, b) => b - a)
    const [first = 0, second = first] = sorted
    this.#hasBegun = true
    this.#seen.processed = first - second > MOST_LEAD_SLOTS && sorted.length > 2 ? second : first
    this.#seenAt = now
    for (const { label, slot } of told) {
      if (slot <= this.#seen.processed) this.#told.set(label, { slot, at: now })
      if (slot === this.#seen.processed) this.#leads.set(label, { slot, at: now })
    }
  }

  /** What is known now. A request records it, and its answer is compared with it. */
  marks(): SlotMarks {
    const { processed, confirmed, finalized } = this.#seen
    const least = (commitment: Commitment) => Math.max(0, processed - 2 * COMMITMENT_DEPTH.tower[commitment])
    return {
      processed,
      confirmed: Math.max(confirmed, least('confirmed')),
      finalized: Math.max(finalized, least('finalized')),
    }
  }

  /** Furthest slot of a processed bank that was seen; 0 before the first. */
  get tip(): number {
    return this.#seen.processed
  }

  /** Lowest slot of a bank at the commitment that may answer: 0 if nothing is known. */
  floor(commitment: Commitment, marks: SlotMarks): number {
    return Math.max(0, marks[commitment] - MOST_LAG_SLOTS, this.#reportedAt(commitment))
  }

  /** A transaction that is only confirmed is finalized seconds later; reads do not wait for that. */
  #reportedAt(commitment: Commitment): number {
    return commitment === 'finalized' ? this.#reported.finalized : Math.max(...Object.values(this.#reported))
  }

  /**
   * Compares the slot of an answer with the marks of its request, and notes it. `behind`: too far behind the others.
   * `early`: before a slot that this process has reported. `incredible`: implausibly far ahead, and no other endpoint
   * supports it.
   */
  note(by: string, commitment: Commitment, slot: number, { marks, now }: { marks: SlotMarks; now: number }): SlotFit {
    if (!this.#hasBegun) return 'current'
    if (!this.#isCredible(by, slot, now)) {
      // Its earlier slot is doubted too, and is not used to judge others.
      this.#told.delete(by)
      this.#leads.delete(by)
      return 'incredible'
    }
    this.#claims.delete(by)
    this.#told.set(by, { slot: Math.max(slot, this.#told.get(by)?.slot ?? 0), at: now })
    if (slot > this.#seen[commitment]) {
      this.#seen[commitment] = slot
      this.#seenAt = now
    }
    // A bank of a later commitment is never ahead of the newest one.
    if (slot > this.#seen.processed) this.#seen.processed = slot
    if (this.#isTipFalse(by, slot, now)) this.#fallBack(by, slot, now)
    else if (marks[commitment] > 0 && slot < marks[commitment] - MOST_LAG_SLOTS) return 'behind'
    return slot < this.#reportedAt(commitment) ? 'early' : 'current'
  }

  /** The slots of all endpoints but one. */
  #others(by: string): Told[] {
    return [...this.#told].flatMap(([other, told]) => (other === by ? [] : [told]))
  }

  /** Compares an endpoint with the others. Compared with its own last slot, it could climb without limit. */
  #isCredible(by: string, slot: number, now: number): boolean {
    const others = this.#others(by)
    const known = others.length > 0 ? others : [{ slot: Math.max(...Object.values(this.#seen)), at: this.#seenAt }]
    const lead = this.#leads.get(by)
    if (lead !== undefined && others.some((told) => told.slot >= lead.slot)) this.#leads.delete(by)
    else if (lead !== undefined) known.push(lead)
    if (known.some((told) => slot <= told.slot + slotsWithin(now - told.at))) return true
    const isNear = (claim: Told) => Math.abs(slot - claim.slot) <= slotsWithin(now - claim.at)
    const own = this.#claims.get(by)
    const isShared = [...this.#claims].some(([other, claim]) => other !== by && isNear(claim))
    if (!isShared) {
      if (own === undefined || !isNear(own)) {
        this.#claims.set(by, { slot, at: now })
        return false
      }
      if (now - own.at < CLAIM_MS) return false
      // After the machine has slept, a single endpoint that answers is right, whatever its slot.
      const isAlone = others.every(({ at }) => at < own.at)
      const furthest = Math.max(...(others.length > 0 ? others : known).map((told) => told.slot))
      if (slot - furthest > MOST_LEAD_SLOTS && !isAlone) return false
    }
    this.#leads.set(by, { slot, at: now })
    return true
  }

  /** Whether two endpoints agree on a slot far behind a tip that is implausible or that no other endpoint supports. */
  #isTipFalse(by: string, slot: number, now: number): boolean {
    const tip = this.#seen.processed
    if (tip - slot <= MOST_LAG_SLOTS) {
      this.#doubtedAt = undefined
      return false
    }
    const others = this.#others(by)
    const isAgreed = others.some((told) => now - told.at <= RECENT_MS && Math.abs(told.slot - slot) <= MOST_LAG_SLOTS)
    if (!isAgreed) return false
    const upholding = others.filter((told) => told.slot >= tip - MOST_LAG_SLOTS)
    if (tip - slot > MOST_LEAD_SLOTS || upholding.length === 0) return true
    if (upholding.some((told) => now - told.at <= RECENT_MS)) return false
    this.#doubtedAt ??= now
    return now - this.#doubtedAt >= CLAIM_MS
  }

  /** Takes these two as the furthest, and forgets slots beyond them. */
  #fallBack(by: string, slot: number, now: number): void {
    const most = slot + MOST_LAG_SLOTS
    const supporting = this.#others(by).filter((told) => told.slot <= most)
    const tip = Math.max(slot, ...supporting.map((told) => told.slot))
    this.#seen = { processed: tip, confirmed: 0, finalized: 0 }
    const { confirmed, finalized } = this.#reported
    // Reads never go behind a reported slot, unless that slot is implausible.
    if (Math.max(confirmed, finalized) - tip > MOST_LEAD_SLOTS) this.#reported = { confirmed: 0, finalized: 0 }
    this.#seenAt = now
    this.#doubtedAt = undefined
    for (const [other, told] of this.#told) if (told.slot > most) this.#told.delete(other)
    this.#leads.clear()
    this.#claims.clear()
  }

  /** Notes that a transaction in this slot was reported as confirmed or finalized. */
  report(slot: number, commitment: 'confirmed' | 'finalized'): void {
    if (slot <= this.#seen.processed) this.#reported[commitment] = Math.max(this.#reported[commitment], slot)
  }
}

const slotsWithin = (milliseconds: number) => LEEWAY_SLOTS + Math.max(0, milliseconds) * FASTEST_SLOTS_PER_MS
