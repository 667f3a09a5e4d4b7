/** How an endpoint is named where its URL, which may hold a key, is not shown. */
import type { RpcEndpoint } from '../../settings/config.ts'

/** Host and place in the list, which tell apart two endpoints of one provider. */
export const endpointLabel = ({ url }: RpcEndpoint, place: number): string => `${new URL(url).host}#${place + 1}`
