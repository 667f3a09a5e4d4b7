/** The address that a request came from, according to the trusted proxies in front of the daemon. */
import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'
import type { Context } from 'hono'
import { plainAddress } from '../src/platform/address-ranges.ts'
import type { Kernel } from './kernel.ts'
import type { RequestEnv } from './pipeline/request-record.ts'

interface Caller {
  headers: Pick<Headers, 'get' | 'has'>
  /** Address of the connection; undefined for a request without a connection. */
  connection: string | undefined
}

export const callerOf = ({ req, env }: Context<RequestEnv>): Caller => ({
  headers: req.raw.headers,
  connection: env.incoming?.socket.remoteAddress,
})

/** Longest text of an address with its zone or port. */
const LONGEST_ADDRESS = 64

/**
 * Returns the whole address of a client, for rules about addresses; null if it is not known. That is so if
 * X-Forwarded-For has fewer addresses than there are trusted proxies, or something else in the place of an address.
 */
export function wholeAddressOf({ headers, socket }: IncomingMessage, trustedProxies: number): string | null {
  const told = trustedProxies === 0 ? undefined : headers['x-forwarded-for']
  if (told === undefined) return plainAddress(socket.remoteAddress ?? '')
  return plainAddress(withoutPort(String(told).split(',').at(-trustedProxies)?.trim()) ?? '')
}

/**
 * Returns the address that the last of `trustedProxies` proxies reports, otherwise that of the connection. For IPv6 it
 * is the 64-bit network, because one client can use any address in it.
 */
export function clientAddressOf({ headers, connection }: Caller, trustedProxies: number): string {
  const own = connection ?? 'local'
  const told = trustedProxies === 0 ? [] : (headers.get('x-forwarded-for') ?? '').split(',')
  const address = withoutPort(told.at(-trustedProxies)?.trim())
  return networkOf(address === undefined || address === '' || address.length > LONGEST_ADDRESS ? own : address)
}

/** Some proxies add the port, which would make every connection look like another client. */
function withoutPort(told: string | undefined): string | undefined {
  if (told === undefined || isIP(told) !== 0) return told
  const [, inBrackets, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(told) ?? []
  return inBrackets ?? plain ?? told
}

type Counted = Pick<Kernel, 'config' | 'log'>

const warned = new WeakSet<Counted>()

/** The address under which a visitor is counted. Warns once if a proxy names clients but no proxy is trusted. */
export function visitorAddressOf(caller: Caller, kernel: Counted): string {
  const trusted = kernel.config.values['trusted-proxies']
  if (trusted === 0 && caller.headers.has('x-forwarded-for') && !warned.has(kernel)) {
    warned.add(kernel)
    kernel.log.warn(
      { setting: 'trusted-proxies' },
      'X-Forwarded-For is not trusted, so all visitors behind a proxy share its limits: set trusted-proxies (SVC_TRUSTED_PROXIES) to the number of proxies before this daemon',
    )
  }
  return clientAddressOf(caller, trusted)
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
