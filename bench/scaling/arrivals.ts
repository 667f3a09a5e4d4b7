/** Times at which simulated jobs arrive, and random durations, both from a seed, so that a run can be repeated. */
import type { Arrival, Job } from './simulation.ts'

/** A number from 0 (included) to 1. */
type RandomNumber = () => number

/** Mulberry32: quick, and good enough for queues. */
export function seededRandom(seed: number): RandomNumber {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const exponential = (random: RandomNumber, mean: number): number => -Math.log(1 - random()) * mean

interface ArrivalOptions {
  random: RandomNumber
  perSecond: number
  forMs: number
  /** Jobs that arrive at one moment; the moments are random, and so many fewer. */
  burst?: number
  job: (place: number) => Job
}

/** A Poisson process of jobs, or of bursts of them. */
export function* poissonArrivals({ random, perSecond, forMs, burst = 1, job }: ArrivalOptions): Generator<Arrival> {
  const gapMs = (1_000 * burst) / perSecond
  let place = 0
  for (let atMs = exponential(random, gapMs); atMs < forMs; atMs += exponential(random, gapMs)) {
    for (let n = 0; n < burst; n++) yield { atMs, job: job(place++) }
  }
}

/** Merges arrivals in the order of their time. */
export function* mergedArrivals(...sources: Iterable<Arrival>[]): Generator<Arrival> {
  const heads = sources.flatMap((source) => {
    const iterator = source[Symbol.iterator]()
    const first = iterator.next()
    return first.done === true ? [] : [{ iterator, next: first.value }]
  })
  while (heads.length > 0) {
    const earliest = heads.reduce((best, head) => (head.next.atMs < best.next.atMs ? head : best))
    yield earliest.next
    const following = earliest.iterator.next()
    if (following.done === true) heads.splice(heads.indexOf(earliest), 1)
    else earliest.next = following.value
  }
}
