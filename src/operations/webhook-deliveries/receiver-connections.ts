/** Connections to receivers: they go only to checked addresses, for a minute at most, and end with the process. */
import { isIP, type LookupFunction } from 'node:net'
import { Agent } from 'undici'
import { ShuttingDown } from '../../platform/timing.ts'
import { type Resolve, receiverAddresses } from '../webhook-subscriptions/receiver-address.ts'

/** The checks that decide which addresses may be connected to. */
export interface DialPolicy {
  resolve: Resolve
  allowPrivate: boolean
}

/** The connections of one policy. */
export interface Connections extends DialPolicy {
  agent: Agent
  /** What ends each running request. The agent forgets some connections before their requests have ended. */
  running: Set<(reason: Error) => void>
  /** Adds to the number of an origin's open connections without a request; returns what it was before. */
  addSpare(origin: string, by: number): number
}

/** By the signal that ends them. */
const opened = new WeakMap<AbortSignal, Connections[]>()
const NEVER = new AbortController().signal

/** Throws ShuttingDown once `ending` is aborted, which also ends every running request. */
export function connectionsOf({ resolve, allowPrivate }: DialPolicy, ending = NEVER): Connections {
  const all = opened.get(ending) ?? openedUntil(ending)
  const known = all.find((each) => each.resolve === resolve && each.allowPrivate === allowPrivate)
  if (known !== undefined) return known
  const agent = openAgent(pinnedLookup({ resolve, allowPrivate }))
  const spare = new Map<string, number>()
  const addSpare = (origin: string, by: number): number => {
    const before = spare.get(origin) ?? 0
    // There may be thousands of origins.
    if (before + by === 0) spare.delete(origin)
    else spare.set(origin, before + by)
    return before
  }
  agent.on('connect', ({ origin }) => void addSpare(origin, 1))
  agent.on('disconnect', ({ origin }) => void addSpare(origin, -1))
  const made = { resolve, allowPrivate, agent, running: new Set<(reason: Error) => void>(), addSpare }
  all.push(made)
  return made
}

function openedUntil(ending: AbortSignal): Connections[] {
  const reason = new ShuttingDown('the service is shutting down')
  if (ending.aborted) throw reason
  const all: Connections[] = []
  opened.set(ending, all)
  const destroy = () => {
    opened.delete(ending)
    for (const { agent, running } of all) {
      for (const end of running) end(reason)
      agent.destroy(reason).catch(() => {})
    }
  }
  ending.addEventListener('abort', destroy, { once: true })
  return all
}

const openAgent = (lookup: LookupFunction): Agent =>
  new Agent({
    connect: {
      lookup,
      rejectUnauthorized: true,
      // A request has its own deadline. This timeout ends a connection that no request waits for.
      timeout: 10_000,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: 1_000,
    },
    // A name is resolved and checked again after a minute, even if its connections are busy.
    clientTtl: 60_000,
    // The deadline of the request replaces undici's separate timeouts for connection, headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 15_000,
  })

/** Resolves and checks the name at every dial, and dials only the checked addresses. */
function pinnedLookup({ resolve, allowPrivate }: DialPolicy): LookupFunction {
  return (name, { all }, callback) => {
    receiverAddresses(name, allowPrivate, resolve).then(
      (addresses) => {
        const dialled = addresses.map((address) => ({ address, family: isIP(address) }))
        const [first] = dialled
        if (first === undefined) callback(new Error(`${name} does not resolve`), [])
        else if (all) callback(null, dialled)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, []),
    )
  }
}
