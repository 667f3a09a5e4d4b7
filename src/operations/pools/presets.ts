/** Loads the curves that pools can be launched with: the built-in one and those of the file `pools.presets`. */
import { readFileSync } from 'node:fs'
import type { z } from '@hono/zod-openapi'
import { type CurvePreset, curvePreset, type PoolPreset } from '../../api/pool-presets.ts'
import { buildCurve, type LaunchCurve } from '../../chain/programs/dbc/index.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { type Config, ConfigError } from '../../settings/config.ts'

/** A billion tokens, from a market cap of 30 SOL to 400 SOL. Half of the migrated liquidity is locked permanently. */
export const STANDARD_PRESET: CurvePreset = curvePreset.parse({
  total_supply: '1000000000',
  decimals: 6,
  initial_market_cap: 30,
  migration_market_cap: 400,
  fee: { starting_bps: 100, ending_bps: 100 },
  liquidity: { partner: 50, partner_locked: 50 },
})

export interface NamedCurve {
  name: string
  preset: CurvePreset
  curve: LaunchCurve
}

const loadedPresets = new WeakMap<Config, Promise<ReadonlyMap<string, NamedCurve>>>()

/** Returns every curve by name, computed once per configuration. Throws ConfigError naming file, curve and field. */
export function loadCurves(config: Config): Promise<ReadonlyMap<string, NamedCurve>> {
  const known = loadedPresets.get(config)
  if (known !== undefined) return known
  const curves = makeCurves(config)
  loadedPresets.set(config, curves)
  curves.catch(() => loadedPresets.delete(config))
  return curves
}

/** Returns the curve of that name, or the configured one. Throws bad_request for an unknown name. */
export async function curveNamed(config: Config, name: string | undefined): Promise<NamedCurve> {
  const curves = await loadCurves(config)
  const curve = curves.get(name ?? config.values['pools.preset'])
  if (curve !== undefined) return curve
  throw badRequest(`There is no preset ${name}; there are ${[...curves.keys()].join(', ')}`, { param: 'preset' })
}

/** Returns the preset that a path names. Throws not_found. */
export async function requireCurve(config: Config, name: string): Promise<NamedCurve> {
  const curve = (await loadCurves(config)).get(name)
  if (curve === undefined) throw notFound(`There is no preset ${name}`, { param: 'name' })
  return curve
}

/**
 * Returns the preset of that name, whose launches share a config. Throws not_found without it, bad_request for other
 * presets.
 */
export async function sharedCurve(config: Config, name: string): Promise<NamedCurve> {
  const curve = await requireCurve(config, name)
  if (curve.preset.shared_config) return curve
  throw badRequest(
    `Each launch of the preset ${name} creates its own config account: set "shared_config": true in the file of pools.presets, and restart`,
    { param: 'name' },
  )
}

export function presetRecord({ name, preset, curve }: NamedCurve, config: Config): PoolPreset {
  return {
    name,
    is_default: name === config.values['pools.preset'],
    ...preset,
    initial_price: curve.initialPrice,
    migration_price: curve.migrationPrice,
    migration_threshold: String(curve.thresholdLamports),
    curve: curve.points.map(({ sqrtPrice, liquidity }) => ({
      sqrt_price: String(sqrtPrice),
      liquidity: String(liquidity),
    })),
  }
}

async function makeCurves(config: Config): Promise<ReadonlyMap<string, NamedCurve>> {
  const presets = { standard: STANDARD_PRESET, ...readPresets(config.values['pools.presets']) }
  const curves = new Map<string, NamedCurve>()
  for (const [name, preset] of Object.entries(presets)) {
    const curve = await buildCurve(preset).catch((error: Error) => {
      throw new ConfigError(`pools.presets: ${name}: ${error.message}`)
    })
    curves.set(name, { name, preset, curve })
  }
  const chosen = config.values['pools.preset']
  if (!curves.has(chosen)) {
    throw new ConfigError(
      `pools.preset is ${chosen}, but there are only these presets: ${[...curves.keys()].join(', ')}`,
    )
  }
  return curves
}

function readPresets(file: string | undefined): Record<string, CurvePreset> {
  if (file === undefined) return {}
  let json: unknown
  try {
    json = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`pools.presets: ${file} is not readable as JSON: ${(error as Error).message}`)
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ConfigError(`pools.presets: ${file} must contain a JSON object of named curves`)
  }
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) {
        throw new ConfigError(
          `pools.presets: ${file}: "${name}" is not a valid name: use lower-case letters, digits and hyphens`,
        )
      }
      const parsed = curvePreset.safeParse(value)
      if (!parsed.success) throw new ConfigError(`pools.presets: ${file}: ${firstIssue(name, parsed.error)}`)
      return [name, parsed.data]
    }),
  )
}

function firstIssue(name: string, { issues: [issue] }: z.ZodError): string {
  return `${[name, ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'is not valid'}`
}
