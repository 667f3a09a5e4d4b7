/** Kept connections to receivers, one pool for each origin, which are opened only to checked addresses. */
import { isIP, type LookupFunction } from 'node:net'
import { Client, Pool } from 'undici'
import { type Resolve, receiverAddresses } from '../webhook-subscriptions/receiver-address.ts'

/** A connection that says whether it has carried an answer since it was opened. */
export class ReceiverConnection extends Client {
  hasAnswered = false

  constructor(...parameters: ConstructorParameters<typeof Client>) {
    super(...parameters)
    // The same client opens another connection after the receiver has closed one.
    this.on('connect', () => {
      this.hasAnswered = false
    })
  }

  override dispatch(...[options, handler]: Parameters<Client['dispatch']>): boolean {
    if (isCarried(options)) options.connection = this
    return super.dispatch(options, handler)
  }
}

/** A request that is told the connection which carries it. */
export interface Carried {
  connection: ReceiverConnection | undefined
}

const isCarried = (options: object): options is Carried => 'connection' in options

/** The connections to one origin. */
export interface ReceiverPool {
  /** Sends over a free connection, or over a new one. */
  readonly pool: Pool
  /** Opens a connection of its own for one request, which closes after it. */
  fresh(): ReceiverConnection
  /** Every request begins with `enter` and ends with `leave`: the pool of an origin without any is given up. */
  enter(): void
  leave(): void
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
  // A name that has moved is resolved and checked again after a minute, however busy its connection is.
  const pool = new Pool(origin, {
    ...connectionOptions(lookup),
    clientTtl: 60_000,
    factory: (url, options) => new ReceiverConnection(url, options),
  })
  let underWay = 0
  const giveUpUnused = () => {
    if (underWay > 0 || pool.stats.connected > 0 || byOrigin.get(origin) !== opened) return
    byOrigin.delete(origin)
    pool.close().catch(() => {})
  }
  pool.on('disconnect', giveUpUnused)
  const opened: ReceiverPool = {
    pool,
    fresh: () => new ReceiverConnection(origin, connectionOptions(lookup)),
    enter() {
      underWay++
    },
    leave() {
      underWay--
      giveUpUnused()
    },
  }
  byOrigin.set(origin, opened)
  return opened
}

const connectionOptions = (lookup: LookupFunction) => ({
  // The attempt's own timeout ends it. This one ends a connection that no attempt waits for any more.
  connect: {
    lookup,
    timeout: 10_000,
    rejectUnauthorized: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
  },
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
