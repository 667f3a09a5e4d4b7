/** How far the chain has come, from the slots that endpoints report, to recognize answers of those that lag. */
import { COMMITMENT_DEPTH, type Commitment } from '../../solana/constants.ts'

/**
 * Slots by which an endpoint may be behind the furthest one. Sound nodes differ by a few; Agave itself calls a node
 * unhealthy from 128 on (DELINQUENT_VALIDATOR_SLOT_DISTANCE), when every fifth second of a blockhash is gone.
 */
export const MOST_LAG_SLOTS = 24
/** Slots that a chain may have made in a millisecond, at four times the speed of 250 ms slots. */
const FASTEST_SLOTS_PER_MS = 1 / 62
/** Slots by which an endpoint may be ahead of what is plausible without being doubted. */
const LEEWAY_SLOTS = 150
/** Milliseconds for which an endpoint must be further ahead before its slot counts. */
const CLAIM_MS = 2_000
/** From this lead on, two other endpoints are right: nodes lag by some hours at most. */
const MOST_LEAD_SLOTS = 20_000
/** Age up to which a reported slot counts as the present one: twice the time between two surveys. */
const RECENT_MS = 10_000

/** The furthest slot by commitment at one moment; if none was seen, it is derived from that of the newest bank. */
export type SlotMarks = Readonly<Record<Commitment, number>>

/**
 * How an answer's slot compares. `behind`: too far behind the others. `early`: before a slot that this process has
 * reported. `incredible`: far ahead of all others.
 */
export type SlotFit = 'current' | 'behind' | 'early' | 'incredible'

interface Told {
  slot: number
  at: number
  /** When it last answered, at any commitment. */
  answeredAt: number
  /** Furthest slot that it was trusted with. Leads are measured from there, because an endpoint may fall back by hours. */
  furthest: number
  /** Where and when its lead over the others began, while that is longer than plausible; `isFirst` at the start. */
  lead: { slot: number; at: number; isFirst: boolean } | undefined
}

export class SlotBook {
  /** Slot of the newest bank of each endpoint. */
  readonly #told = new Map<string, Told>()
  #tip = 0
  #beganAt: number | undefined
  /** Since when the tip has been beyond what two endpoints agree on. */
  #doubtedAt: number | undefined
  /** Furthest slot that was seen for each other commitment. */
  readonly #seen = { confirmed: 0, finalized: 0 }
  /** Newest slot of a transaction that was reported with this status: a later read must not miss its effects. */
  readonly #reported = { confirmed: 0, finalized: 0 }

  /** Furthest slot of a processed bank; 0 before the first. */
  get tip(): number {
    return this.#tip
  }

  /** What is known now. A request records it, and its answer is compared with it. */
  marks(): SlotMarks {
    const least = (commitment: 'confirmed' | 'finalized') =>
      Math.max(0, this.#tip - 2 * COMMITMENT_DEPTH.tower[commitment], Math.min(this.#tip, this.#seen[commitment]))
    return { processed: this.#tip, confirmed: least('confirmed'), finalized: least('finalized') }
  }

  /** Lowest slot of a bank at the commitment that may answer: 0 if nothing is known. */
  floor(commitment: Commitment, marks: SlotMarks): number {
    return Math.max(0, marks[commitment] - MOST_LAG_SLOTS, this.#reportedAt(commitment))
  }

  /** Compares the slot of an answer with the marks of its request, and notes it. */
  note(by: string, commitment: Commitment, slot: number, { marks, now }: { marks: SlotMarks; now: number }): SlotFit {
    const before = this.#told.get(by)
    if (before !== undefined) before.answeredAt = now
    // A bank of a later commitment is never ahead of the newest one.
    if (commitment === 'processed' || slot > (before?.slot ?? slot)) {
      const lead = this.#leadOf(by, slot, now)
      const told = { slot, at: now, answeredAt: now, furthest: before?.furthest ?? 0, lead }
      this.#told.set(by, told)
      if (this.#isTrusted(by, told)) told.furthest = Math.max(told.furthest, slot)
      this.#moveTip(now)
    }
    if (slot > this.#tip + LEEWAY_SLOTS) return this.#tip === 0 ? 'current' : 'incredible'
    if (commitment !== 'processed') this.#seen[commitment] = Math.max(this.#seen[commitment], slot)
    // The tip may have proven false meanwhile.
    if (slot < Math.min(marks[commitment], this.marks()[commitment]) - MOST_LAG_SLOTS) return 'behind'
    return slot < this.#reportedAt(commitment) ? 'early' : 'current'
  }

  /** Slots by which an endpoint that has just reported one is behind; undefined for an older report. */
  lagOf(by: string, withinMs: number, now: number): number | undefined {
    const told = this.#told.get(by)
    return told === undefined || now - told.at > withinMs ? undefined : Math.max(0, this.#tip - told.slot)
  }

  /** Notes that a transaction in this slot was reported as confirmed or finalized. */
  report(slot: number, commitment: 'confirmed' | 'finalized'): void {
    if (slot <= this.#tip) this.#reported[commitment] = Math.max(this.#reported[commitment], slot)
  }

  /** A transaction that is only confirmed is finalized seconds later; reads do not wait for that. */
  #reportedAt(commitment: Commitment): number {
    const { confirmed, finalized } = this.#reported
    return commitment === 'finalized' ? finalized : Math.max(confirmed, finalized)
  }

  #othersThan(by: string): Told[] {
    return [...this.#told].filter(([other]) => other !== by).map(([, told]) => told)
  }

  /** A lead is measured by the slots of the others, and by its beginning. By its own last slot it could grow for ever. */
  #leadOf(by: string, slot: number, now: number): Told['lead'] {
    this.#beganAt ??= now
    const others = this.#othersThan(by).map(({ furthest, at }) => ({ slot: furthest, at }))
    const isPlausible = (from: { slot: number; at: number }) => slot <= from.slot + slotsWithin(now - from.at)
    const lead = this.#told.get(by)?.lead
    const isAhead = lead !== undefined && slot >= lead.slot && others.every((other) => other.slot < lead.slot)
    if (isAhead && isPlausible(lead)) return lead
    if (others.some(isPlausible)) return undefined
    // At the start the furthest endpoint is right at once, and so is one that is alone.
    const isFirst = others.length === 0 || now - this.#beganAt <= CLAIM_MS
    return { slot, at: isFirst ? now - CLAIM_MS : now, isFirst }
  }

  /** A lead counts after a while, and one that is too long only if nobody else has answered since it began. */
  #isTrusted(by: string, { at, lead }: Told): boolean {
    if (lead === undefined) return true
    const others = this.#othersThan(by)
    const isTooLong = others.every(({ furthest }) => lead.slot - furthest > MOST_LEAD_SLOTS)
    const isDenied = isTooLong && others.some(({ answeredAt }) => answeredAt >= lead.at)
    return at - lead.at >= CLAIM_MS && (lead.isFirst || !isDenied)
  }

  /** The furthest endpoint is right. Its tip falls only if two others agree on less. */
  #moveTip(now: number): void {
    const trusted = [...this.#told].filter(([by, told]) => this.#isTrusted(by, told)).map(([, told]) => told)
    const slots = trusted
      .filter(({ at }) => now - at <= RECENT_MS)
      .map(({ slot }) => slot)
      .toSorted((a, b) => b - a)
    const [first = 0, second = 0] = slots
    if (slots.length > 2 && first - second > MOST_LEAD_SLOTS) slots.shift()
    const [tip = 0, next] = slots
    const isDoubted = this.#tip - tip > MOST_LAG_SLOTS && next !== undefined && tip - next <= MOST_LAG_SLOTS
    this.#doubtedAt = isDoubted ? (this.#doubtedAt ?? now) : undefined
    // The endpoint that was furthest may only be slower to answer than these two.
    const isUpheld =
      this.#tip - tip <= MOST_LEAD_SLOTS && trusted.some(({ slot }) => this.#tip - slot <= MOST_LAG_SLOTS)
    if (tip > this.#tip) this.#tip = tip
    else if (isDoubted && (!isUpheld || now - (this.#doubtedAt ?? now) >= CLAIM_MS)) this.#fallTo(tip)
  }

  /** What was seen and reported with a false tip is false too. Reads go behind no other slot that was reported. */
  #fallTo(tip: number): void {
    this.#tip = tip
    this.#doubtedAt = undefined
    for (const commitment of ['confirmed', 'finalized'] as const) {
      this.#seen[commitment] = 0
      if (this.#reported[commitment] - tip > MOST_LEAD_SLOTS) this.#reported[commitment] = 0
    }
  }
}

const slotsWithin = (milliseconds: number) => LEEWAY_SLOTS + Math.max(0, milliseconds) * FASTEST_SLOTS_PER_MS
