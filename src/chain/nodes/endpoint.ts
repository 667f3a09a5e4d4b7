/** One RPC endpoint and its health: the circuit breaker, the pause that it requested, and its running averages. */
import { createHash } from 'node:crypto'
import type { RpcEndpoint } from '../../settings/config.ts'
import type { NodeLine } from './node-line.ts'
import { LONGEST_ASKED_PAUSE_MS } from './retry.ts'
import { MOST_LAG_SLOTS } from './slot-book.ts'
import type { AnswerVerdict } from './verdict.ts'

/** The states of an endpoint, as metrics and `svc doctor` name them. */
export const ENDPOINT_STATES = ['unchecked', 'ok', 'behind', 'paused', 'down', 'wrong-chain'] as const
export type EndpointState = (typeof ENDPOINT_STATES)[number]

/** Host and place in the list, which distinguish two endpoints of one provider. The URL may hold a key. */
export const endpointLabel = ({ url }: RpcEndpoint, place: number): string => `${new URL(url).host}#${place + 1}`

/** Failures in a row that open the circuit. */
const OPENING_FAILURES = 3
/** Pause before a failed endpoint is checked again: the first one, and the longest after doubling. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** Pauses after a 429 without `Retry-After`. */
const FIRST_BUSY_PAUSE_MS = 500
const LONGEST_BUSY_PAUSE_MS = 30_000
/** Successes in a row after which the next pause starts from the shortest again. */
const RECOVERED_AFTER = 10
/** Share of the newest value in a running average. */
const NEWEST_SHARE = 0.2

/** An endpoint as doctor, metrics and log show it. */
export interface EndpointReport {
  /** Host and place in the list. */
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
  readonly line: NodeLine
  /** Genesis hash from its last check. */
  genesis: string | null = null
  /** Whether it is of the cluster's chain; null until that is known. */
  isMember: boolean | null = null
  latencyMs: number | null = null
  errorRate = 0
  lastError: string | null = null
  pausedUntil = 0
  readonly #elapsed: () => number
  readonly #onChange: (report: EndpointReport) => void
  #slotLag: number | null = null
  /** Undefined while the circuit is closed; else the time of the next check. */
  #openUntil: number | undefined
  #failures = 0
  #opens = 0
  #busy = 0
  #successes = 0
  #told: EndpointState = 'unchecked'

  /** `onChange` receives the endpoint when it is down, late, of another chain, or healthy again. */
  constructor(
    { label, weight, line }: Pick<PoolEndpoint, 'label' | 'weight' | 'line'>,
    elapsed: () => number,
    onChange: (report: EndpointReport) => void = () => {},
  ) {
    this.label = label
    this.weight = weight
    this.line = line
    this.#elapsed = elapsed
    this.#onChange = onChange
  }

  get state(): EndpointState {
    if (this.isMember === false) return 'wrong-chain'
    if (this.#openUntil !== undefined) return 'down'
    if (this.pausedUntil > this.#elapsed()) return 'paused'
    if (this.isMember === null) return 'unchecked'
    return (this.#slotLag ?? 0) > MOST_LAG_SLOTS ? 'behind' : 'ok'
  }

  /** Whether it may be read from now. */
  get isUsable(): boolean {
    return this.state === 'ok'
  }

  /** Whether transactions may be sent there: an endpoint that is behind forwards them as well. */
  get canTake(): boolean {
    return this.state === 'ok' || this.state === 'behind'
  }

  /** Whether it needs a check before use, and the check is due. */
  get isDueForCheck(): boolean {
    return this.triableAt <= this.#elapsed() && (this.isMember === null || this.#openUntil !== undefined)
  }

  /** Earliest time at which it may be tried. */
  get triableAt(): number {
    return Math.max(this.pausedUntil, this.#openUntil ?? 0)
  }

  /** Notes what a request has shown. */
  note(verdict: AnswerVerdict, milliseconds: number): void {
    if (verdict.kind === 'answer') this.#succeeded(milliseconds)
    else if (verdict.blame === 'failed') this.failed(verdict.reason)
    else if (verdict.blame === 'busy') this.#pause(verdict.reason, verdict.retryAfterMs)
    else if (verdict.blame === 'late') this.lastError = verdict.reason
  }

  #succeeded(milliseconds: number): void {
    const before = this.latencyMs ?? milliseconds
    this.latencyMs = before + NEWEST_SHARE * (milliseconds - before)
    this.errorRate *= 1 - NEWEST_SHARE
    this.#failures = 0
    this.#busy = 0
    if (++this.#successes >= RECOVERED_AFTER) this.#opens = 0
  }

  /** Notes a failure; the third in a row opens the circuit. */
  failed(reason: string): void {
    this.lastError = reason
    this.errorRate += NEWEST_SHARE * (1 - this.errorRate)
    this.#successes = 0
    // Only a check closes an open circuit or keeps it open for longer.
    if (++this.#failures >= OPENING_FAILURES && this.#openUntil === undefined) this.open(reason)
  }

  /** Opens the circuit, or keeps it open after a failed check. */
  open(reason: string): void {
    this.lastError = reason
    this.#openUntil = this.#elapsed() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#opens)
    this.#opens = Math.min(this.#opens + 1, 10)
    this.#tellChange()
  }

  /** Pauses it for as long as it requests, or for a pause that grows. */
  #pause(reason: string, askedMs: number | undefined): void {
    this.lastError = reason
    const own = Math.min(LONGEST_BUSY_PAUSE_MS, FIRST_BUSY_PAUSE_MS * 2 ** Math.min(this.#busy++, 10))
    const until = this.#elapsed() + Math.min(askedMs ?? own, LONGEST_ASKED_PAUSE_MS)
    this.pausedUntil = Math.max(this.pausedUntil, until)
  }

  /** Notes how many slots it was behind the furthest endpoint. */
  seenBehind(slots: number): void {
    this.#slotLag = slots
    this.#tellChange()
  }

  /** Notes the chain that a check has shown. An endpoint of another chain is checked again after the longest pause. */
  identified(genesis: string, isMember: boolean | null): void {
    this.genesis = genesis
    this.isMember = isMember
    this.#openUntil = isMember === false ? this.#elapsed() + LONGEST_PAUSE_MS : undefined
    this.#failures = 0
    this.#tellChange()
  }

  #tellChange(): void {
    const { state } = this
    // A requested pause is ordinary and not reported.
    if (state === this.#told || state === 'paused') return
    this.#told = state
    this.#onChange(this.report())
  }

  report(): EndpointReport {
    const { label, state, weight, genesis, latencyMs, errorRate, lastError } = this
    return { endpoint: label, state, weight, genesis, slotLag: this.#slotLag, latencyMs, errorRate, lastError }
  }
}

/** An endpoint that takes this many times as long as the fastest one, or fails every second time, is asked less. */
const SLOW_TIMES = 4
const LEAST_LATENCY_MS = 25
const POOR_SHARE = 1 / 8

/**
 * Returns the endpoints in the order in which they are tried. Weighted rendezvous hashing: requests with one key go to
 * one endpoint while it is healthy, because reads from two banks do not fit together. Many keys are spread by weight.
 */
export function inOrder(endpoints: readonly PoolEndpoint[], key: string): PoolEndpoint[] {
  const fastest = Math.min(...endpoints.map(({ latencyMs }) => latencyMs ?? Number.POSITIVE_INFINITY))
  const scoreOf = ({ label, weight, latencyMs, errorRate }: PoolEndpoint) => {
    const isPoor = (latencyMs ?? 0) > SLOW_TIMES * Math.max(fastest, LEAST_LATENCY_MS) || errorRate > 0.5
    return -Math.log(unitHash(`${key} ${label}`)) / (weight * (isPoor ? POOR_SHARE : 1))
  }
  const scores = new Map(endpoints.map((endpoint) => [endpoint, scoreOf(endpoint)]))
  return endpoints.toSorted((a, b) => (scores.get(a) ?? 0) - (scores.get(b) ?? 0))
}

/** Hashes a text to a number between 0 and 1. */
const unitHash = (text: string) => (createHash('sha256').update(text).digest().readUInt32BE() + 0.5) / 2 ** 32
