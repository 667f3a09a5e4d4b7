/** Lists the curves that pools can be launched with. */
import type { Api } from '../../api/index.ts'
import type { Result } from '../../api/route.ts'
import { ConfigError } from '../../config.ts'
import type { Context } from '../../context.ts'
import { internal } from '../../errors.ts'
import { loadCurves, presetRecord } from './presets.ts'

type ListPresetsRoute = Api['pools']['presets']

export async function listPresets({ config }: Context): Promise<Result<ListPresetsRoute>> {
  const curves = await loadCurves(config).catch((error) => {
    throw error instanceof ConfigError ? internal(error.message) : error
  })
  return [...curves.values()].map((curve) => presetRecord(curve, config))
}
