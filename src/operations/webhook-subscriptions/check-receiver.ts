/** Whether a URL may receive webhooks: https to a public host, unless private receivers are allowed for development. */
import { BlockList, isIP } from 'node:net'
import type { Services } from '../../context.ts'
import { badRequest } from '../../errors.ts'

const PRIVATE_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
/** Only 2000::/3 is public unicast; what tunnels IPv4 inside it is refused too. */
const TUNNELS_V6 = [
  ['2002::', 16],
  ['2001::', 23],
  ['2001:db8::', 32],
] as const

const refused = new BlockList()
for (const [net, prefix] of PRIVATE_V4) refused.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of TUNNELS_V6) refused.addSubnet(net, prefix, 'ipv6')
const publicV6 = new BlockList()
publicV6.addSubnet('2000::', 3, 'ipv6')

/** Throws bad_request with `param: url`; names are checked again, with every address they resolve to, when dialled. */
export function checkReceiver({ config }: Pick<Services, 'config'>, text: string): void {
  const refuse = (why: string) => badRequest(`url: ${why}`, { param: 'url' })
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw refuse('must not hold credentials')
  if (config.values['webhooks.allow-private']) return
  if (url.protocol !== 'https:') throw refuse('must be https')
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  const version = isIP(host)
  const privateAddress =
    version === 4
      ? refused.check(host, 'ipv4')
      : version === 6 && (!publicV6.check(host, 'ipv6') || refused.check(host, 'ipv6'))
  const privateName =
    version === 0 && (/(^|\.)(localhost|local|internal|home\.arpa)$/i.test(host) || !host.includes('.'))
  if (privateAddress || privateName) throw refuse(`${host} is not a public host`)
}
