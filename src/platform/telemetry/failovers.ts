/** Requests that another RPC endpoint answered than the one that was asked first, published for the metrics. */
import { channel } from 'node:diagnostics_channel'

export interface Failover {
  /** The JSON-RPC method. */
  operation: string
  /** From the first try to the answer. */
  seconds: number
}

const failovers = channel('svc.rpc.failover')

export function publishFailover(failover: Failover): void {
  if (failovers.hasSubscribers) failovers.publish(failover)
}

/** Receives every one until the returned function is called. */
export function onFailovers(act: (failover: Failover) => void): () => void {
  const listener = (message: unknown) => act(message as Failover)
  failovers.subscribe(listener)
  return () => failovers.unsubscribe(listener)
}
