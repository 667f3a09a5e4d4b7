/** Plays a curve from its launch to the vesting after its migration, and a curve of Token-2022. */
import type { FeeClaimKind } from '../../src/api/fee-claims.ts'
import type { Act } from '../../src/chain/program-cache/canary-report.ts'
import { tokenAccountAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { DBC } from '../../src/solana/programs/dbc.ts'
import type { FreshKey } from '../../src/solana/signatures.ts'
import { TOKEN_AMOUNT_OFFSET } from '../../src/solana/token-accounts.ts'
import { PRESETS, SOL, type Stage } from './stage.ts'

/** The smallest PNG: one transparent pixel. */
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const VESTING_SECONDS = 2_000
/** A curve with vested tokens takes two transactions. */
const MAX_MIGRATION_STEPS = 3

export async function playPool(stage: Stage): Promise<void> {
  const { act, client, chain, land } = stage
  const [creator, trader, next] = [stage.wallet(), stage.wallet(), stage.wallet()]
  let [pool, mint, market, other] = ['', '', '', '']
  const trade = (address: string, side: 'buy' | 'sell', amount: bigint) =>
    swap(stage, trader, { address, side, amount })
  const sellTenth = async (address: string) => trade(address, 'sell', (await heldBy(stage, mint, trader)) / 10n)
  const claims = (name: Act, needs: readonly Act[], kind: FeeClaimKind, beneficiary: 'partner' | 'creator') =>
    act(name, needs, () => {
      const payer = beneficiary === 'partner' ? stage.platform : creator
      return claim(stage, payer, { address: pool, kind, beneficiary })
    })

  await act('launch', [], async () => {
    const launched = await launch(stage, creator, { symbol: 'CANARY', buy_amount: 0.05 })
    ;[pool, mint] = [launched.address, launched.base_mint]
  })
  await act('buy', ['launch'], () => trade(pool, 'buy', SOL / 2n))
  await act('sell', ['launch', 'buy'], () => sellTenth(pool))
  await claims('partner claims trading fees', ['launch', 'buy'], 'dbc', 'partner')
  await claims('creator claims trading fees', ['launch', 'buy'], 'dbc', 'creator')
  await act('fill', ['launch', 'buy'], () => trade(pool, 'buy', 20n * SOL))
  await act('migrate', ['launch', 'fill'], async () => {
    market = await migrate(stage, trader, pool)
  })
  await act('trade after the migration', ['migrate'], async () => {
    await trade(market, 'buy', SOL / 10n)
    await sellTenth(market)
  })
  await act('partner claims surplus', ['migrate'], () => {
    overfill(stage, pool)
    return claim(stage, stage.platform, { address: pool, kind: 'surplus', beneficiary: 'partner' })
  })
  await claims('creator claims surplus', ['migrate'], 'surplus', 'creator')
  await claims('partner claims migration fee', ['fill'], 'migration_fee', 'partner')
  await claims('creator claims migration fee', ['fill'], 'migration_fee', 'creator')
  await claims('partner claims leftover', ['migrate'], 'leftover', 'partner')
  await claims('partner claims pool creation fee', ['launch'], 'pool_creation_fee', 'partner')
  await claims('partner claims fees of positions', ['trade after the migration'], 'damm_v2', 'partner')
  await claims('creator claims fees of positions', ['trade after the migration'], 'damm_v2', 'creator')
  chain.advance(VESTING_SECONDS)
  await claims('creator claims vested tokens', ['migrate'], 'vesting', 'creator')
  await act('launch with Token-2022', [], async () => {
    other = (await launch(stage, creator, { symbol: 'CANARY22', preset: PRESETS.token2022 })).address
  })
  await act('give away the role of creator', ['launch with Token-2022'], async () => {
    const terms = { address: other, payer: creator.address, new_creator: next.address }
    land((await client.pools.transferCreator(terms)).data.tx.transaction, creator)
  })
}

export async function launch(
  { client, land }: Stage,
  creator: FreshKey,
  terms: { symbol: string; [term: string]: unknown },
) {
  const { data } = await client.pools.create({ creator: creator.address, name: 'Canary', image: IMAGE, ...terms })
  const keys = Object.values(data.required_signers).flatMap((bytes) =>
    bytes?.length ? [{ secretKey: Uint8Array.from(bytes) }] : [],
  )
  for (const transaction of data.transactions) land(transaction, creator, ...keys)
  return data.pool
}

export async function swap(
  { client, land }: Stage,
  trader: FreshKey,
  { amount, ...order }: { address: string; side: 'buy' | 'sell'; amount: bigint },
): Promise<void> {
  const { data } = await client.pools.swap({ ...order, payer: trader.address, amount: String(amount) })
  land(data.tx.transaction, trader)
}

/** Returns the raw units that a wallet has of a mint. */
async function heldBy({ chain }: Stage, mint: string, { address }: FreshKey): Promise<bigint> {
  const account = chain.account(tokenAccountAddress(mint, address))
  return account === null ? 0n : Buffer.from(account.data).readBigUInt64LE(TOKEN_AMOUNT_OFFSET)
}

async function claim(
  { client, landBuilt }: Stage,
  payer: FreshKey,
  terms: { address: string; kind: FeeClaimKind; beneficiary: 'partner' | 'creator' },
): Promise<void> {
  const { data } = await client.feeClaims.create({ ...terms, payer: payer.address })
  landBuilt(data.tx, payer)
}

/** Returns the address of the pool that the curve becomes. */
async function migrate({ client, land }: Stage, payer: FreshKey, address: string): Promise<string> {
  for (let steps = 0; steps < MAX_MIGRATION_STEPS; steps++) {
    const { data } = await client.pools.migrate({ address, payer: payer.address })
    land(data.tx.transaction, payer)
    if (data.step === 'migrate') return data.damm_pool_address
  }
  throw new Error(`the curve is not migrated after ${MAX_MIGRATION_STEPS} transactions`)
}

/** Puts a SOL above its threshold into a full curve. No trade does so with the presets of svc. */
function overfill({ chain, setAccount }: Stage, pool: string): void {
  const state = chain.account(pool)
  if (state === null) throw new Error(`the curve ${pool} is gone`)
  const vault = DBC.decode('virtual_pool', state)?.quote_vault
  const tokens = vault === undefined ? null : chain.account(vault)
  if (vault === undefined || tokens === null) throw new Error('the account of the curve names no vault where it did')
  setAccount(pool, { ...state, data: increased(state.data, DBC.offsetOf('virtual_pool', 'quote_reserve')) })
  const data = increased(tokens.data, TOKEN_AMOUNT_OFFSET)
  setAccount(vault, { ...tokens, data, lamports: tokens.lamports + SOL })
}

function increased(account: Uint8Array, offset: number): Buffer {
  const data = Buffer.from(account)
  data.writeBigUInt64LE(data.readBigUInt64LE(offset) + SOL, offset)
  return data
}
