/** A platform of its own for one scenario: wallets of all parties, the service over the shared embedded chain, and what everybody holds. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { expect } from 'vitest'
import type { Beneficiary, FeeClaimKind } from '../../../src/api/fee-claims.ts'
import { localFetch } from '../../../src/localnet/fetch.ts'
import { createRpc } from '../../../src/localnet/rpc/index.ts'
import { followPools } from '../../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../../src/operations/transactions/follow-transactions.ts'
import { reconcileRecords } from '../../../src/operations/transactions/reconcile-records.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { DBC_POOL_AUTHORITY } from '../../../src/solana/programs.ts'
import { memo, SOL, signed } from '../local-chain.ts'
import { testNode } from '../node.ts'
import { addressOf, type ChainAndNode, openPlatform, RICH, setPolicy } from '../pool-platform.ts'
import type { Answer } from '../request.ts'
import { signWith } from '../wallets.ts'
import { watchAccounts } from './balances.ts'
import { type Amounts, type Party, readCurveState } from './curve-state.ts'
import { appointOperator, TREASURY } from './elsewhere.ts'
import { type BooksScenario, TRADERS } from './scenario.ts'

/** What a party had of the curve's trading fees, as the test itself counted it. */
export interface Tally {
  accrued: Amounts
}

export interface Held extends Amounts {
  lamports: bigint
}

const FUNDS = 2_000n * SOL

interface Operator {
  key: Keypair
  wallet: PublicKey
  account: PublicKey
}

const operators = new WeakMap<ChainAndNode, Operator>()

/** Meteora's operator, appointed once for each chain. */
function operatorOf(base: ChainAndNode): Operator {
  const known = operators.get(base)
  if (known !== undefined) return known
  const key = Keypair.generate()
  base.chain.airdrop(addressOf(key), FUNDS)
  // The treasury is paid lamports that would not be a wallet's rent.
  base.chain.airdrop(TREASURY.toBase58(), SOL)
  const operator = { key, wallet: key.publicKey, account: appointOperator(base.chain, key.publicKey) }
  operators.set(base, operator)
  return operator
}

/** A new mint, of which every wallet has a billion, and the fields by which a preset names it. */
function openQuote(chain: ChainAndNode['chain'], decimals: number, wallets: readonly Keypair[]) {
  const [mint, issuer] = [Keypair.generate(), wallets[0]!]
  const lamports = Number(chain.minimumBalance(spl.MINT_SIZE))
  const [payer, key] = [issuer.publicKey, mint.publicKey]
  const made = {
    fromPubkey: payer,
    newAccountPubkey: key,
    space: spl.MINT_SIZE,
    lamports,
    programId: spl.TOKEN_PROGRAM_ID,
  }
  const instructions = [
    SystemProgram.createAccount(made),
    spl.createInitializeMint2Instruction(key, decimals, payer, null),
  ]
  const paid = wallets.map(({ publicKey: owner }) => {
    const account = spl.getAssociatedTokenAddressSync(key, owner)
    return [
      spl.createAssociatedTokenAccountInstruction(payer, account, owner, key),
      spl.createMintToInstruction(key, account, payer, 10n ** BigInt(decimals + 9)),
    ]
  })
  const send = (all: TransactionInstruction[], signers: Keypair[]) => {
    const { blockhash } = chain.latestBlockhash()
    expect(chain.send(signed(all, signers, { blockhash })).err).toBeNull()
  }
  send(instructions, [issuer, mint])
  for (const each of paid) send(each, [issuer])
  return { quote_mint: key.toBase58(), quote_decimals: decimals }
}

export type World = Awaited<ReturnType<typeof openWorld>>

export async function openWorld(base: ChainAndNode, { preset, quoteDecimals }: BooksScenario) {
  const { chain, clock } = base
  const operator = operatorOf(base)
  const traders = Array.from({ length: TRADERS }, (_, i) => `trader ${i}`)
  const keys = new Map(
    ['partner', 'creator', 'new creator', 'keeper', ...traders].map((name) => [name, Keypair.generate()]),
  )
  const keyOf = (name: string) => keys.get(name)!
  const walletOf = (name: string) => addressOf(keyOf(name))
  const partyOf = new Map([...keys].map(([name, key]) => [addressOf(key), name]))
  partyOf.set(TREASURY.toBase58(), 'protocol').set(addressOf(operator.key), 'operator')
  partyOf.set(DBC_POOL_AUTHORITY, 'curves').set(cpAmm.derivePoolAuthority().toBase58(), 'pools')

  const touched = watchAccounts(chain)
  for (const key of keys.values()) chain.airdrop(addressOf(key), FUNDS)
  const quote = quoteDecimals === null ? {} : openQuote(chain, quoteDecimals, [...keys.values()])
  const file = join(base.folder(), 'presets.json')
  writeFileSync(file, JSON.stringify({ books: { ...preset, ...quote } }))
  const settings = { 'pools.presets': file, 'pools.preset': 'books', 'priority-fee': 'none' }
  /** Transactions that fund the wallets, before there was a service. */
  const landedBefore = touched.landed.length
  const platform = await openPlatform({ ...base, wallet: keyOf('partner') }, { settings })
  const most = String(2n ** 63n)
  const tokens = 'quote_mint' in quote ? [{ mint: quote.quote_mint, per_transaction: most, per_day: most }] : []
  await setPolicy(platform, { ...RICH, tokens })
  const connection = testNode('http://embedded.test', {
    fetch: localFetch(createRpc(chain)) as typeof fetch,
    commitment: 'processed',
  })
  const nothing = (): Tally => ({ accrued: { quote: 0n, base: 0n } })
  const tally: Record<Party, Tally> = { partner: nothing(), creator: nothing(), protocol: nothing() }

  const claimed = new Map<string, Amounts>()
  const past = new Map<FeeClaimKind, Amounts>()
  const world = {
    base,
    chain,
    platform,
    connection,
    operator,
    touched,
    tally,
    landedBefore,
    partyOf,
    keyOf,
    walletOf,
    /** Address of the launch curve, and of the token. */
    curve: '',
    mint: '',
    /** Address of the pool that the curve migrated to; null before. */
    pool: null as string | null,
    /** Whose the role is: it can be handed over, and what was not claimed moves with it. */
    creator: 'creator',
    /** Who was creator when the curve migrated, and so has its positions and what vests. */
    creatorAtMigration: 'creator',
    /** Lamports that the test put into accounts without a transaction. */
    added: 0n,
    /** What of trading fees went to recipients of splits, in raw units of the quote. */
    split: { partner: 0n, creator: 0n },
    /** What a creator has claimed with other clients. */
    paidPast: (kind: FeeClaimKind): Amounts => past.get(kind) ?? { quote: 0n, base: 0n },
    payPast(kind: FeeClaimKind, { quote, base: tokens }: Amounts): void {
      const before = world.paidPast(kind)
      past.set(kind, { quote: before.quote + quote, base: before.base + tokens })
    },
    /** Signatures of what went through the service. */
    submitted: [] as string[],
    /** How often each kind of step did something. */
    done: new Map<string, number>(),
    count(what: string): void {
      world.done.set(what, (world.done.get(what) ?? 0) + 1)
    },
    state: () => readCurveState(chain, world.curve),
    accrue(party: Party, { quote, base: tokens }: Amounts): void {
      tally[party].accrued.quote += quote
      tally[party].accrued.base += tokens
    },
    /** What was claimed, by kind and beneficiary; of a pool creation fee the quote is SOL. */
    paid(kind: FeeClaimKind, as: Beneficiary): Amounts {
      const found = claimed.get(`${kind} ${as}`) ?? { quote: 0n, base: 0n }
      claimed.set(`${kind} ${as}`, found)
      return found
    },
    pay(kind: FeeClaimKind, as: Beneficiary, { quote, base: tokens }: Amounts): void {
      const found = world.paid(kind, as)
      found.quote += quote
      found.base += tokens
    },
    isSol: () => world.state().quoteMint === WRAPPED_SOL,
    /** What wallets have together: all lamports, and raw units of the token and of the quote, where SOL is the lamports. */
    held(wallets: readonly string[]): Held {
      const { quoteMint } = world.state()
      const all = wallets.map((wallet) => touched.holdings(wallet))
      const sum = (of: (held: (typeof all)[number]) => bigint) => all.reduce((total, held) => total + of(held), 0n)
      const lamports = sum((held) => held.lamports)
      return {
        lamports,
        quote: quoteMint === WRAPPED_SOL ? lamports : sum(({ tokens }) => tokens.get(quoteMint) ?? 0n),
        base: sum(({ tokens }) => tokens.get(world.mint) ?? 0n),
      }
    },
    /** Time passes, and the chain's account of the clock knows it. */
    pass(seconds = 1): void {
      clock.advance(seconds * 1_000)
      const { blockhash } = chain.latestBlockhash()
      chain.simulate(signed([memo('now')], [operator.key], { blockhash }))
    },
    ask: (method: string, path: string, body?: object): Promise<Answer> =>
      platform.request(method, path, body === undefined ? {} : { body }),
    async ok(method: string, path: string, body?: object) {
      const { status, json } = await world.ask(method, path, body)
      expect([path, status < 300, json?.error]).toEqual([path, true, undefined])
      return json.data
    },
    /** Signs and submits through the service. Answers the network fee. */
    async submit(transaction: string, signers: Keypair[], tracked_resource?: object): Promise<bigint> {
      const body = { transaction: signWith(transaction, signers), ...(tracked_resource && { tracked_resource }) }
      const { signature } = await world.ok('POST', '/v2/transactions', body)
      return world.landed(signature)
    },
    /** Holds that what the service submitted landed. Answers the network fee. */
    landed(signature: string): bigint {
      const landed = chain.transaction(signature)
      expect([landed?.err ?? null, landed === null ? 'did not land' : ''], landed?.logs?.join('\n')).toEqual([null, ''])
      world.submitted.push(signature)
      return landed!.fee
    },
    /** Lands a transaction past the service. Answers the network fee. */
    send(instructions: TransactionInstruction[], payer: Keypair): bigint {
      const { blockhash } = chain.latestBlockhash()
      const landed = chain.send(signed(instructions, [payer], { blockhash }))
      expect(landed.err, landed.logs?.join('\n')).toBeNull()
      return landed.fee
    },
    /** What the workers do in a round, once. */
    async follow(): Promise<void> {
      world.pass(15)
      await followTransactions(platform.services)
      await followPools(platform.services)
      await reconcileRecords(platform.services)
    },
    async close(): Promise<void> {
      touched.stop()
      await platform.close()
    },
  }
  return world
}
