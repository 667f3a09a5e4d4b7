/** Clock of the embedded chain: slots of 400 ms that follow the wall clock, can be advanced and never run backwards. */
import { SLOT_MS } from '../solana/constants.ts'

/** First slot of every embedded chain; it is also the first slot of an epoch. */
export const GENESIS_SLOT = 440_208_000
/** Slots per epoch, without a warm-up, as on mainnet. */
export const SLOTS_PER_EPOCH = 432_000

export interface ClockState {
  /** Time of GENESIS_SLOT in Unix milliseconds. */
  genesisMs: number
  /** Milliseconds by which the chain is ahead of the wall clock. */
  offsetMs: number
  /** Latest recorded time in Unix milliseconds; the chain never goes back before it. */
  lastMs: number
}

/** Slot and time that programs read; fixed once a transaction has run in the slot. */
export interface Tick {
  slot: number
  /** Time in Unix seconds. */
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

  /**
   * Returns the chain's time in Unix milliseconds. If the wall clock was set back, the offset grows instead of the
   * chain stopping.
   */
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

  /** Returns the Unix seconds at which a slot begins. */
  startOf(slot: number): number {
    return Math.floor((this.#genesisMs + (slot - GENESIS_SLOT) * SLOT_MS) / 1000)
  }

  /** Returns slot and time for a run; all runs in the same slot get the same time, as in a block. */
  tick(): Tick {
    const ms = this.ms()
    const slot = this.slotAt(ms)
    if (slot !== this.#tick.slot) this.#tick = { slot, unixTimestamp: Math.floor(ms / 1000) }
    return this.#tick
  }

  /** Continues a slot that began before the chain was opened, even if the wall clock is behind it now. */
  resume(tick: Tick): void {
    this.#tick = tick
    this.#lastMs = Math.max(this.#lastMs, this.#genesisMs + (tick.slot - GENESIS_SLOT) * SLOT_MS)
  }

  /** Advances the clock by `seconds`, which may have a fraction. Throws RangeError. */
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
