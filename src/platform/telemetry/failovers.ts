/** Publishes requests that were answered by another RPC endpoint than the first one, for the metrics. */
import { channel } from 'node:diagnostics_channel'

interface Failover {
  /** The JSON-RPC method. */
  operation: string
  /** Time from the first attempt to the answer. */
  seconds: number
}

const failovers = channel('svc.rpc.failover')

export function publishFailover(failover: Failover): void {
  if (failovers.hasSubscribers) failovers.publish(failover)
}

/** Receives every such request until the returned function is called. */
export function onFailovers(act: (failover: Failover) => void): () => void {
  const listener = (message: unknown) => act(message as Failover)
  failovers.subscribe(listener)
  return () => failovers.unsubscribe(listener)
}
