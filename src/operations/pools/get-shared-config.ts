/** Reads the config account that the launches of a preset share. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { sharedCurve } from './presets.ts'
import { readSharedConfig } from './shared-config.ts'

type SharedConfigRoute = Api['pools']['sharedConfig']

export async function getSharedConfig(
  context: Context,
  { name }: Input<SharedConfigRoute>,
): Promise<Result<SharedConfigRoute>> {
  const { row, status } = await readSharedConfig(context, await sharedCurve(context.config, name))
  return { preset: name, config: row?.address ?? null, status }
}
