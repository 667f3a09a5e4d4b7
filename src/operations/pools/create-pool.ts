/** Launches a token with its pool: stores image and metadata, generates keys and builds transactions. */

import type { Api, PoolCreated } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { warningsOf } from '../../api/uris.ts'
import { requireQuoteBalance, requireQuoteMint } from '../../chain/programs/dbc/index.ts'
import { requireProgram } from '../../chain/programs/required-program.ts'
import { guardAnswer } from '../../chain/sending/guard-report.ts'
import { requireRoom } from '../../chain/sending/guarding.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { publicRpcUrl } from '../../settings/cluster.ts'
import { plainText } from '../../solana/decision-texts.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Image } from '../../storage/image.ts'
import { metadataJson } from '../../storage/metadata.ts'
import { requireAllowed } from '../../storage/moderation.ts'
import { writeEvent, writeEvents } from '../../store/events/drafts.ts'
import { findPool, insertPool, launchesOfKeys, movePool } from '../../store/resources/pools.ts'
import { isUnderWay } from '../../store/resources/tickers.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { poolRecord } from '../api-records.ts'
import { trackingOf, withNewBlockhash } from '../building.ts'
import { platformWallet } from '../platform-wallet.ts'
import { requireRecipients } from '../recipients.ts'
import { requirePermitted } from '../signing/refusals.ts'
import { requireSigner } from '../signing/require-signer.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun, type SigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan, SigningDraft } from '../signing/types.ts'
import { mintKeyFor } from '../tokens/verbs.ts'
import { requireAllPaid } from '../transactions/forecast-transactions.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'
import { firstBuyOf, launchImage, readLaunchReceivers, requireFittingPreset, requireReceivers } from './launch-terms.ts'
import { type PlannedLaunch, planLaunch, requireLockedShare } from './plan-launch.ts'
import { requireTakenPreset } from './preset-rehearsals.ts'
import { curveNamed } from './presets.ts'
import { requireSharedConfig } from './shared-config.ts'
import { requireFreeTicker, submittedSinceOf, takeTickerFor, tickerTakenError } from './tickers.ts'
import { markPoolFailed, POOL_CHECK_MS } from './transitions.ts'

type CreatePoolRoute = Api['pools']['create']

interface PreparedLaunch {
  launch: PlannedLaunch
  uri: string
  genesis: string
  /** The `created_at` of its record, in Unix milliseconds. */
  createdAt: number
}

export async function createPool(context: Context, input: Input<CreatePoolRoute>): Promise<Result<CreatePoolRoute>> {
  if (input.mode === 'signed') return launchSigned(context, input)
  const prepared = await prepareLaunch(context, input)
  return context.commit(async (tx) => {
    const { launch } = prepared
    const answer = {
      ...linkWarnings(input),
      ...answerOf(context, launch, await insertNewPool(context, tx, input, prepared)),
      ...(launch.lastValidBlockHeight === undefined ? {} : { last_valid_block_height: launch.lastValidBlockHeight }),
    }
    // A dry run stores no launch, so it returns no keys with which one could be signed by mistake.
    if (context.dryRun) return { ...answer, required_signers: NO_KEYS }
    return { ...answer, ...generatedKeysField(context.vault, launch.transactions, keysOf(launch)) }
  })
}

const NO_KEYS = { base_mint_secret_key: [], config_secret_key: [] }

/** Runs all checks that may refuse the launch and all expensive steps before a key is used. */
export async function prepareLaunch(context: Context, input: Input<CreatePoolRoute>): Promise<PreparedLaunch> {
  const { chain, config, storage } = context
  const image = await launchImage(input, config)
  const named = await curveNamed(config, input.preset)
  const { preset, curve } = named
  const buyLamports = firstBuyOf(input, curve)
  requireFittingPreset(input.type, named)
  await requireFreeTicker(context, input)
  if (preset.token_program === 'spl') await requireProgram(chain, PROGRAMS.tokenMetadata)
  await requireProgram(chain, input.type === 'dbc' ? PROGRAMS.dbc : PROGRAMS.dammV2)
  await requireRecipients(context, [{ param: 'creator', wallet: input.creator }], {
    allowsPrograms: input.allow_programs,
  })
  await requireReceivers(context, preset)
  const receivers = await readLaunchReceivers(context, preset)
  const partner = input.type === 'dbc' ? receivers.feeClaimer : await platformWallet(context)
  requireLockedShare(preset, { ...input, partner, lockLiquidity: input.lock_liquidity ?? true })
  const quote = await requireQuoteMint(chain, curve)
  await requireQuoteBalance(chain, { ...curve, ...quote }, { buyer: input.creator, amount: buyLamports })
  if (input.type === 'dbc') await requireTakenPreset(context, named, input.creator)
  const sharedConfig = input.type === 'dbc' ? await requireSharedConfig(context, named) : null
  const token = await mintKeyFor(context, {
    address: input.base_mint,
    param: 'base_mint',
    signers: [input.creator, input.payer ?? input.creator],
  })
  await storage.check()
  await requireAllowed(config, { image, texts: textsOf(input) }, { ending: context.ending })
  const uri = await storeMetadata(context, input, image)
  const launch = await planLaunch(context, {
    ...input,
    payer: input.payer === input.creator ? undefined : input.payer,
    lockLiquidity: input.lock_liquidity ?? true,
    buyLamports,
    receivers,
    quote,
    partner,
    uri,
    token,
    sharedConfig,
    isBundled: input.mode === 'unsigned',
  })
  return { launch, uri, genesis: await chain.genesisHash(), createdAt: context.clock.now() }
}

/** Returns the texts that are published. */
const textsOf = ({
  name,
  symbol,
  description,
  website,
  twitter_url,
  telegram,
  loot_from,
}: Input<CreatePoolRoute>): string[] =>
  [name, symbol, description, website, twitter_url, telegram, loot_from].filter((text) => text !== undefined)

const linkWarnings = ({ website, twitter_url, telegram }: Input<CreatePoolRoute>) =>
  warningsOf({ website, twitter_url, telegram })

/** A prepared launch in a form for JSON. */
type SignedLaunchPlan = Omit<PreparedLaunch, 'launch' | 'createdAt'> & {
  /** Missing in a plan of version 0.1.0. */
  createdAt?: number
  launch: Omit<PlannedLaunch, 'transactions'> & { transactions: string[] }
}

/** Supports only launches by the platform wallet, because the creator pays and signs. */
async function launchSigned(context: Context, input: Input<CreatePoolRoute>): Promise<Result<CreatePoolRoute>> {
  const signer = await requireSigner(context)
  const { address } = signer
  if (input.creator !== address) {
    throw badRequest(
      `mode "signed" launches only pools of the platform wallet: send ${address} as creator, or use mode "unsigned"`,
      { param: 'creator', details: { platform_wallet: address } },
    )
  }
  if (input.payer !== undefined && input.payer !== address) {
    throw badRequest(
      'mode "signed" launches only pools that the platform wallet pays for: leave payer out, or use "unsigned"',
      {
        param: 'payer',
        details: { platform_wallet: address },
      },
    )
  }
  const run = await openSigningRun<SignedLaunchPlan>(context, 'pool.create')
  const plan = run.resumed ?? (await planSignedLaunch(context, run, input))
  const prepared = launchOfPlan(context, plan.state)
  return signAndSubmit(context, run, plan, {
    next: (step) => launchStep(context, plan.state, step),
    async reserve(tx) {
      const { symbol } = input
      const held = await takeTickerFor(context, tx, {
        symbol,
        pool: plan.state.launch.address,
        genesis: plan.state.genesis,
      })
      if (held !== null) throw tickerTakenError(context, symbol, held)
      await insertNewPool(context, tx, input, prepared)
    },
    async release(tx) {
      const row = await findPool(tx, plan.state.launch.address)
      if (row !== null) await writeEvents(tx, context.clock, (await markPoolFailed(tx, row)).drafts)
    },
    answer: (signatures) => ({
      ...linkWarnings(input),
      ...answerOf(
        context,
        prepared.launch,
        poolRecord({ seq: 0, ...newPoolRow(context, input, prepared) } as Row<'pools'>),
      ),
      transactions: [],
      required_signers: {
        ...NO_KEYS,
        ...(input.type === 'dbc' ? {} : { position_nft_secret_key: [] }),
      },
      signatures: [...signatures],
    }),
  })
}

async function planSignedLaunch(
  context: Context,
  { signer, guards }: SigningRun,
  input: Input<CreatePoolRoute>,
): Promise<NewSigningPlan<SignedLaunchPlan>> {
  // Each of several is guarded when it is signed.
  const guard = context.txVersion === 0 && context.guard !== 'off' ? 'when_it_fits' : context.guard
  const { launch: planned, ...prepared } = await prepareLaunch({ ...context, guard }, input)
  const { guarding: _, ...launch } = planned
  const isGuarded = guards === 'required' || context.guard === 'required'
  const payer = { wallet: signer.address, param: 'creator', isGuarded }
  const movements = await requireAllPaid(context, launch.transactions, payer)
  await requirePermitted(context, signer, { operation: 'pool.create', movements, uncapped: [launch.mint] })
  if (isGuarded) {
    for (const [i, bytes] of launch.transactions.entries()) requireRoom(bytes, movements[i]?.guards.needed ?? [])
  }
  const transactions = launch.transactions.map((bytes) => Buffer.from(bytes).toString('base64'))
  const state = { ...prepared, launch: { ...launch, transactions } }
  return {
    first: await launchStep(context, state, 0),
    state,
    steps: transactions.length,
    tracked_resource: poolTracking(launch.address),
    about: plainText(`${input.name} (${input.symbol}), pool ${launch.address}`),
  }
}

const launchOfPlan = (
  { clock }: Context,
  { launch, createdAt = clock.now(), ...prepared }: SignedLaunchPlan,
): PreparedLaunch => ({
  ...prepared,
  createdAt,
  launch: { ...launch, transactions: launch.transactions.map((text) => Buffer.from(text, 'base64')) },
})

/** Gives transaction `step` of the launch a fresh blockhash and the signatures of the generated keys. */
async function launchStep(context: Context, { launch }: SignedLaunchPlan, step: number): Promise<SigningDraft> {
  const transaction = launch.transactions[step]
  if (transaction === undefined) throw new Error(`the launch of ${launch.address} has no transaction ${step}`)
  const secretKeys = keysOf(launch)
  const signed = await withNewBlockhash(context, Buffer.from(transaction, 'base64'), secretKeys)
  return { ...signed, secretKeys, uncapped: [launch.mint] }
}

/** Returns the keys that the launch generated, 64 bytes each. */
const keysOf = ({ requiredSigners }: Pick<PlannedLaunch, 'requiredSigners'>): Uint8Array[] =>
  Object.values(requiredSigners).flatMap((key) => (key?.length ? [Uint8Array.from(key)] : []))

const poolTracking = (pool: string) => trackingOf('pool', pool, ['pool.live'])

export function answerOf({ config, chain }: Context, launch: PlannedLaunch, pool: PoolCreated['pool']): PoolCreated {
  return {
    pool,
    transactions: launch.transactions.map((transaction) => Buffer.from(transaction).toString('base64')),
    required_signers: launch.requiredSigners,
    relay_tip_account: launch.tipAccount,
    rpc_endpoint: publicRpcUrl(config, chain.cluster, chain.endpoint()?.rpcUrl),
    ...(launch.payer === undefined ? {} : { payer: launch.payer }),
    ...launch.liquidity,
    ...(launch.guarding === undefined ? {} : { guard: guardAnswer(launch.guarding) }),
    tracked_resource: poolTracking(pool.address),
  }
}

async function storeMetadata(
  { storage, dryRun }: Context,
  input: Input<CreatePoolRoute>,
  image: Image & { bytes: Uint8Array },
): Promise<string> {
  const keep = (bytes: Uint8Array, type: string) => (dryRun ? storage.locate(bytes) : storage.put(bytes, type))
  const stored = await keep(image.bytes, image.contentType)
  const json = metadataJson({ ...input, imageUri: stored.uri, imageType: image.contentType })
  return (await keep(json, 'application/json')).uri
}

/** Inserts the pool, writes `pool.created` unless the pool of a chosen mint has one, and returns the record. */
async function insertNewPool(
  context: Context,
  tx: Tx,
  input: Input<CreatePoolRoute>,
  prepared: PreparedLaunch,
): Promise<PoolCreated['pool']> {
  const fresh = newPoolRow(context, input, prepared)
  if (input.base_mint !== undefined) await requireUnsent(context, tx, fresh)
  const row = (await insertPool(tx, fresh)) ?? (await replaceUnsent(tx, fresh))
  const pool = poolRecord(row)
  const about = { resource_type: 'pool', resource_id: row.address, object: pool, origin: row }
  await writeEvent(tx, context.clock, { type: 'pool.created', ...about })
  return pool
}

function newPoolRow(
  { externalUid, metadata, config }: Context,
  input: Input<CreatePoolRoute>,
  { launch: { address, mint, quoteMint = WRAPPED_SOL, config: curveConfig }, uri, genesis, createdAt }: PreparedLaunch,
): NewPool {
  return {
    address,
    type: input.type,
    base_mint: mint,
    quote_mint: quoteMint,
    config: curveConfig,
    creator: input.creator,
    name: input.name,
    symbol: input.symbol,
    metadata_uri: uri,
    status: 'pending',
    preset: input.preset ?? config.values['pools.preset'],
    migrated_to: null,
    dbc_pool: null,
    genesis,
    next_check_at: createdAt + POOL_CHECK_MS,
    crank_signing: null,
    crank_signature: null,
    crank_failures: 0,
    // What the server signs counts as submitted, so that no other launch can take its ticker.
    submitted_at: input.mode === 'signed' ? createdAt : null,
    submitted_signature: null,
    external_uid: externalUid ?? null,
    metadata_json: metadata === undefined ? null : JSON.stringify(metadata),
    created_at: createdAt,
  }
}

/** The row of a launch that is built. */
type NewPool = Omit<Row<'pools'>, 'seq' | 'crank_error' | 'crank_failed_at'>

/**
 * A mint that the caller chose may be launched again until a launch of it is submitted. Throws bad_request if one was
 * and can still land: only one of the two could.
 */
async function requireUnsent(context: Context, tx: Tx, { base_mint, genesis }: NewPool): Promise<void> {
  for (const pool of await launchesOfKeys(tx, [base_mint])) {
    if (pool.genesis !== genesis || !(await isUnderWay(tx, pool, submittedSinceOf(context)))) continue
    throw refusedMint(pool, 'was submitted: wait until it is live or has failed')
  }
}

/**
 * Puts the new build in the place of one that was not submitted: without a config of its own, a mint has the same pool
 * again. Throws bad_request if that is the launch of another creator, or is on chain.
 */
async function replaceUnsent(tx: Tx, fresh: NewPool): Promise<Row<'pools'>> {
  const { address, ...changes } = fresh
  const before = await findPool(tx, address)
  if (before === null) throw new Error('a pool of new keys exists already')
  const isOpen = before.genesis === fresh.genesis && (before.status === 'failed' || before.status === 'pending')
  if (!isOpen) throw refusedMint(before, 'is launched already')
  if (before.status === 'pending' && before.creator !== fresh.creator)
    throw refusedMint(before, `is being launched by ${before.creator}`)
  if (!(await movePool(tx, before, changes))) throw refusedMint(before, 'has changed meanwhile')
  return { ...before, ...fresh }
}

const refusedMint = ({ address, base_mint }: Row<'pools'>, why: string) =>
  badRequest(`base_mint: the pool ${address} of the mint ${base_mint} ${why}, or give the address of a new key`, {
    param: 'base_mint',
    details: { pool_address: address },
  })
