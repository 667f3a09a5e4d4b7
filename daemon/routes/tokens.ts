/** Mounts the routes of tokens, one line per verb. */
import { api } from '../../src/api/index.ts'
import { createToken } from '../../src/operations/tokens/create-token.ts'
import { getToken } from '../../src/operations/tokens/get-token.ts'
import { listTokens } from '../../src/operations/tokens/list-tokens.ts'
import { revokeAuthority } from '../../src/operations/tokens/revoke-authority.ts'
import type { Mount } from '../mount.ts'

export function tokensRoutes(mount: Mount): void {
  mount(api.tokens.create, createToken)
  mount.stored(api.tokens.list, listTokens)
  mount(api.tokens.get, getToken)
  mount(api.tokens.revokeAuthority, revokeAuthority)
}
