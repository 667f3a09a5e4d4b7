/** Builds the config account that the launches of a preset share, once for each content of the preset. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildConfig, configUnits, requireQuoteMint } from '../../chain/programs/dbc/index.ts'
import type { Context } from '../../context.ts'
import { badRequest, internal, Overtaken } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { type FreshKey, freshKey, SEED_BYTES } from '../../solana/signatures.ts'
import { type SharedConfigRow, settleSharedConfig } from '../../store/resources/shared-configs.ts'
import { buildTransaction, unsignedAnswer } from '../building.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'
import { requireReceivers } from './launch-terms.ts'
import { requireTakenPreset } from './preset-trials.ts'
import { sharedCurve } from './presets.ts'
import { readSharedConfig, sharedDataHash } from './shared-config.ts'

type SharePresetRoute = Api['pools']['share']

export async function sharePreset(
  context: Context,
  { name, payer }: Input<SharePresetRoute>,
): Promise<Result<SharePresetRoute>> {
  const named = await sharedCurve(context.config, name)
  const { key, receivers, row, status } = await readSharedConfig(context, named)
  if (row !== null && status === 'live') {
    throw badRequest(`The preset ${name} already has its shared config, ${row.address}: launches use it`, {
      param: 'name',
      details: { config: row.address, status },
    })
  }
  await requireReceivers(context, named.preset)
  const { tokenBadge } = await requireQuoteMint(context.chain, named.curve)
  await requireTakenPreset(context, named, payer)
  const kept = status === 'pending' ? row : null
  const config = kept === null ? freshKey() : openKey(context, kept)
  const content = { config: config.address, curve: named.curve, ...receivers, tokenBadge }
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.dbc,
    fallbackUnits: configUnits(named.curve),
    build: async (envelope) => ({
      ...(await buildConfig({ ...envelope, ...content })),
      // A dry run stores no key and makes no signature. Otherwise somebody could create an account that is not stored.
      secretKeys: context.dryRun ? [] : [config.secretKey],
    }),
  })
  const data_sha256 = sharedDataHash(await createdData(context, { payer, config: config.address, ...built }))
  const { clock, vault } = context
  return context.commit(async (tx) => {
    const secret = vault.seal(config.secretKey, keyPurpose(config.address))
    const stored = { ...key, address: config.address, secret, data_sha256, created_at: clock.now() }
    if (!(await settleSharedConfig(tx, kept === null ? stored : { ...kept, data_sha256 }, row?.address ?? null))) {
      throw new Overtaken(
        `Another request has built the shared config of the preset ${name} meanwhile: repeat this request`,
      )
    }
    const keys = context.dryRun ? [] : [config.secretKey]
    return {
      ...unsignedAnswer(built),
      ...generatedKeysField(vault, [built.transaction], keys),
      preset: name,
      config: config.address,
    }
  })
}

const keyPurpose = (address: string) => `shared config ${address}`

function openKey({ vault }: Context, { address, secret }: SharedConfigRow): FreshKey {
  const { buffer, byteOffset } = vault.open(secret, keyPurpose(address))
  return freshKey(new Uint8Array(buffer, byteOffset, SEED_BYTES))
}

interface ConfigCreation {
  payer: string
  config: string
  transaction: Uint8Array
}

/** The used part of the answer of `simulateTransaction`. */
interface ShownRun {
  value?: { err?: unknown; accounts?: ({ data?: unknown } | null)[] | null }
}

/**
 * Returns the data that the program writes into the new account in a simulation. A launch later compares the account
 * with it. Throws bad_request when the simulation fails.
 */
async function createdData({ chain }: Context, { payer, config, transaction }: ConfigCreation): Promise<Uint8Array> {
  const wire = Buffer.from(transaction).toString('base64')
  const options = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, commitment: 'confirmed' }
  const accounts = { encoding: 'base64', addresses: [config] }
  const { value } = await chain.call<ShownRun>('simulateTransaction', [wire, { ...options, accounts }])
  if (value?.err !== null && value?.err !== undefined) {
    throw badRequest(
      `payer: the config account cannot be created: ${JSON.stringify(value.err)}; ${payer} pays its rent and the fee, so it must hold enough SOL`,
      { param: 'payer', details: { err: value.err } },
    )
  }
  const [data] = (value?.accounts?.[0]?.data ?? []) as unknown[]
  if (typeof data !== 'string' || data === '') {
    throw internal('The RPC node simulated the transaction but did not return the created account')
  }
  return Buffer.from(data, 'base64')
}
