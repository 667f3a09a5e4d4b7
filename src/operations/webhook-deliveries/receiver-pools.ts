/** Connections to receivers: an undici pool for each origin, whose connections go only to checked addresses. */
import { isIP, type LookupFunction } from 'node:net'
import { Pool } from 'undici'
import { ShuttingDown } from '../../platform/timing.ts'
import { type Resolve, receiverAddresses } from '../webhook-subscriptions/receiver-address.ts'

/** The checks that decide which addresses a pool may connect to. */
export interface DialPolicy {
  resolve: Resolve
  allowPrivate: boolean
}

export interface ReceiverPool extends DialPolicy {
  pool: Pool
  /** Open connections and running requests. */
  connected: number
  sending: number
  /** Unix time in milliseconds. */
  openedAt: number
  /** Closes the pool if it has no open connection and no running request, because there may be thousands of origins. */
  closeUnused(): void
}

/** A name is resolved and checked again after this time, even if its connections are busy. */
const LONGEST_OPEN_MS = 60_000

interface OpenPools {
  byOrigin: Map<string, ReceiverPool>
  /** Pools that others have replaced, until their running requests have ended. */
  replaced: Set<Pool>
}

/** Pools by the signal that ends them. */
const pools = new WeakMap<AbortSignal, OpenPools>()
const NEVER = new AbortController().signal

/** Throws ShuttingDown once `ending` is aborted, which also ends every running request. */
export function receiverPool(origin: string, { resolve, allowPrivate }: DialPolicy, ending = NEVER): ReceiverPool {
  const { byOrigin, replaced } = pools.get(ending) ?? poolsUntil(ending)
  const known = byOrigin.get(origin)
  const now = Date.now()
  if (known !== undefined && now - known.openedAt <= LONGEST_OPEN_MS) {
    if (known.resolve === resolve && known.allowPrivate === allowPrivate) return known
  }
  // Its connections were checked long ago or by other rules. Running requests still end on them.
  if (known !== undefined) {
    replaced.add(known.pool)
    void known.pool
      .close()
      .catch(() => {})
      .then(() => replaced.delete(known.pool))
  }
  const pool = openPool(origin, pinnedLookup({ resolve, allowPrivate }))
  const receiver: ReceiverPool = {
    pool,
    resolve,
    allowPrivate,
    connected: 0,
    sending: 0,
    openedAt: now,
    closeUnused() {
      if (receiver.connected > 0 || receiver.sending > 0) return
      if (byOrigin.get(origin) === receiver) byOrigin.delete(origin)
      pool.close().catch(() => {})
    },
  }
  byOrigin.set(origin, receiver)
  pool.on('connect', () => {
    receiver.connected++
  })
  pool.on('disconnect', () => {
    receiver.connected--
    receiver.closeUnused()
  })
  return receiver
}

function poolsUntil(ending: AbortSignal): OpenPools {
  const reason = new ShuttingDown('the service is shutting down')
  if (ending.aborted) throw reason
  const opened: OpenPools = { byOrigin: new Map(), replaced: new Set() }
  pools.set(ending, opened)
  const destroy = () => {
    pools.delete(ending)
    const current = Array.from(opened.byOrigin.values(), ({ pool }) => pool)
    for (const pool of [...current, ...opened.replaced]) pool.destroy(reason).catch(() => {})
  }
  ending.addEventListener('abort', destroy, { once: true })
  return opened
}

const openPool = (origin: string, lookup: LookupFunction): Pool =>
  new Pool(origin, {
    connect: {
      lookup,
      rejectUnauthorized: true,
      // A request has its own deadline. This timeout ends a connection that no request waits for.
      timeout: 10_000,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: 1_000,
    },
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
