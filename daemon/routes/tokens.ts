/** Tokens: one line per verb. */
import { api } from '../../src/api/index.ts'
import { getToken } from '../../src/operations/tokens/get-token.ts'
import { listTokens } from '../../src/operations/tokens/list-tokens.ts'
import { type Mount, notYet } from '../mount.ts'

export function tokensRoutes(mount: Mount): void {
  mount(api.tokens.create, notYet('Creating a token'))
  mount(api.tokens.list, listTokens)
  mount(api.tokens.get, getToken)
  mount(api.tokens.revokeAuthority, notYet('Revoking an authority'))
}
