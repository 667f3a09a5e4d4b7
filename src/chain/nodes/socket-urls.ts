/** Possible WebSocket URLs of an endpoint. */
import { webSocketUrl } from '../../settings/cluster.ts'
import type { RpcEndpoint } from '../../settings/config.ts'
import { withoutUser } from '../program-cache/rpc.ts'
import type { SocketTarget } from './node-socket.ts'

/** A validator has it on the next port, a proxy on the same port; without a port in the URL both are equal. */
export function socketTargets({ url, headers }: RpcEndpoint): SocketTarget[] {
  const { href, authorization } = withoutUser(url)
  const same = new URL(href)
  same.protocol = same.protocol === 'https:' ? 'wss:' : 'ws:'
  const urls = new Set([webSocketUrl(href), same.href])
  return [...urls].map((each) => ({ url: each, headers: { ...authorization, ...headers } }))
}
