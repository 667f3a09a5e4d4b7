/** What wallets do to a pool: swap, migrate, hand over its creator or positions, and share a preset. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildPositionTransfer,
  MOST_TRANSFERRED_POSITIONS,
  POSITION_TRANSFER_UNITS,
  readPositions,
} from '../../chain/programs/damm-v2/index.ts'
import {
  buildConfig,
  buildCreatorTransfer,
  buildMigrationStep,
  CREATOR_TRANSFER_UNITS,
  configUnits,
  MIGRATION_PROGRAMS,
  MIGRATION_UNITS,
  migratedPoolAddress,
  openMigrationStep,
  requireQuoteMint,
} from '../../chain/programs/dbc/index.ts'
import { decimalsProof } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { badRequest, internal, Overtaken } from '../../platform/errors.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { type FreshKey, freshKey, SEED_BYTES } from '../../solana/signatures.ts'
import { type SharedConfigRow, settleSharedConfig } from '../../store/resources/shared-configs.ts'
import { unsignedAct } from '../act.ts'
import { buildTransaction, newKey, trackingOf, unsignedAnswer } from '../building.ts'
import { largestFirst } from '../fee-claims/delegations.ts'
import { requirePositionPool, unheldPosition } from '../fee-claims/plan-positions.ts'
import { requireRecipients } from '../recipients.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'
import { requireReceivers } from './launch-terms.ts'
import { isFull, requireCurve, requirePool } from './on-chain.ts'
import { buildPoolSwap, minimumOutOf, POOL_SWAP_UNITS, paidMint, quotePoolSwap, slackIn } from './pool-swap.ts'
import { requireTakenPreset } from './preset-rehearsals.ts'
import { sharedCurve } from './presets.ts'
import { readSharedConfig, sharedDataHash } from './shared-config.ts'

type Routes = Api['pools']

/** Quotes and builds a buy or a sell on a pool of either family. */
export const swapPool = unsignedAct<Routes['swap']>(
  async (context, input) => {
    const { address, payer, side, slippage_bps } = input
    const order = { side, amount: BigInt(input.amount) }
    const { chain } = context
    const chainPool = await requirePool(chain, address)
    if (chainPool.type === 'dbc' && chainPool.pool.isMigrated) {
      const next = await migratedPoolAddress(chainPool.pool)
      throw badRequest(`The pool ${address} has migrated: swap on ${next}`, {
        param: 'address',
        details: { migrated_to: next },
      })
    }
    const quote = await quotePoolSwap(chain, chainPool, order)
    const minimumOut = minimumOutOf(quote.estimatedOut, BigInt(slippage_bps))
    const paid = paidMint(chainPool, side)
    const proof = paid.mint === WRAPPED_SOL ? [] : [await decimalsProof(payer, paid)]
    return {
      payer,
      fallbackUnits: POOL_SWAP_UNITS,
      // Near its end a curve takes a part, which is more if others sell before.
      slack: [slackIn(payer, paid, order.amount - quote.amountIn)],
      build: ({ before = [], ...envelope }) =>
        buildPoolSwap(chainPool, { ...envelope, before: [...before, ...proof], ...order, minimumOut }),
      summary: {
        pool_address: address,
        side,
        amount_in: String(quote.amountIn),
        estimated_out: String(quote.estimatedOut),
        minimum_out: String(minimumOut),
        fee: String(quote.fee),
      },
      tracked: trackingOf('pool', address, []),
    }
  },
  { isNested: true },
)

/** Throws bad_request for a curve that is not full, or has migrated. */
export const migratePool = unsignedAct<Routes['migrate']>(
  async (context, input) => {
    const { address, payer } = input
    const pool = await requireCurve(context.chain, address)
    const step = openMigrationStep(pool)
    // A build is tried first: both take the same keys.
    const positionKeys = step === 'migrate' ? ([newKey(context), newKey(context)] as const) : undefined
    return {
      payer,
      requiredProgram: MIGRATION_PROGRAMS[step],
      fallbackUnits: MIGRATION_UNITS[step],
      build: (envelope) => buildMigrationStep({ ...envelope, pool, positionKeys }),
      summary: {
        pool_address: address,
        step,
        damm_pool_address: await migratedPoolAddress(pool),
      },
      tracked: trackingOf('pool', address, []),
    }
  },
  { isNested: true },
)

/** Throws bad_request for an address without a key, and while the curve waits for its migration. */
export const transferCreator = unsignedAct<Routes['transferCreator']>(
  async (context, input) => {
    const { address, payer, new_creator, allow_programs } = input
    const pool = await requireCurve(context.chain, address)
    const recipient = { param: 'new_creator', wallet: new_creator }
    if (new_creator === pool.creator)
      throw badRequest(`${new_creator} is the creator of ${address} already`, { param: recipient.param })
    // The program accepts any other address, even one that would lose the role forever.
    await requireRecipients(context, [recipient], { allowsPrograms: allow_programs })
    if (isFull(pool) && !pool.isMigrated) {
      throw badRequest(
        `The curve of ${address} is full and has not migrated: its creator can be changed again after the migration`,
        { param: 'address' },
      )
    }
    const { creatorQuoteFee, creatorSurplus, creatorMigrationFee } = pool
    return {
      payer,
      fallbackUnits: CREATOR_TRANSFER_UNITS,
      build: (envelope) => buildCreatorTransfer({ ...envelope, pool, newCreator: new_creator }),
      summary: {
        pool_address: address,
        creator: pool.creator,
        new_creator,
        unclaimed_quote: String(creatorQuoteFee + creatorSurplus.claimable + creatorMigrationFee.claimable),
        unclaimed_base: String(pool.creatorBaseFee),
        quote_mint: pool.quoteMint,
        quote_decimals: pool.quoteDecimals,
        base_mint: pool.baseMint,
        base_decimals: pool.decimals,
      },
      tracked: trackingOf('pool', address, []),
    }
  },
  { isNested: true },
)

/** Throws bad_request if the payer holds no such position, and for a new owner that could never use one. */
export const transferPositions = unsignedAct<Routes['transferPositions']>(
  async (context, input) => {
    const { address, payer, new_owner, position, allow_programs } = input
    if (new_owner === payer) throw badRequest(`${new_owner} holds the positions already`, { param: 'new_owner' })
    await requireRecipients(context, [{ param: 'new_owner', wallet: new_owner }], { allowsPrograms: allow_programs })
    const { pool } = await requirePositionPool(context, address)
    const held = largestFirst(await readPositions(context.chain, pool.address, payer))
    const asked = position === undefined ? held : held.filter((each) => each.position === position)
    if (asked.length === 0) {
      if (position !== undefined)
        throw await unheldPosition(context.chain, { position, holder: payer, pool: pool.address })
      throw badRequest(`${payer} has no positions in the pool ${pool.address}`, { param: 'payer' })
    }
    const positions = asked.slice(0, MOST_TRANSFERRED_POSITIONS)
    return {
      payer,
      fallbackUnits: POSITION_TRANSFER_UNITS * positions.length,
      build: (envelope) => buildPositionTransfer({ ...envelope, positions, newOwner: new_owner }),
      summary: {
        pool_address: pool.address,
        owner: payer,
        new_owner,
        positions: positions.map((each) => ({
          position: each.position,
          nft_mint: each.nftMint,
          liquidity: String(each.liquidity),
        })),
        remaining_positions: asked.length - positions.length,
      },
      tracked: trackingOf('pool', pool.address, []),
    }
  },
  { isNested: true },
)

/** Builds the config account that the launches of a preset share, once for each content of the preset. */
export async function sharePreset(
  context: Context,
  { name, payer }: Input<Routes['share']>,
): Promise<Result<Routes['share']>> {
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
