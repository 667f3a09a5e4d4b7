/** Time of the embedded chain: slots of 400 ms that follow the wall clock, can be moved ahead and never run backwards. */
import { SLOT_MS } from '../solana/constants.ts'

/** Slot in which every embedded chain begins; the first of an epoch. */
export const GENESIS_SLOT = 440_208_000
/** Slots of an epoch; no warm-up, as on mainnet. */
export const SLOTS_PER_EPOCH = 432_000

export interface ClockState {
  /** Unix milliseconds of GENESIS_SLOT. */
  genesisMs: number
  /** Milliseconds the chain is ahead of the wall clock. */
  offsetMs: number
  /** Latest time that was recorded, in Unix milliseconds: the chain does not go back behind it. */
  lastMs: number
}

/** What one slot's programs see; fixed once something has run in the slot. */
export interface Tick {
  slot: number
  /** Unix seconds. */
  unixTimestamp: number
}

export class SlotClock {
  readonly #now: () => number
  readonly #genesisMs: number
  #offsetMs: number
  #lastMs: number
  #tick: Tick = { slot: -1, unixTimestamp: 0 }

  constructor(state: ClockState, now: () => number) {
    this.#now = now
    this.#genesisMs = state.genesisMs
    this.#offsetMs = state.offsetMs
    this.#lastMs = state.lastMs
  }

  get offsetMs(): number {
    return this.#offsetMs
  }

  /** Unix milliseconds; a wall clock that was set back moves the offset instead of stopping the chain. */
  ms(): number {
    const ms = this.#now() + this.#offsetMs
    if (ms >= this.#lastMs) {
      this.#lastMs = ms
      return ms
    }
    this.#offsetMs += this.#lastMs - ms
    return this.#lastMs
  }

  slot(): number {
    return this.slotAt(this.ms())
  }

  slotAt(ms: number): number {
    return GENESIS_SLOT + Math.floor((ms - this.#genesisMs) / SLOT_MS)
  }

  /** Unix seconds at which a slot begins. */
  startOf(slot: number): number {
    return Math.floor((this.#genesisMs + (slot - GENESIS_SLOT) * SLOT_MS) / 1000)
  }

  /** Slot and time for a run: all runs of one slot see the same time, as in a block. */
  tick(): Tick {
    const ms = this.ms()
    const slot = this.slotAt(ms)
    if (slot !== this.#tick.slot) this.#tick = { slot, unixTimestamp: Math.floor(ms / 1000) }
    return this.#tick
  }

  /** Continues a slot that was begun before the chain was opened, even where the wall clock is behind it now. */
  resume(tick: Tick): void {
    this.#tick = tick
    this.#lastMs = Math.max(this.#lastMs, this.#genesisMs + (tick.slot - GENESIS_SLOT) * SLOT_MS)
  }

  /** Moves ahead; `seconds` may have a fraction. */
  advance(seconds: number): void {
    if (!Number.isFinite(seconds) || seconds <= 0) {
      throw new RangeError(`The clock can only be moved ahead: seconds must be above 0, got ${seconds}`)
    }
    if (this.ms() + seconds * 1000 > Number.MAX_SAFE_INTEGER / 1000) {
      throw new RangeError(`The clock cannot be moved ahead by ${seconds} seconds: that is beyond what dates can hold`)
    }
    this.#offsetMs += Math.round(seconds * 1000)
  }
}
