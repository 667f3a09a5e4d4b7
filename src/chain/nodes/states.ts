/** The states of an RPC endpoint, as metrics and `svc doctor` name them. */

export const ENDPOINT_STATES = ['unchecked', 'ok', 'behind', 'paused', 'down', 'wrong-chain'] as const
export type EndpointState = (typeof ENDPOINT_STATES)[number]
