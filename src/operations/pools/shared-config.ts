/** Finds the config account that the launches of a preset share, and checks its content on the chain. */
import { createHash } from 'node:crypto'
import { configContentHash } from '../../chain/programs/dbc/index.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { findSharedConfig, type SharedConfigKey, type SharedConfigRow } from '../../store/resources/shared-configs.ts'
import { type LaunchReceivers, readLaunchReceivers } from './launch-terms.ts'
import type { NamedCurve } from './presets.ts'

type Services = Pick<Context, 'chain' | 'store' | 'config' | 'signer' | 'log'>

interface SharedConfigState {
  key: SharedConfigKey
  /** Addresses that may claim the fees and receive the leftover. */
  receivers: LaunchReceivers
  row: SharedConfigRow | null
  status: 'missing' | 'pending' | 'live' | 'different'
}

/**
 * Reads the account for the current preset. The config contains the preset and the platform wallet, so a change of
 * either gives another account.
 */
export async function readSharedConfig(
  services: Services,
  { name, preset, curve }: NamedCurve,
): Promise<SharedConfigState> {
  const { chain, store } = services
  const receivers = await readLaunchReceivers(services, preset)
  const key = {
    genesis: await chain.genesisHash(),
    preset: name,
    content_sha256: await configContentHash({ curve, ...receivers }),
  }
  const row = await findSharedConfig(store.db, key)
  if (row === null) return { key, receivers, row, status: 'missing' }
  const [account = null] = await accountsAt(chain, [row.address])
  if (account === null) return { key, receivers, row, status: 'pending' }
  const isSame = account.owner === PROGRAMS.dbc.id && sharedDataHash(account.data) === row.data_sha256
  return { key, receivers, row, status: isSame ? 'live' : 'different' }
}

export const sharedDataHash = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex')

/**
 * Returns the address of the config that launches of the preset use, or null if each has its own. The content is
 * checked against the preset. Throws bad_request while the shared config is not on chain.
 */
export async function requireSharedConfig(services: Services, named: NamedCurve): Promise<string | null> {
  const { name, preset } = named
  if (!preset.shared_config) return null
  const { row, status } = await readSharedConfig(services, named)
  if (row !== null && status === 'live') return row.address
  const way = `build it (POST /v2/pool-presets/${name}/shared-config, \`svc pools share ${name}\`), and launch once it is confirmed`
  const why =
    status === 'different'
      ? `The content of ${row?.address} differs from the preset ${name}, so no launch uses it`
      : `The launches of the preset ${name} share a config account, which is not on chain yet`
  throw badRequest(`${why}: ${way}`, { param: 'preset', details: { config: row?.address ?? null, status } })
}
