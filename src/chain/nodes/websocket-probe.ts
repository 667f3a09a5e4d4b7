/** Tests whether an endpoint has a WebSocket, for `svc doctor`. */
import type { RpcEndpoint } from '../../settings/config.ts'
import { takesSubscriptions } from './node-socket.ts'
import { socketTargets } from './socket-urls.ts'

/** Resolves with true when one of its possible URLs accepts a subscription in time. */
export async function probeWebSocket(endpoint: RpcEndpoint, timeoutMs: number): Promise<boolean> {
  const probes = socketTargets(endpoint).map((target) => takesSubscriptions(target, timeoutMs))
  return Promise.any(probes.map(async (probe) => ((await probe) ? true : Promise.reject(new Error('silent'))))).catch(
    () => false,
  )
}
