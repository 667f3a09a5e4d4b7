/** Mounts the routes of tokens, one line per verb. */
import { tokens } from '../../src/api/tokens.ts'
import { createToken } from '../../src/operations/tokens/create-token.ts'
import { getToken } from '../../src/operations/tokens/get-token.ts'
import { fetchTokenLabels } from '../../src/operations/tokens/labels.ts'
import { listTokens } from '../../src/operations/tokens/list-tokens.ts'
import { revokeAuthority } from '../../src/operations/tokens/revoke-authority.ts'
import type { Mount } from '../mount.ts'

export function tokensRoutes(mount: Mount): void {
  mount(tokens.create, createToken)
  mount.stored(tokens.list, listTokens)
  mount(tokens.get, getToken)
  mount(tokens.batchFetch, fetchTokenLabels)
  mount(tokens.revokeAuthority, revokeAuthority)
}
