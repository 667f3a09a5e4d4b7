/** Mounts the routes of API keys, one line per verb. */
import { apiKeys } from '../../src/api/api-keys.ts'
import { createApiKey, listApiKeys, revokeApiKeyById } from '../../src/operations/api-keys.ts'
import type { Mount } from '../mount.ts'

export function apiKeysRoutes(mount: Mount): void {
  mount(apiKeys.create, createApiKey)
  mount.stored(apiKeys.list, listApiKeys)
  mount(apiKeys.revoke, revokeApiKeyById)
}
