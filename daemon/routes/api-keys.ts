/** Mounts the routes of API keys, one line per verb. */
import { apiKeys } from '../../src/api/api-keys.ts'
import { createApiKey } from '../../src/operations/api-keys/create-api-key.ts'
import { listApiKeys } from '../../src/operations/api-keys/list-api-keys.ts'
import { revokeApiKeyById } from '../../src/operations/api-keys/revoke-api-key.ts'
import type { Mount } from '../mount.ts'

export function apiKeysRoutes(mount: Mount): void {
  mount(apiKeys.create, createApiKey)
  mount.stored(apiKeys.list, listApiKeys)
  mount(apiKeys.revoke, revokeApiKeyById)
}
