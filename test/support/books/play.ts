/** Plays a scenario from launch to the last claim, and holds after every step that nothing came from nowhere. */
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect } from 'vitest'
import { BENEFICIARIES_OF } from '../../../src/api/fee-claims.ts'
import { addSurplus } from '../dbc.ts'
import { transfer } from '../local-chain.ts'
import { type ChainAndNode, IMAGE } from '../pool-platform.ts'
import { keypairOf } from '../wallets.ts'
import { SOL_TOKEN } from './balances.ts'
import { claim, claimForProtocol, handOver, positionsDue } from './claims.ts'
import { PARTIES } from './curve-state.ts'
import { holdEarnings } from './earnings.ts'
import { holdLedger } from './ledger.ts'
import { type BooksScenario, type BooksStep, stepText, TRADERS } from './scenario.ts'
import { trade } from './trades.ts'
import { openWorld, type World } from './world.ts'

export interface PlayOptions {
  /** Called after the launch and after each step. */
  after?: (world: World) => Promise<void> | void
  /** Called when everybody has claimed everything. */
  atEnd?: (world: World) => Promise<void> | void
}

const SOL_DECIMALS = 9
/** Vested is everything after this. */
const LONG_SECONDS = 400 * 86_400

/** Throws as soon as an amount is off by a unit, and says at which step. */
export async function playBooks(
  base: ChainAndNode,
  scenario: BooksScenario,
  { after = () => {}, atEnd = () => {} }: PlayOptions = {},
): Promise<void> {
  const world = await openWorld(base, scenario)
  const step = async (name: string, act: () => Promise<void> | void, then = after) => {
    try {
      world.pass()
      await act()
      holdBalance(world)
      await holdEarnings(world)
      await then(world)
    } catch (error) {
      if (error instanceof Error && !fc.PreconditionFailure.isFailure(error))
        error.message = `${name}: ${error.message}`
      throw error
    }
  }
  const takeAll = async (steps: readonly BooksStep[]) => {
    for (const each of steps) await step(stepText(each), () => take(world, each))
  }
  try {
    await step('the launch', () => launch(world, scenario))
    await takeAll(scenario.onCurve)
    await step('the end of the curve', () => fill(world, scenario))
    await takeAll(scenario.whileFull)
    await step('the migration', () => migrate(world))
    await takeAll(scenario.migrated)
    await step('the claims of everything', () => claimEverything(world))
    await step('the ledger', () => holdLedger(world), atEnd)
  } finally {
    await world.close()
  }
}

async function launch(world: World, { firstBuy, quoteDecimals }: BooksScenario): Promise<void> {
  const { status, json } = await world.ask('GET', '/v2/pool-presets')
  // Some presets are beyond the program's rules, and refused by the field.
  fc.pre(status !== 500 || !json.error.message.startsWith('pools.presets: books: '))
  expect([status, json.error]).toEqual([200, undefined])
  const { migration_threshold } = json.data.find(({ name }: { name: string }) => name === 'books')
  const spent = (BigInt(migration_threshold) * BigInt(firstBuy)) / 1_000n
  const { pool, transactions, required_signers, tracked_resource } = await world.ok('POST', '/v2/pools', {
    creator: world.walletOf('creator'),
    name: 'A token',
    symbol: 'BOOKS',
    image: IMAGE,
    buy_amount: Number(spent) / 10 ** (quoteDecimals ?? SOL_DECIMALS),
  })
  const secrets = [required_signers.base_mint_secret_key, required_signers.config_secret_key]
  const signers = [world.keyOf('creator'), ...secrets.map(keypairOf)]
  for (const text of transactions) await world.submit(text, signers, tracked_resource)
  Object.assign(world, { curve: pool.address, mint: pool.base_mint })
  const { fees, vaults, reserve, feeClaimer } = world.state()
  for (const party of PARTIES) world.accrue(party, fees[party])
  const all = PARTIES.reduce((sum, party) => sum + fees[party].quote, 0n)
  expect(vaults.quote - reserve, 'fees of the first buy').toBe(all)
  expect(feeClaimer).toBe(world.walletOf('partner'))
  await world.follow()
}

async function take(world: World, step: BooksStep): Promise<void> {
  switch (step.act) {
    case 'buy':
      return trade(world, `trader ${step.trader}`, 'buy', (world.state().threshold * BigInt(step.permille)) / 1_000n)
    case 'sell': {
      const trader = `trader ${step.trader}`
      return trade(world, trader, 'sell', (world.held([world.walletOf(trader)]).base * BigInt(step.percent)) / 100n)
    }
    case 'claim':
      return claim(world, step)
    case 'protocol':
      return claimForProtocol(world)
    case 'hand over':
      return handOver(world)
    case 'wait':
      return world.pass(step.seconds)
  }
}

async function fill(world: World, { surplus }: BooksScenario): Promise<void> {
  const { threshold } = world.state()
  for (let i = 0; i < TRADERS && !world.state().isFull; i++) {
    world.pass()
    await trade(world, `trader ${i}`, 'buy', threshold * 4n)
  }
  const { address, isFull, reserve, vaultAddresses } = world.state()
  expect(isFull).toBe(true)
  if (surplus === 0 || !world.isSol()) return
  world.added = BigInt(surplus)
  addSurplus(world, { address, quoteVault: vaultAddresses.quote, quoteReserve: reserve }, world.added)
  // A node shows what a transaction has written: the account of the pool as it was put there.
  const { key } = world.operator
  world.send(
    [address, vaultAddresses.quote].map((each) => transfer(key, new PublicKey(each), 0)),
    key,
  )
}

/** By the crank. */
async function migrate(world: World): Promise<void> {
  for (let i = 0; i < 12 && !world.state().isMigrated; i++) await world.follow()
  await world.follow()
  const pools = await world.ok('GET', '/v2/pools?type=damm_v2')
  expect([world.state().isMigrated, pools.length]).toEqual([true, 1])
  world.pool = pools[0].address
}

async function claimEverything(world: World): Promise<void> {
  world.pass(LONG_SECONDS)
  const kinds = ['vesting', 'surplus', 'migration_fee', 'pool_creation_fee', 'dbc', 'damm_v2', 'leftover'] as const
  for (const kind of kinds) {
    for (const as of BENEFICIARIES_OF[kind]) {
      world.pass()
      await claim(world, { act: 'claim', kind, as, how: 'unsigned', split: null })
    }
  }
  world.pass()
  claimForProtocol(world)
  expect(world.state().spare, 'lamports beside the rent of the curve').toBe(0n)
  expect(world.state().vaults, 'what is left in the vaults').toEqual({ quote: 0n, base: 0n })
  for (const owner of ['partner', 'creator', 'new creator']) {
    expect(await positionsDue(world, owner)).toEqual({ quote: 0n, base: 0n })
  }
}

/** All accounts and the network's fees sum to zero in SOL, and in every other token to what was minted. */
function holdBalance({ touched, partyOf, chain, added }: World): void {
  const sums = touched.changes((wallet) => partyOf.get(wallet) ?? null)
  for (const [token, parties] of sums) {
    const sum = [...parties.values()].reduce((all, each) => all + each, 0n)
    const minted = token === SOL_TOKEN ? added : Buffer.from(chain.account(token)!.data).readBigUInt64LE(36)
    const parts = [...parties].map(([party, change]) => `${party} ${change}`)
    expect(sum, `${token}: ${parts.join(', ')}`).toBe(minted)
  }
}
