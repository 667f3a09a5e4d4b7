/** Mounts the routes of API keys, one line per verb. */
import { api } from '../../src/api/index.ts'
import { createApiKey } from '../../src/operations/api-keys/create-api-key.ts'
import { listApiKeys } from '../../src/operations/api-keys/list-api-keys.ts'
import { revokeApiKeyById } from '../../src/operations/api-keys/revoke-api-key.ts'
import type { Mount } from '../mount.ts'

export function apiKeysRoutes(mount: Mount): void {
  mount(api.apiKeys.create, createApiKey)
  mount.stored(api.apiKeys.list, listApiKeys)
  mount(api.apiKeys.revoke, revokeApiKeyById)
}
