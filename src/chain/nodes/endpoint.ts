/** One RPC endpoint and its health: the circuit breaker, the pause that it requested, and its running averages. */

import type { Commitment } from '../../solana/constants.ts'
import type { EndpointState } from './states.ts'

/** Failures in a row that open the circuit. */
const OPENING_FAILURES = 3
/** Pause before a failed endpoint is tried again: the first one, and the longest after doubling. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/**
 * Pause after a 429 without `Retry-After`, and the longest pause that is accepted, because a longer one may be an
 * attack.
 */
const FIRST_BUSY_PAUSE_MS = 500
const LONGEST_BUSY_PAUSE_MS = 30_000
const LONGEST_ASKED_PAUSE_MS = 300_000
/** Successes in a row after which the next pause starts from the shortest again. */
const RECOVERED_AFTER = 10
/** Share of the newest value in a running average. */
const NEWEST_SHARE = 0.2
/** Milliseconds after which an endpoint of another chain is asked for its genesis hash again. */
const FOREIGN_RECHECK_MS = 60_000

/** An endpoint as doctor, metrics and log show it. */
export interface EndpointReport {
  /** Host and place in the list; the URL may hold a key. */
  endpoint: string
  state: EndpointState
  weight: number
  genesis: string | null
  /** Slots behind the furthest endpoint when it last reported; null before. */
  slotLag: number | null
  /** Running average of its latency; null before the first answer. */
  latencyMs: number | null
  /** Share of failures among its last requests, 0 to 1. */
  errorRate: number
  /** The last failure, null without one. */
  lastError: string | null
}

export class PoolEndpoint {
  readonly label: string
  readonly weight: number
  /** Sends a request to this endpoint alone, once. */
  readonly send: typeof fetch
  /** Genesis hash from its last check. */
  genesis: string | null = null
  isForeign = false
  /** Whether it has shown the certificate of Alpenglow. */
  isAlpenglow = false
  slotLag: number | null = null
  isBehind = false
  /** Slot of its newest bank, and when it was reported. */
  seen: { slot: number; at: number } | undefined
  latencyMs: number | null = null
  errorRate = 0
  lastError: string | null = null
  pausedUntil = Number.NEGATIVE_INFINITY
  /** Undefined while the circuit is closed; else the time of the next try. */
  #openUntil: number | undefined
  #failures = 0
  #opens = 0
  #busy = 0
  #successes = 0
  #foreignAt = 0

  readonly #onChange: (report: EndpointReport) => void
  #told: EndpointState = 'unchecked'

  /** `onChange` receives the endpoint when it is down, late, of another chain, or healthy again. */
  constructor(
    { label, weight, send }: { label: string; weight: number; send: typeof fetch },
    onChange: (report: EndpointReport) => void = () => {},
  ) {
    this.label = label
    this.weight = weight
    this.send = send
    this.#onChange = onChange
  }

  #tellChange(now: number): void {
    const state = this.state(now)
    // A requested pause is ordinary and not reported.
    if (state === this.#told || state === 'paused') return
    this.#told = state
    this.#onChange(this.report(now))
  }

  /** Whether requests may go there now: it is of the right chain, works, is not paused and not behind. */
  isUsable(now: number): boolean {
    return this.canTake(now) && !this.isBehind
  }

  /** Whether transactions may be sent there: one that is behind forwards them as well. */
  canTake(now: number): boolean {
    return this.genesis !== null && !this.isForeign && this.#openUntil === undefined && this.pausedUntil <= now
  }

  /** Whether it needs a check before use, and the check is due. */
  isDueForCheck(now: number): boolean {
    if (this.pausedUntil > now) return false
    if (this.isForeign) return now - this.#foreignAt >= FOREIGN_RECHECK_MS
    return this.#openUntil === undefined ? this.genesis === null : this.#openUntil <= now
  }

  /** Earliest time at which it may be tried again; undefined if it never becomes usable by itself. */
  triableAt(now: number): number | undefined {
    if (this.isForeign) return undefined
    return Math.max(now, this.pausedUntil, this.#openUntil ?? now)
  }

  /** Notes a complete answer and its latency. */
  succeeded(milliseconds: number): void {
    const before = this.latencyMs
    this.latencyMs = before === null ? milliseconds : before + NEWEST_SHARE * (milliseconds - before)
    this.errorRate *= 1 - NEWEST_SHARE
    this.#failures = 0
    this.#busy = 0
    if (++this.#successes >= RECOVERED_AFTER) this.#opens = 0
  }

  /** Notes a failure; the third in a row opens the circuit, and so does one of a check. */
  failed(reason: string, now: number, isCheck = false): void {
    this.lastError = reason
    this.errorRate += NEWEST_SHARE * (1 - this.errorRate)
    this.#successes = 0
    // Only a check closes an open circuit or keeps it open for longer.
    if (!isCheck && (++this.#failures < OPENING_FAILURES || this.#openUntil !== undefined)) return
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#opens)
    this.#opens = Math.min(this.#opens + 1, 10)
    this.#openUntil = now + pause
    this.#tellChange(now)
  }

  /** Pauses it for as long as it requests, or for a pause that grows. */
  pause(reason: string, askedMs: number | undefined, now: number): void {
    this.lastError = reason
    const own = Math.min(LONGEST_BUSY_PAUSE_MS, FIRST_BUSY_PAUSE_MS * 2 ** Math.min(this.#busy++, 10))
    const pause = Math.min(askedMs ?? own, LONGEST_ASKED_PAUSE_MS)
    this.pausedUntil = Math.max(this.pausedUntil, now + pause)
  }

  /** Notes the slot of an answer. Endpoints are compared by the slot of their newest bank. */
  sawSlot(commitment: Commitment, slot: number, now: number): void {
    if (commitment === 'processed') this.seen = { slot, at: now }
  }

  /** Notes how far it was behind the furthest endpoint. */
  seenBehind(slots: number, mostLag: number, now: number): void {
    this.slotLag = Math.max(0, slots)
    this.isBehind = slots > mostLag
    this.#tellChange(now)
  }

  /** Notes the chain that a check has shown; the endpoint is used from then on, unless it is of another chain. */
  identified(genesis: string, isForeign: boolean, now: number): void {
    this.#openUntil = undefined
    this.#failures = 0
    this.genesis = genesis
    this.isForeign = isForeign
    if (isForeign) this.#foreignAt = now
    this.#tellChange(now)
  }

  state(now: number): EndpointState {
    if (this.isForeign) return 'wrong-chain'
    if (this.#openUntil !== undefined) return 'down'
    if (this.pausedUntil > now) return 'paused'
    if (this.genesis === null) return 'unchecked'
    return this.isBehind ? 'behind' : 'ok'
  }

  report(now: number): EndpointReport {
    const { label, weight, genesis, slotLag, latencyMs, errorRate, lastError } = this
    return { endpoint: label, state: this.state(now), weight, genesis, slotLag, latencyMs, errorRate, lastError }
  }
}
