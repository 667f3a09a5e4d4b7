/** Decides which hosts and addresses may receive webhooks: only those of the public internet, in whatever notation. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export interface ReceiverPolicy {
  /** Whether http, any port and any address are allowed, which is only for development. */
  allowPrivate: boolean
  /** Permitted ports of public receivers, in digits. */
  ports: readonly string[]
}

/** Returns the addresses of a name, at least one. Rejects when there is none or no server answers. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** The reason not to connect to a receiver, in one line that may be shown to the subscriber. */
export class ReceiverRefused extends Error {
  override readonly name = 'ReceiverRefused'
}

/** Descriptions of ipaddr.js's names for the IANA special-purpose registries (RFC 6890). */
const RANGE_NAMES: Record<string, string> = {
  unspecified: 'an unspecified address',
  broadcast: 'the broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'a carrier-grade NAT address',
  private: 'a private address',
  uniqueLocal: 'a unique local address',
  deprecatedSiteLocal: 'a site-local address',
  ipv4Mapped: 'an IPv4-mapped address',
  rfc6145: 'an IPv4-translated address',
  rfc6052: 'a NAT64 address',
  '6to4': 'a 6to4 address',
  teredo: 'a Teredo address',
  discard: 'a discard address',
  benchmarking: 'a benchmark address',
  deprecatedOrchid: 'an ORCHID address',
  orchid2: 'an ORCHID address',
}

/** Metadata services whose addresses appear to be public. */
const METADATA_ADDRESSES = new Set(['168.63.129.16', '192.80.8.124'])
const METADATA_NAMES = new Set(['metadata.goog', 'metadata.packet.net', 'metadata.platformequinix.com'])

/** Only 2000::/3 is public unicast (RFC 4291). Other addresses embed IPv4 or are not routed on the internet. */
const PUBLIC_V6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Returns why webhooks may not go to an IPv4 or IPv6 address, such as "a loopback address", or null when they may. */
export function refusalOf(address: string): string | null {
  if (isIP(address) === 0) return 'not an address'
  if (address.includes('%')) return 'an address with a zone'
  if (METADATA_ADDRESSES.has(address)) return 'an address of a metadata service'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (range !== 'unicast') return RANGE_NAMES[range] ?? 'a reserved address'
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(PUBLIC_V6)) {
    return parsed.parts.slice(0, 6).every((part) => part === 0) ? 'an IPv4-compatible address' : 'a reserved address'
  }
  return null
}

/** The prefix under which a DNS64 server gives an IPv4 address to an IPv6-only network (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * The same for an address that a name resolves to. For an address under the NAT64 prefix the embedded IPv4 address is
 * checked, because an IPv6-only network reaches every IPv4 receiver that way.
 */
function resolvedRefusal(address: string): string | null {
  if (isIP(address) !== 6 || address.includes('%')) return refusalOf(address)
  const parsed = ipaddr.IPv6.parse(address)
  if (!parsed.match(NAT64)) return refusalOf(address)
  return refusalOf(parsed.toByteArray().slice(12).join('.')) === null ? null : refusalOf(address)
}

/** Names that resolve within a network or a machine, never on the public internet (RFC 6761, 6762, 7686, 8375). */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|lan|home|corp|home\.arpa|onion|alt)$/

/** Returns the host of a URL as it is resolved and used in TLS: without brackets and without the root's dot. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()

const portOf = ({ port, protocol }: URL) => port || (protocol === 'http:' ? '80' : '443')

/**
 * Returns why the text of a URL excludes it as a receiver, without resolving anything, or null. The reason never
 * contains credentials.
 */
export function urlRefusal(url: URL, { allowPrivate, ports }: ReceiverPolicy): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be https'
  if (url.username !== '' || url.password !== '') return 'must not contain credentials'
  if (allowPrivate) return null
  if (url.protocol !== 'https:') return 'must be https'
  if (!ports.some((port) => port.trim() === portOf(url))) {
    return `port ${portOf(url)} is not allowed; use ${ports.join(' or ')}, or add it to webhooks.ports`
  }
  const host = hostOf(url)
  if (isIP(host) !== 0) {
    const reason = refusalOf(host)
    return reason === null ? null : `${host} is not a public host: it is ${reason}`
  }
  if (METADATA_NAMES.has(host)) return `${host} is not a public host: it is a metadata service`
  if (!host.includes('.')) return `${host} is not a public host: a public name has a dot`
  return PRIVATE_NAME.test(host) ? `${host} is not a public host: its ending is private` : null
}

/**
 * Returns the addresses to connect to for a name, IPv4 first. Throws ReceiverRefused if there is none, or if any is not
 * public.
 */
export async function receiverAddresses(
  name: string,
  allowPrivate: boolean,
  resolve: Resolve,
): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    // An address needs no resolution.
    addresses = isIP(name) === 0 ? await resolve(name) : [name]
  } catch {
    addresses = []
  }
  if (addresses.length === 0) throw new ReceiverRefused(`${name} does not resolve`)
  for (const address of addresses) {
    const judge = address === name ? refusalOf : resolvedRefusal
    const reason = isIP(address) === 0 || !allowPrivate ? judge(address) : null
    // Only the refused address is named, and only if it is valid, because the reader must not learn the others.
    const what = reason !== null && isIP(address) !== 0 ? `${address}, ${reason}` : reason
    if (reason !== null) throw new ReceiverRefused(`${name} is not a public host: it resolves to ${what}`)
  }
  return addresses.toSorted((one, other) => isIP(one) - isIP(other))
}

/** Longest wait for one name server's answer, and the number of attempts. */
const NAME_SERVER = { timeout: 2_000, tries: 2 }

/**
 * Queries only name servers, by default the system's. It uses no hosts file, no search list, and no thread that a slow
 * server could block.
 */
export const askNameServers =
  (servers?: readonly string[]): Resolve =>
  async (name) => {
    const { Resolver } = await import('node:dns/promises')
    const resolver = new Resolver(NAME_SERVER)
    if (servers) resolver.setServers(servers)
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    // An address family that fails adds no addresses.
    const addresses = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length === 0) throw new Error('no address')
    return addresses
  }

/** Queries the system resolver, because development needs its hosts file and container names. */
const askSystem: Resolve = async (name) => {
  const { lookup } = await import('node:dns/promises')
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

const askPublicly = askNameServers()

/** Returns the same function every time, because connections are grouped by it. */
export const resolverFor = (allowPrivate: boolean): Resolve => (allowPrivate ? askSystem : askPublicly)
