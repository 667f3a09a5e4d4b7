/** Kept connections to receivers, a few for each origin, which are opened only to checked addresses. */
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector, Client, type Dispatcher } from 'undici'
import { type Resolve, receiverAddresses } from '../webhook-subscriptions/receiver-address.ts'

/** A name that has moved is resolved and checked again after this time, however busy its connection is. */
const LONGEST_OPEN_MS = 60_000

/** A connection to one receiver, which carries one request at a time and opens again after it was closed. */
export class ReceiverConnection extends Client {
  /** Whether it has carried an answer since it was opened. */
  hasAnswered = false
  /** Whether it could not be opened; it is then left to the garbage collector. */
  hasFailed = false
  #openedAt = Number.POSITIVE_INFINITY

  constructor(...parameters: ConstructorParameters<typeof Client>) {
    super(...parameters)
    this.on('connect', () => {
      this.hasAnswered = false
      this.#openedAt = Date.now()
    })
    this.on('connectionError', () => {
      this.hasFailed = true
    })
  }

  get isOutdated(): boolean {
    return Date.now() - this.#openedAt > LONGEST_OPEN_MS
  }
}

/** A request, its handler, and the connection that carries it. */
export interface Carried extends Dispatcher.DispatchOptions, Dispatcher.DispatchHandler {
  connection: ReceiverConnection | undefined
}

/**
 * The connections to one origin. undici's own pool looks at each of its connections for every request, and reads the
 * time for each; this one takes the connection that was free last.
 */
export class ReceiverPool {
  readonly #open: () => ReceiverConnection
  readonly #giveUp: () => void
  readonly #free: ReceiverConnection[] = []
  #connected = 0
  #underWay = 0

  /** Calls `giveUp` when no request is under way and no connection is open any more. */
  constructor(open: () => ReceiverConnection, giveUp: () => void) {
    this.#open = open
    this.#giveUp = giveUp
  }

  /** Sends over a free connection, or over a new one. The request ends with a call of `leave`. */
  carry(carried: Carried): void {
    this.#underWay++
    const connection = this.#takeFree() ?? this.#openCounted()
    carried.connection = connection
    connection.dispatch(carried, carried)
  }

  /** Sends once more, over a connection of its own that closes afterwards. */
  carryFresh(carried: Carried): void {
    if (carried.connection !== undefined) this.#keep(carried.connection)
    const fresh = this.#open()
    carried.connection = fresh
    fresh.dispatch(carried, carried)
    fresh.close().catch(() => {})
  }

  /** Ends a request: its connection is free. */
  leave({ connection }: Carried): void {
    this.#underWay--
    if (connection !== undefined) this.#keep(connection)
    this.#giveUpUnused()
  }

  #takeFree(): ReceiverConnection | undefined {
    for (;;) {
      const connection = this.#free.pop()
      if (connection === undefined || !connection.isOutdated) return connection
      connection.close().catch(() => {})
    }
  }

  #keep(connection: ReceiverConnection): void {
    if (!connection.closed && !connection.destroyed && !connection.hasFailed) this.#free.push(connection)
  }

  #openCounted(): ReceiverConnection {
    const connection = this.#open()
    connection.on('connect', () => {
      this.#connected++
    })
    connection.on('disconnect', () => {
      this.#connected--
      this.#giveUpUnused()
    })
    return connection
  }

  #giveUpUnused(): void {
    if (this.#underWay > 0 || this.#connected > 0) return
    this.#giveUp()
    for (const connection of this.#free.splice(0)) connection.close().catch(() => {})
  }
}

/** Open connections are separated by the checks at their opening: the policy and the resolver. */
const pools = {
  private: new WeakMap<Resolve, Map<string, ReceiverPool>>(),
  public: new WeakMap<Resolve, Map<string, ReceiverPool>>(),
}

export function receiverPool(origin: string, resolve: Resolve, allowPrivate: boolean): ReceiverPool {
  const known = pools[allowPrivate ? 'private' : 'public']
  let byOrigin = known.get(resolve)
  if (byOrigin === undefined) {
    byOrigin = new Map()
    known.set(resolve, byOrigin)
  }
  return byOrigin.get(origin) ?? openPool(origin, byOrigin, pinnedLookup(resolve, allowPrivate))
}

function openPool(origin: string, byOrigin: Map<string, ReceiverPool>, lookup: LookupFunction): ReceiverPool {
  const options = connectionOptions(lookup)
  const pool = new ReceiverPool(
    () => new ReceiverConnection(origin, options),
    () => {
      if (byOrigin.get(origin) === pool) byOrigin.delete(origin)
    },
  )
  byOrigin.set(origin, pool)
  return pool
}

const connectionOptions = (lookup: LookupFunction) => ({
  // All connections of a pool have one connector, which keeps their TLS sessions. The attempt's own timeout ends it; this
  // one ends a connection that no attempt waits for any more.
  connect: buildConnector({
    lookup,
    timeout: 10_000,
    rejectUnauthorized: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
  }),
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: 16_384,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 15_000,
})

/** Resolves and checks the name at every dial, and hands the checked addresses to it. */
function pinnedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
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
