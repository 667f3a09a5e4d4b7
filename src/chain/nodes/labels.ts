/** Names endpoints without their URLs, which may hold keys. */
import type { RpcEndpoint } from '../../settings/config.ts'

/** Host and place in the list, which distinguish two endpoints of one provider. */
export const endpointLabel = ({ url }: RpcEndpoint, place: number): string => `${new URL(url).host}#${place + 1}`
