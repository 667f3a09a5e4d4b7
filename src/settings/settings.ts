/** Table of all settings, collected from their areas. */

import { attentionSettings } from './areas/attention.ts'
import { chainSettings } from './areas/chain.ts'
import { claimPagesSettings } from './areas/claim-pages.ts'
import { commandsSettings } from './areas/commands.ts'
import { databaseSettings } from './areas/database.ts'
import { resourcesSettings } from './areas/resources.ts'
import { serviceSettings } from './areas/service.ts'
import { signerSettings } from './areas/signer.ts'
import { storageSettings } from './areas/storage.ts'
import { webhooksSettings } from './areas/webhooks.ts'
import type { NoticeReceiver } from './receiver-settings.ts'
import type { Kind, RpcEndpoint, Setting } from './setting.ts'

export const SETTINGS = {
  ...serviceSettings,
  ...databaseSettings,
  ...webhooksSettings,
  ...attentionSettings,
  ...claimPagesSettings,
  ...chainSettings,
  ...signerSettings,
  ...resourcesSettings,
  ...storageSettings,
  ...commandsSettings,
}

export type SettingName = keyof typeof SETTINGS
export const isSetting = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name)
export const environmentName = (name: string) => `SVC_${name.toUpperCase().replace(/[.-]/g, '_')}`
/** The variable that names a file with the value; undefined for a setting that neither is nor contains a secret. */
export function fileVariable(name: SettingName): string | undefined {
  const { secret, private: isPrivate }: Setting = SETTINGS[name]
  return secret || isPrivate ? `${environmentName(name)}_FILE` : undefined
}
interface Kinds {
  string: string
  integer: number
  boolean: boolean
  list: string[]
  endpoints: RpcEndpoint[]
  receivers: NoticeReceiver[]
}
type Value<S extends { kind: Kind }> = Kinds[S['kind']]
export type Values = {
  [N in SettingName]:
    | Value<(typeof SETTINGS)[N]>
    | ((typeof SETTINGS)[N] extends { default: unknown } ? never : undefined)
}
