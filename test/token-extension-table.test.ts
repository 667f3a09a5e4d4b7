/**
 * The table of docs/token-extensions.md: what each part does with a token of each extension, on the real programs. A
 * cell that begins with yes lands; one that begins with no is refused here, and by the program too. A gold lock takes
 * less than the program does.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import BN from 'bn.js'
import { afterAll, describe, expect, it } from 'vitest'
import { buildDammV2Swap, readDammV2Pool } from '../src/chain/programs/damm-v2/index.ts'
import { buildCurve, buildDbcLaunch, dbcPoolAddress, requireQuoteMint } from '../src/chain/programs/dbc/index.ts'
import { buildCreation } from '../src/chain/programs/merkle-distributor/index.ts'
import { MEMO_PROGRAM } from '../src/solana/program-ids.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { flatFee, strangersClient } from './support/damm-v2.ts'
import { addressOf, launchOf, presetWith } from './support/dbc.ts'
import { buildLock } from './support/lock-builds.ts'
import { hasProgram } from './support/programs.ts'
import { oneIn } from './support/runs.ts'
import { type Service, sharedService } from './support/service.ts'
import { keypairOf, signWith, walletOn } from './support/wallets.ts'

const DELEGATE = Keypair.generate().publicKey.toBase58()
const HOUR = 3_600
const TOKENS = {
  'metadata alone': {},
  'transfer fee': { transfer_fee: { basis_points: 100 } },
  'interest rate': { interest_rate: { basis_points: 500 } },
  'scaled amount': { scaled_amount: { multiplier: '1.5' } },
  'non-transferable': { non_transferable: true },
  'default frozen': { default_frozen: true },
  'permanent delegate': { permanent_delegate: DELEGATE },
  pausable: { pausable: true },
  'pausable, paused': { pausable: true },
  'transfer hook': { transfer_hook: { program: MEMO_PROGRAM } },
  closable: { closable: true },
} as const
type Row = keyof typeof TOKENS
const ROWS = Object.keys(TOKENS) as Row[]

/** Cells of the table by row and column. */
function documented(): Map<string, Map<string, string>> {
  const page = readFileSync(join(import.meta.dirname, '../docs/token-extensions.md'), 'utf8')
  const lines = page.slice(page.indexOf('## What other parts do')).split('\n')
  const rows = lines
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  const [head = [], , ...body] = rows
  return new Map(
    body.map(([name = '', ...cells]) => [name, new Map(cells.map((cell, i) => [head[i + 1] ?? '', cell]))]),
  )
}

const shared = sharedService({ settings: { 'priority-fee': 'none' } })
type Chain = Awaited<ReturnType<Service['services']['chain']['local']>>
interface World {
  service: Service
  chain: Chain
  payer: Keypair
  mints: Map<Row, string>
  pools: Map<string, Promise<string | null>>
}
let opened: Promise<World> | undefined
const world = () => (opened ??= open())
afterAll(() => {
  opened = undefined
})

async function open(): Promise<World> {
  const service = await shared()
  const { chain, wallet: payer } = await walletOn(service.services, 1_000_000_000_000n)
  const mints = new Map<Row, string>()
  const it = { service, chain, payer, mints, pools: new Map() }
  for (const row of ROWS) {
    const body = {
      payer: addressOf(payer),
      name: 'Table',
      symbol: 'TBL',
      uri: 'https://example.com/t.json',
      initial_supply: '1000000000000000',
      token_program: 'token2022',
      revoke_freeze_authority: row !== 'default frozen',
      extensions: TOKENS[row],
    }
    const { json } = await service.request('POST', '/v2/tokens', { body })
    const key = keypairOf(json.data.required_signers.mint_secret_key)
    expect(landed(it, json.data.transaction, payer, key)).toBeNull()
    mints.set(row, json.data.mint)
    if (row === 'pausable, paused') {
      expect(
        sent(it, [spl.createPauseInstruction(key.publicKey, payer.publicKey, [], spl.TOKEN_2022_PROGRAM_ID)]),
      ).toBeNull()
    }
  }
  return it
}

/** What a transaction in base64 failed with, or null. */
function landed({ chain }: Pick<World, 'chain'>, transaction: string, ...keys: Keypair[]): unknown {
  return outcome(chain, Buffer.from(signWith(transaction, keys), 'base64'))
}

function sent({ chain, payer }: World, instructions: TransactionInstruction[], ...keys: Keypair[]): unknown {
  const transaction = new Transaction({
    feePayer: payer.publicKey,
    recentBlockhash: chain.latestBlockhash().blockhash,
  }).add(...instructions)
  transaction.sign(payer, ...keys)
  return outcome(chain, transaction.serialize())
}

function outcome(chain: Chain, signed: Uint8Array): unknown {
  const err = chain.simulate(signed).err ?? chain.send(signed).err
  // The same act is built again with another blockhash.
  chain.advance(1)
  return err
}

const accountOf = (mint: string, owner: PublicKey) =>
  spl.getAssociatedTokenAddressSync(new PublicKey(mint), owner, true, spl.TOKEN_2022_PROGRAM_ID)
const amountIn = ({ chain }: World, account: PublicKey) => {
  const data = chain.account(account.toBase58())?.data
  return data === undefined ? 0n : Buffer.from(data).readBigUInt64LE(64)
}

interface Part {
  needs: readonly string[]
  /** Whether the whole way is gone; the whole cell if only a part of it is. */
  works(it: World, mint: string): Promise<boolean | string>
  /** The same without the checks of the service; nothing if the service has none. */
  program?(it: World, mint: string): Promise<boolean>
}

const PARTS: Record<string, Part> = {
  'lists by transfers': {
    needs: [],
    async works(it, mint) {
      const friend = Keypair.generate().publicKey
      const body = {
        payer: addressOf(it.payer),
        mint,
        recipients: [{ wallet: friend.toBase58(), amount: '1000' }],
        accept_transfer_fee: true,
      }
      const { status, json } = await it.service.request('POST', '/v2/token-transfers', { body })
      if (status !== 200 || json.data.transaction === undefined) return false
      expect(landed(it, json.data.transaction, it.payer)).toBeNull()
      return amountIn(it, accountOf(mint, friend)) > 0n
    },
    async program(it, mint) {
      const [friend, token] = [Keypair.generate().publicKey, new PublicKey(mint)]
      const [from, to] = [accountOf(mint, it.payer.publicKey), accountOf(mint, friend)]
      const { publicKey: owner } = it.payer
      return (
        sent(it, [
          spl.createAssociatedTokenAccountInstruction(owner, to, friend, token, spl.TOKEN_2022_PROGRAM_ID),
          spl.createTransferCheckedInstruction(from, token, to, owner, 1_000n, 6, [], spl.TOKEN_2022_PROGRAM_ID),
        ]) === null
      )
    },
  },
  'airdrops with claims': {
    needs: [PROGRAMS.distributor.id],
    async works(it, mint) {
      const body = {
        payer: addressOf(it.payer),
        mint,
        airdrop_count: 0,
        merkle_root: 'ab'.repeat(32),
        fund_amount: '1000',
      }
      const { status, json } = await it.service.request('POST', '/v2/airdrops', { body })
      return status === 200 && landed(it, json.data.transaction, it.payer) === null
    },
    async program(it, mint) {
      const now = BigInt(it.chain.unixTimestamp())
      const { transaction } = await buildCreation({
        payer: addressOf(it.payer),
        recentBlockhash: it.chain.latestBlockhash().blockhash,
        mint,
        airdropCount: 0,
        root: 'ab'.repeat(32),
        maxTotal: 1_000n,
        maxNodes: 1n,
        startsAt: now + 1_000n,
        endsAt: now + 2_000n,
        clawbackAt: now + 200_000n,
        decimals: 6,
        deposit: 1_000n,
        opensReceiver: false,
      })
      return landed(it, Buffer.from(transaction).toString('base64'), it.payer) === null
    },
  },
  locks: {
    needs: [PROGRAMS.lock.id],
    async works(it, mint) {
      const recipient = Keypair.generate()
      it.chain.airdrop(addressOf(recipient), 1_000_000_000n)
      const now = it.chain.unixTimestamp()
      const starts_at = new Date((now + 60) * 1000).toISOString()
      const body = { payer: addressOf(it.payer), mint, recipient: addressOf(recipient), amount: '1000', starts_at }
      const { status, json } = await it.service.request('POST', '/v2/locks', { body })
      if (status !== 200) {
        expect([status, json.error.param]).toEqual([400, 'mint'])
        return false
      }
      expect(landed(it, json.data.transaction, it.payer)).toBeNull()
      it.chain.advance(HOUR)
      const claims = `/v2/locks/${json.data.address}/claims`
      const claim = await it.service.request('POST', claims, { body: { payer: addressOf(recipient) } })
      if (claim.status !== 200) return false
      expect(landed(it, claim.json.data.transaction, recipient)).toBeNull()
      return amountIn(it, accountOf(mint, recipient.publicKey)) > 0n
    },
    async program(it, mint) {
      const base = Keypair.generate()
      const starts = BigInt(it.chain.unixTimestamp() + 60)
      const { transaction } = await buildLock({
        payer: addressOf(it.payer),
        recentBlockhash: it.chain.latestBlockhash().blockhash,
        base: addressOf(base),
        recipient: DELEGATE,
        mint,
        tokenProgram: 'token2022',
        texts: undefined,
        terms: {
          ...{ startTime: starts, cliffTime: starts, frequency: 1n, cliffAmount: 1_000n, amountPerPeriod: 0n },
          ...{ periods: 0n, updateRecipientMode: 0, cancelMode: 0 },
        },
      })
      return landed(it, Buffer.from(transaction).toString('base64'), it.payer, base) === null
    },
  },
  'gold locks': {
    needs: [PROGRAMS.lock.id],
    async works(it, mint) {
      const { values } = it.service.services.config
      Object.assign(values, { 'gold.mint': mint })
      const user = addressOf(it.payer)
      const body = { user, platform_id: 'table', amount: '1000', lock_duration_days: 1 }
      const { status, json } = await it.service.request('POST', '/v2/gold-locks', { body })
      if (status !== 200) {
        expect(json.error.message).toContain('gold.mint')
        return false
      }
      expect(landed(it, json.data.transaction, it.payer)).toBeNull()
      it.chain.advance(25 * HOUR)
      const unlock = await it.service.request('DELETE', `/v2/gold-locks/${user}`, { body: { platform_id: 'table' } })
      return unlock.status === 200 && landed(it, unlock.json.data.transaction, it.payer) === null
    },
  },
  'quote of a launch': {
    needs: [PROGRAMS.dbc.id, PROGRAMS.tokenMetadata.id],
    async works(it, mint) {
      const curve = await buildCurve(presetWith({ quote_mint: mint, quote_decimals: 6 }))
      try {
        await requireQuoteMint(it.service.services.chain, curve)
      } catch (error) {
        expect(error).toMatchObject({ code: 'bad_request', param: 'preset' })
        return false
      }
      return (await launches(it, mint)) !== null
    },
    program: async (it, mint) => (await launches(it, mint)) !== null,
  },
  'DAMM v2 pools': {
    needs: [PROGRAMS.dammV2.id],
    works: async (it, mint) => (await trades(it, mint)) !== null,
  },
  'fee claims and splits': {
    needs: [PROGRAMS.dbc.id, PROGRAMS.dammV2.id, PROGRAMS.tokenMetadata.id],
    async works(it, mint) {
      const [claims, splits] = [await claimsOfPool(it, mint), await splitsOfLaunch(it, mint)]
      return claims && !splits ? 'yes, less the fee; no splits' : claims && splits
    },
  },
}

/** Whether a position is paid the fees that its pool takes in the token. */
async function claimsOfPool(it: World, mint: string): Promise<boolean> {
  const pool = await trades(it, mint)
  if (pool === null) return false
  const payer = addressOf(it.payer)
  const body = { payer, owner: payer, kind: 'damm_v2', beneficiary: 'creator' }
  const { status, json } = await it.service.request('POST', `/v2/pools/${pool}/fee-claims`, { body })
  expect(status, JSON.stringify(json)).toBe(200)
  expect(Number(json.data.estimated_base)).toBeGreaterThan(0)
  const before = amountIn(it, accountOf(mint, it.payer.publicKey))
  return (
    landed(it, json.data.tx.transaction, it.payer) === null &&
    amountIn(it, accountOf(mint, it.payer.publicKey)) > before
  )
}

/** Whether the fees of a launch in this quote are claimed and split to two wallets, to the unit. */
async function splitsOfLaunch(it: World, mint: string): Promise<boolean> {
  const pool = await launches(it, mint)
  if (pool === null) return false
  const wallets = [Keypair.generate(), Keypair.generate()]
  const splits = wallets.map((wallet, i) => ({ recipient: addressOf(wallet), bps: i === 0 ? 6_000 : 4_000 }))
  const body = { payer: addressOf(it.payer), splits }
  const { status, json } = await it.service.request('POST', `/v2/pools/${pool}/fee-claims`, { body })
  expect(status, JSON.stringify(json)).toBe(200)
  expect(landed(it, json.data.tx.transaction, it.payer)).toBeNull()
  const paid = wallets.map(({ publicKey }) => amountIn(it, accountOf(mint, publicKey)))
  expect(String(paid[0]! + paid[1]!)).toBe(json.data.estimated_quote)
  return paid.every((amount) => amount > 0n)
}

/** The curve that opens in this quote, and whose first buy is paid in it; null if the program refuses it. */
async function launches(it: World, quoteMint: string): Promise<string | null> {
  const curve = await buildCurve(presetWith({ quote_mint: quoteMint, quote_decimals: 6 }))
  const [mint, config] = [Keypair.generate(), Keypair.generate()]
  const launch = await launchOf(it.chain.latestBlockhash().blockhash, {
    creator: addressOf(it.payer),
    feeClaimer: addressOf(it.payer),
    mint: addressOf(mint),
    config: addressOf(config),
    curve,
    quoteProgram: 'token2022',
    buyLamports: 1_000_000n,
  })
  for (const { transaction } of await buildDbcLaunch(launch)) {
    if (landed(it, Buffer.from(transaction).toString('base64'), it.payer, mint, config) !== null) return null
  }
  return dbcPoolAddress({ ...launch, quoteMint })
}

/** The one pool of the token and SOL, in which somebody buys; null if the program refuses it. */
function trades(it: World, mint: string): Promise<string | null> {
  const opened = it.pools.get(mint) ?? openPool(it, mint)
  it.pools.set(mint, opened)
  return opened
}

async function openPool(it: World, mint: string): Promise<string | null> {
  const [positionNft, { publicKey: payer }] = [Keypair.generate(), it.payer]
  const client = strangersClient()
  const initSqrtPrice = cpAmm.getSqrtPriceFromPrice('0.00001', 6, 9)
  const tokenAAmount = new BN(10_000_000)
  const prices = { minSqrtPrice: initSqrtPrice, maxSqrtPrice: cpAmm.MAX_SQRT_PRICE, initSqrtPrice }
  const collectFeeMode = cpAmm.CollectFeeMode.BothToken
  const account = it.chain.account(mint)!
  const info = {
    data: Buffer.from(account.data),
    owner: spl.TOKEN_2022_PROGRAM_ID,
    executable: false,
    lamports: Number(account.lamports),
  }
  const unpacked = spl.unpackMint(new PublicKey(mint), info, spl.TOKEN_2022_PROGRAM_ID)
  const liquidityDelta = client.preparePoolCreationSingleSide({
    tokenAAmount,
    ...prices,
    collectFeeMode,
    tokenAInfo: { mint: unpacked, currentEpoch: 0 },
  })
  const opening = await client.createCustomPool({
    payer,
    creator: payer,
    positionNft: positionNft.publicKey,
    tokenAMint: new PublicKey(mint),
    tokenBMint: spl.NATIVE_MINT,
    tokenAAmount,
    tokenBAmount: new BN(0),
    sqrtMinPrice: initSqrtPrice,
    sqrtMaxPrice: cpAmm.MAX_SQRT_PRICE,
    liquidityDelta,
    initSqrtPrice,
    poolFees: { baseFee: flatFee(100), compoundingFeeBps: 0, padding: 0, dynamicFee: null },
    hasAlphaVault: false,
    activationType: cpAmm.ActivationType.Timestamp,
    collectFeeMode,
    activationPoint: null,
    tokenAProgram: spl.TOKEN_2022_PROGRAM_ID,
    tokenBProgram: spl.TOKEN_PROGRAM_ID,
  })
  if (sent(it, opening.tx.instructions, positionNft) !== null) return null
  const before = amountIn(it, accountOf(mint, payer))
  const pool = await readDammV2Pool(it.service.services.chain, opening.pool.toBase58())
  expect(pool).not.toBeNull()
  const { transaction } = await buildDammV2Swap({
    payer: addressOf(it.payer),
    recentBlockhash: it.chain.latestBlockhash().blockhash,
    pool: pool!,
    side: 'buy',
    amount: 10_000n,
    minimumOut: 0n,
  })
  const err = landed(it, Buffer.from(transaction).toString('base64'), it.payer)
  return err === null && amountIn(it, accountOf(mint, payer)) > before ? opening.pool.toBase58() : null
}

describe('the table of extensions', () => {
  it('has a row for each extension, and a column for each part', () => {
    const table = documented()
    expect([...table.keys()]).toEqual(ROWS)
    for (const row of table.values()) expect([...row.keys()]).toEqual(Object.keys(PARTS))
  })

  for (const [part, { needs, works, program }] of Object.entries(PARTS)) {
    const isLacking = needs.some((id) => !hasProgram(id))
    it.skipIf(isLacking).each(oneIn(3, ROWS))(
      `says what ${part} do with a token with: %s`,
      { tags: 'sampled' },
      async (row) => {
        const it = await world()
        const mint = it.mints.get(row)!
        const doesWork = await works(it, mint)
        const cell = documented().get(row)?.get(part) ?? ''
        const said = typeof doesWork === 'string' ? cell : cell.replace(/,.*/, '')
        const found = [
          typeof doesWork === 'string' ? doesWork : doesWork ? 'yes' : 'no',
          program && !doesWork ? ((await program(it, mint)) ? 'taken' : 'refused') : '',
        ]
        expect(found).toEqual([said, program && said === 'no' ? 'refused' : ''])
      },
    )
  }
})
