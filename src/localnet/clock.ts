/** Clock of the embedded chain: slots that follow the wall clock, can be advanced and never run backwards. */

/** First slot of every embedded chain; it is also the first slot of an epoch. */
export const GENESIS_SLOT = 440_208_000
/** Slots per epoch, without a warm-up, as on mainnet. */
export const SLOTS_PER_EPOCH = 432_000
/** Slot time of chains that were made before it was a setting. */
const FIRST_SLOT_MS = 400

/** A period with one slot time, which ends where the next one begins. */
interface SlotEra {
  /** Its first slot. */
  slot: number
  /** Start of its first slot in Unix milliseconds. */
  ms: number
  /** Milliseconds of a slot. */
  slotMs: number
}

export interface ClockState {
  /** Time of GENESIS_SLOT in Unix milliseconds. */
  genesisMs: number
  /** Milliseconds by which the chain is ahead of the wall clock. */
  offsetMs: number
  /** Latest recorded time in Unix milliseconds; the chain never goes back before it. */
  lastMs: number
  /** From the oldest to the current one; chains that are older than this setting have none. */
  eras?: SlotEra[]
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
  readonly #eras: SlotEra[]
  #offsetMs: number
  #lastMs: number
  #tick: Tick = { slot: -1, unixTimestamp: 0 }

  constructor({ genesisMs, offsetMs, lastMs, eras }: ClockState, now: () => number) {
    this.#now = now
    this.#genesisMs = genesisMs
    this.#offsetMs = offsetMs
    this.#lastMs = lastMs
    this.#eras = eras ? [...eras] : [{ slot: GENESIS_SLOT, ms: genesisMs, slotMs: FIRST_SLOT_MS }]
  }

  /** The state to store so that the chain continues from its latest time. */
  state(): Required<ClockState> {
    return { genesisMs: this.#genesisMs, offsetMs: this.#offsetMs, lastMs: this.#lastMs, eras: [...this.#eras] }
  }

  /** Milliseconds of a slot from the next one on. */
  get slotMs(): number {
    return this.#lastEra.slotMs
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
    const { slot, ms: start, slotMs } = this.#eras.findLast((era) => era.ms <= ms) ?? this.#firstEra
    return slot + Math.floor((ms - start) / slotMs)
  }

  /** Returns the Unix seconds at which a slot begins. */
  startOf(slot: number): number {
    return Math.floor(this.#startMs(slot) / 1000)
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
    this.#lastMs = Math.max(this.#lastMs, this.#startMs(tick.slot))
  }

  /** Changes the slot time from the next slot on, so that no slot and no time is counted twice or left out. */
  setSlotMs(slotMs: number): void {
    const current = this.slot()
    // An era that has not started is replaced.
    while (this.#eras.length > 1 && this.#lastEra.slot > current) this.#eras.pop()
    if (this.slotMs === slotMs) return
    this.#eras.push({ slot: current + 1, ms: this.#startMs(current + 1), slotMs })
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

  #startMs(slot: number): number {
    const era = this.#eras.findLast((each) => each.slot <= slot) ?? this.#firstEra
    return era.ms + (slot - era.slot) * era.slotMs
  }

  get #firstEra(): SlotEra {
    return this.#eras[0] as SlotEra
  }

  get #lastEra(): SlotEra {
    return this.#eras.at(-1) as SlotEra
  }
}
