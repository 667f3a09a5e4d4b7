/**
 * A discrete-event simulation of queues: jobs go through stations in steps, with a simulated clock; the same seed gives
 * the same result.
 */

/** What a job does next. A station that is taken stays so over the steps until it is given back. */
export type Step =
  | { kind: 'use'; station: string; ms: number }
  | { kind: 'take' | 'give'; station: string }
  | { kind: 'wait'; ms: number }
  /** Starts another job, for which this one does not wait. */
  | { kind: 'start'; job: Job }

export interface Job {
  /** Jobs of one name are measured together. */
  name: string
  steps: readonly Step[]
}

interface SimulationOptions {
  /** Servers of each station. */
  stations: Record<string, number>
  arrivals: Iterable<Arrival>
  /** Jobs that arrive before it are not measured, in milliseconds. */
  warmUpMs?: number
  /** The end of the simulated time in milliseconds; without it, it ends when every job has. */
  untilMs?: number
}

export interface Arrival {
  atMs: number
  job: Job
}

interface JobFigures {
  /** Measured jobs that arrived and that ended. */
  arrived: number
  ended: number
  /** Milliseconds from arrival to end, in ascending order. */
  latencies: number[]
}

interface StationFigures {
  /** Share of its servers that was busy, on average over the simulated time. */
  utilisation: number
  /** The most jobs that waited at once, and how many still wait at the end. */
  longestQueue: number
  queuedAtEnd: number
}

export interface SimulationResult {
  ms: number
  jobs: Map<string, JobFigures>
  stations: Map<string, StationFigures>
  /** The average number of jobs under way, over the simulated time, by name. */
  underWay: Map<string, number>
}

interface Running {
  job: Job
  next: number
  arrivedAt: number
}

interface Station {
  servers: number
  busy: number
  queue: Running[]
  /** Start of the queue; served jobs stay in the array until removing them is worthwhile. */
  head: number
  busyMs: number
  since: number
  longestQueue: number
}

export function simulate({ stations, arrivals, warmUpMs = 0, untilMs }: SimulationOptions): SimulationResult {
  const byName = new Map(Object.entries(stations).map(([name, servers]) => [name, newStation(servers)]))
  const jobs = new Map<string, JobFigures>()
  const presence = new Map<string, { count: number; area: number; since: number }>()
  const events = new EventHeap()
  const source = arrivals[Symbol.iterator]()
  let now = 0

  const figuresOf = (name: string): JobFigures => {
    const known = jobs.get(name) ?? { arrived: 0, ended: 0, latencies: [] }
    jobs.set(name, known)
    return known
  }
  const changePresence = (name: string, by: number) => {
    const known = presence.get(name) ?? { count: 0, area: 0, since: now }
    known.area += known.count * (now - known.since)
    known.since = now
    known.count += by
    presence.set(name, known)
  }
  const stationOf = (name: string): Station => {
    const station = byName.get(name)
    if (station === undefined) throw new Error(`no station is named ${name}`)
    return station
  }
  const occupy = (station: Station, by: number) => {
    station.busyMs += station.busy * (now - station.since)
    station.since = now
    station.busy += by
  }

  function begin(job: Job): void {
    if (now >= warmUpMs) figuresOf(job.name).arrived++
    changePresence(job.name, 1)
    advance({ job, next: 0, arrivedAt: now })
  }

  function end({ job, arrivedAt }: Running): void {
    changePresence(job.name, -1)
    if (arrivedAt < warmUpMs) return
    const figures = figuresOf(job.name)
    figures.ended++
    figures.latencies.push(now - arrivedAt)
  }

  /** Continues a job until it has to wait. */
  function advance(running: Running): void {
    for (;;) {
      const step = running.job.steps[running.next]
      if (step === undefined) {
        end(running)
        return
      }
      if (step.kind === 'wait') {
        running.next++
        events.push(now + step.ms, () => advance(running))
        return
      }
      if (step.kind === 'start') {
        running.next++
        begin(step.job)
      } else if (step.kind === 'give') {
        running.next++
        release(stationOf(step.station))
      } else {
        const station = stationOf(step.station)
        if (station.busy >= station.servers) {
          station.queue.push(running)
          station.longestQueue = Math.max(station.longestQueue, station.queue.length - station.head)
          return
        }
        occupy(station, 1)
        if (!entered(running, step, station)) return
      }
    }
  }

  /** Returns whether the job, which has just got a server, may continue at once. */
  function entered(running: Running, step: Step, station: Station): boolean {
    running.next++
    if (step.kind !== 'use') return true
    events.push(now + step.ms, () => {
      release(station)
      advance(running)
    })
    return false
  }

  function release(station: Station): void {
    const waiting = station.queue[station.head]
    if (waiting === undefined) {
      occupy(station, -1)
      return
    }
    // The server passes from one job to the next.
    if (++station.head > 1_000) {
      station.queue = station.queue.slice(station.head)
      station.head = 0
    }
    const step = waiting.job.steps[waiting.next]
    if (step !== undefined && entered(waiting, step, station)) events.push(now, () => advance(waiting))
  }

  function planArrival(): void {
    const { done, value } = source.next()
    if (done === true || (untilMs !== undefined && value.atMs >= untilMs)) return
    events.push(value.atMs, () => {
      begin(value.job)
      planArrival()
    })
  }

  planArrival()
  for (let event = events.pop(); event !== undefined; event = events.pop()) {
    if (untilMs !== undefined && event.at > untilMs) break
    now = event.at
    event.run()
  }
  const ms = untilMs ?? now
  now = ms
  for (const figures of jobs.values()) figures.latencies.sort((a, b) => a - b)
  for (const name of presence.keys()) changePresence(name, 0)
  return {
    ms,
    jobs,
    underWay: new Map([...presence].map(([name, { area }]) => [name, area / ms])),
    stations: new Map(
      [...byName].map(([name, station]) => {
        occupy(station, 0)
        const queuedAtEnd = station.queue.length - station.head
        const utilisation = station.busyMs / (station.servers * ms)
        return [name, { utilisation, longestQueue: station.longestQueue, queuedAtEnd }]
      }),
    ),
  }
}

const newStation = (servers: number): Station => ({
  ...{ servers, busy: 0, queue: [], head: 0, busyMs: 0, since: 0, longestQueue: 0 },
})

interface PlannedEvent {
  at: number
  /** Events of one moment run in the order in which they were planned. */
  order: number
  run: () => void
}

class EventHeap {
  readonly #heap: PlannedEvent[] = []
  #planned = 0

  push(at: number, run: () => void): void {
    const heap = this.#heap
    heap.push({ at, order: this.#planned++, run })
    let place = heap.length - 1
    for (let parent = (place - 1) >> 1; place > 0 && this.#swap(place, parent); parent = (place - 1) >> 1)
      place = parent
  }

  pop(): PlannedEvent | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let place = 0; ; ) {
      const left = 2 * place + 1
      const child = left + 1 < heap.length && this.#isBefore(left + 1, left) ? left + 1 : left
      if (child >= heap.length || !this.#swap(child, place)) return first
      place = child
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]]
    if (a === undefined || b === undefined) return false
    return a.at < b.at || (a.at === b.at && a.order < b.order)
  }

  /** Moves the lower one up if it comes first; returns whether it did. */
  #swap(lower: number, upper: number): boolean {
    if (!this.#isBefore(lower, upper)) return false
    const [a, b] = [this.#heap[lower], this.#heap[upper]]
    if (a === undefined || b === undefined) return false
    this.#heap[lower] = b
    this.#heap[upper] = a
    return true
  }
}
