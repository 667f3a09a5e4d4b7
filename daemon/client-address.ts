/** The address that a request came from, as far as proxies in front of the daemon are believed. */
import { isIP, isIPv6 } from 'node:net'
import type { Kernel } from './kernel.ts'

const addresses = new WeakMap<Request, string>()

/** Notes the address of the connection that the request arrived on. */
export function noteClientAddress(request: Request, address: string | undefined): void {
  if (address !== undefined) addresses.set(request, address)
}

/** Longest text that is an address with its zone or port. */
const LONGEST_ADDRESS = 64

/**
 * Returns the address that the last of `trustedProxies` proxies tells, else that of the connection. Of IPv6 it is the
 * network of 64 bits, in which one client may take any address.
 */
export function clientAddressOf(request: Request, trustedProxies: number): string {
  const own = addresses.get(request) ?? 'local'
  const told = trustedProxies === 0 ? [] : (request.headers.get('x-forwarded-for') ?? '').split(',')
  const address = withoutPort(told.at(-trustedProxies)?.trim())
  return networkOf(address === undefined || address === '' || address.length > LONGEST_ADDRESS ? own : address)
}

/** Some proxies add the port, by which every connection of a client would be another one. */
function withoutPort(told: string | undefined): string | undefined {
  if (told === undefined || isIP(told) !== 0) return told
  const [, inBrackets, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(told) ?? []
  return inBrackets ?? plain ?? told
}

type Counted = Pick<Kernel, 'config' | 'log'>

const warned = new WeakSet<Counted>()

/** The address by which a visitor is counted. Warns once where a proxy names clients and none is believed. */
export function visitorAddressOf(request: Request, kernel: Counted): string {
  const trusted = kernel.config.values['trusted-proxies']
  if (trusted === 0 && request.headers.has('x-forwarded-for') && !warned.has(kernel)) {
    warned.add(kernel)
    kernel.log.warn(
      { setting: 'trusted-proxies' },
      'X-Forwarded-For is not believed, so that all visitors behind a proxy share its limits: set trusted-proxies (SVC_TRUSTED_PROXIES) to the number of proxies before this daemon',
    )
  }
  return clientAddressOf(request, trusted)
}

function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail = ''] = plain.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === '' ? [] : tail.split(':')
  const zeros = plain.includes('::') ? Array(Math.max(0, 8 - before.length - after.length)).fill('0') : []
  return [...before, ...zeros, ...after].slice(0, 4).join(':')
}
