/** When a transaction cannot have its guards: no room, no lamports to lend, no program on the cluster. */
import * as spl from '@solana/spl-token'
import {
  Keypair,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requireGuarded } from '../../src/chain/sending/guard-report.ts'
import { guardedTransaction } from '../../src/chain/sending/guarding.ts'
import { guardMemory } from '../../src/solana/guards.ts'
import { MEMO_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { createMint, give, lamportsOf, type Mint, tokenAccountOf } from '../support/gold.ts'
import { guardsIn } from '../support/guarded-acts.ts'
import { IMAGE, keysIn, landOn, tinyCurveSettings } from '../support/launches.ts'
import { FEE, startPlatform } from '../support/platform-wallet.ts'
import { hasProgram } from '../support/programs.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { runs } from '../support/runs.ts'
import { sharedService, startService } from '../support/service.ts'
import { keyOf } from '../support/squads.ts'
import { addressOf, SOL, signWith, someAddress } from '../support/wallets.ts'

const { lighthouse, dbc, tokenMetadata } = PROGRAMS
const lacking = !hasProgram(lighthouse.id)
const settings = { ...tinyCurveSettings(), 'priority-fee': 'none', 'platform-wallet': someAddress() }
const shared = sharedService({ settings })
/** What a packet has room for. */
const MOST = 1_232

async function scene() {
  const { services, request } = await shared()
  const chain = await services.chain.local()
  const wallet = Keypair.generate()
  chain.airdrop(addressOf(wallet), 100n * SOL)
  return {
    ...{ chain, wallet, request },
    mint(): Mint {
      const mint = createMint(chain, wallet)
      give(chain, wallet, mint, wallet.publicKey, 1_000n)
      return mint
    },
    /** Pays a stranger and burns one unit of each token, with a memo of so many bytes. */
    moving(mints: readonly Mint[], bytes: number): Uint8Array {
      const moves = mints.map((mint) =>
        spl.createBurnInstruction(
          tokenAccountOf(mint, wallet.publicKey),
          mint.mint,
          wallet.publicKey,
          1n,
          [],
          mint.program,
        ),
      )
      const pay = SystemProgram.transfer({
        fromPubkey: wallet.publicKey,
        toPubkey: keyOf(someAddress()),
        lamports: SOL / 100n,
      })
      const memo = new TransactionInstruction({
        programId: keyOf(MEMO_PROGRAM),
        keys: [],
        data: Buffer.alloc(bytes, 97),
      })
      const { blockhash: recentBlockhash } = chain.latestBlockhash()
      const message = new TransactionMessage({
        payerKey: wallet.publicKey,
        recentBlockhash,
        instructions: [pay, ...moves, memo],
      })
      return new VersionedTransaction(message.compileToV0Message()).serialize()
    },
    guard: (transaction: Uint8Array) => guardedTransaction(services.chain, transaction, [addressOf(wallet)]),
    land(transaction: Uint8Array | string, ...others: Keypair[]) {
      const text = typeof transaction === 'string' ? transaction : Buffer.from(transaction).toString('base64')
      chain.advance(1)
      return chain.send(Buffer.from(signWith(text, [wallet, ...others]), 'base64'))
    },
  }
}

describe.skipIf(lacking)('the bytes that guards miss (needs Lighthouse in the program cache)', () => {
  it('are exact: with so much more room all fit, with a byte less they do not', { tags: 'sampled' }, async () => {
    const it = await scene()
    const mints = [it.mint(), it.mint(), it.mint()]
    const states = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 400 }), async (count, spare) => {
        const moved = mints.slice(0, count)
        const bare = it.moving(moved, 200).length - 200
        const bytes = MOST - bare - spare
        const first = await it.guard(it.moving(moved, bytes))
        const { missingBytes: missing, guards, reason } = first.guarding
        states.add(`${reason} ${guards.length === 0 ? 'none' : guards.length <= count ? 'some' : 'all'}`)
        expect(it.land(first.transaction).err).toBeNull()
        if (missing === null) {
          expect(first.transaction.length).toBeLessThanOrEqual(MOST)
          expect(guards).toHaveLength(count + 1)
          return
        }
        const exact = await it.guard(it.moving(moved, bytes - missing))
        expect([exact.transaction.length, exact.guarding.reason]).toEqual([MOST, null])
        expect(it.land(exact.transaction).err).toBeNull()
        const short = await it.guard(it.moving(moved, bytes - missing + 1))
        expect(short.guarding).toMatchObject({ reason: 'no_room', missingBytes: 1 })
      }),
      {
        numRuns: runs(12, 100),
        examples: [
          [0, 0],
          [3, 0],
          [3, 160],
          [3, 400],
        ],
      },
    )
    expect(states.size).toBeGreaterThan(2)
  })

  it('are in the refusal of a request that demands guards, which then names the way out', async () => {
    const it = await scene()
    const texts = { name: 'N'.repeat(20), symbol: 'S'.repeat(10) }
    const ask = (more: object) => {
      const uri = `https://${'u'.repeat(192)}`
      const body = {
        payer: addressOf(it.wallet),
        ...texts,
        uri,
        decimals: 6,
        initial_supply: '5',
        extensions: EXTENSIONS,
        ...more,
      }
      return it.request('POST', '/v2/tokens', { body: { ...body, token_program: 'token2022' } })
    }
    const { status, json } = await ask({ guard: 'required' })
    expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', 'guard'])
    expect(json.error.details).toMatchObject({ reason: 'no_room', missing_bytes: expect.any(Number) })
    expect(json.error.message).toContain(`${json.error.details.missing_bytes} bytes more`)
    const part = (await ask({})).json.data
    expect(part.guard).toMatchObject({ reason: 'no_room', missing_bytes: json.error.details.missing_bytes })
    const mint = Keypair.fromSecretKey(Uint8Array.from(part.required_signers.mint_secret_key))
    expect(it.land(part.transaction, mint).err).toBeNull()
    const larger = await ask({ guard: 'required', tx_version: 1 })
    expect([larger.status, larger.json.data?.guard.state]).toEqual([200, 'whole'])
  })
})

/** They take nearly all of a transaction. */
const EXTENSIONS = {
  transfer_fee: { basis_points: 100 },
  interest_rate: { basis_points: 5 },
  permanent_delegate: someAddress(),
  pausable: true,
  closable: true,
}

describe.skipIf(lacking)('a payer with few lamports (needs Lighthouse in the program cache)', () => {
  it('sends without guards what leaves too little to lend, and says so; it is refused if guards are demanded', async () => {
    const it = await scene()
    const body = { payer: addressOf(it.wallet), recipient: someAddress(), lamports: String(100n * SOL - 1_000_000n) }
    const ask = (guard: string) => it.request('POST', '/v2/sol-transfers', { body: { ...body, guard } })
    const refused = await ask('required')
    expect([refused.status, refused.json.error.details]).toEqual([400, { reason: 'no_lamports' }])
    const { data } = (await ask('when_it_fits')).json
    expect(data.guard).toMatchObject({ state: 'none', reason: 'no_lamports' })
    expect(it.land(data.transaction).err).toBeNull()
  })

  it('needs no guard for what empties it', async () => {
    const it = await scene()
    const body = { payer: addressOf(it.wallet), recipient: someAddress(), lamports: 'all', guard: 'required' }
    const { data } = (await it.request('POST', '/v2/sol-transfers', { body })).json
    expect(data.guard).toMatchObject({ state: 'none', reason: null })
    expect(it.land(data.transaction).err).toBeNull()
  })

  const lacksCurve = [dbc, tokenMetadata].some(({ id }) => !hasProgram(id))

  it.skipIf(lacksCurve)(
    'buys with what it has, and is refused if guards are demanded that it cannot lend',
    async () => {
      const { chain, buyer, swap } = await nearTheEnd()
      // The rent of its two accounts, the fee, and less than is lent.
      chain.airdrop(addressOf(buyer), ALL + 2n * TOKEN_ACCOUNT_RENT + FEE + 300_000n)
      expect((await swap('required')).error).toMatchObject({ param: 'guard', details: { reason: 'fails' } })
      const { tx } = (await swap('when_it_fits')).data
      expect(tx.guard).toMatchObject({ state: 'none', reason: 'fails' })
      landOn(chain, tx.transaction, [buyer])
      expect(lamportsOf(chain, buyer.publicKey)).toBeGreaterThan(SOL)
    },
  )

  it.skipIf(lacksCurve)('lands what lands without guards, however few it has', { tags: 'sampled' }, async () => {
    const { chain, wallet, request, pool, mint: minted } = await nearTheEnd()
    const token = minted()
    const mint = token.mint.toBase58()
    const acts = {
      SOL: [FEE + SOL, '/v2/sol-transfers', () => ({ recipient: someAddress(), lamports: String(SOL) })],
      tokens: [
        FEE + TOKEN_ACCOUNT_RENT,
        '/v2/token-transfers',
        () => ({ mint, recipients: [{ wallet: someAddress(), amount: '1' }] }),
      ],
      buy: [
        FEE + SOL / 100n + 2n * TOKEN_ACCOUNT_RENT,
        `/v2/pools/${pool}/swaps`,
        () => ({ side: 'buy', amount: String(SOL / 100n), slippage_bps: 5_000 }),
      ],
    } as const
    const outcomes = new Set<string>()
    const kinds = fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[]))
    await fc.assert(
      fc.asyncProperty(kinds, fc.bigInt(0n, 2_500_000n), async (kind, spare) => {
        const payer = Keypair.generate()
        const [needed, path, body] = acts[kind]
        chain.airdrop(addressOf(payer), needed + spare)
        if (kind === 'tokens') give(chain, wallet, token, payer.publicKey, 1n)
        const build = async (guard: string) => {
          const { json } = await request('POST', path, { body: { payer: addressOf(payer), ...body(), guard } })
          return json.data === undefined ? undefined : (json.data.tx ?? json.data)
        }
        const [bare, guarded] = [await build('off'), await build('when_it_fits')]
        expect(guarded === undefined).toBe(bare === undefined)
        if (bare === undefined) return
        const run = (text: string) => Buffer.from(signWith(text, [payer]), 'base64')
        if (chain.simulate(run(bare.transaction)).err !== null) return
        const { err, logs } = chain.send(run(guarded.transaction))
        expect(err, `${kind} with ${spare} left: ${logs.join('\n')}`).toBeNull()
        outcomes.add(`${guarded.guard.reason}`)
      }),
      {
        numRuns: runs(25, 200),
        examples: [
          ['buy', 100_000n],
          ['buy', 900_000n],
          ['SOL', 2_000_000n],
        ],
      },
    )
    expect(outcomes.size).toBeGreaterThan(1)
  })
})

/** What fills the tiny curve, and more. */
const ALL = 5n * SOL

/** A curve that takes only a part of what a buyer offers. */
async function nearTheEnd() {
  const at = await scene()
  const { request, chain, wallet } = at
  const texts = { name: 'My Token', symbol: `M${launches++}`, image: IMAGE }
  const launch = (await request('POST', '/v2/pools', { body: { creator: addressOf(wallet), ...texts } })).json.data
  for (const text of launch.transactions) landOn(chain, text, [wallet, ...keysIn(launch.required_signers)])
  const buyer = Keypair.generate()
  const pool = launch.pool.address as string
  const swap = async (guard: string) => {
    const body = { payer: addressOf(buyer), side: 'buy', amount: String(ALL), slippage_bps: 10_000, guard }
    return (await request('POST', `/v2/pools/${pool}/swaps`, { body })).json
  }
  return { ...at, buyer, pool, swap }
}
let launches = 0

describe('a cluster without Lighthouse', () => {
  it('gets builds without guards, which say so, and refuses those that demand them', async () => {
    const service = await startService({ settings: { ...settings, 'programs-dir': '/nonexistent' } })
    const chain = await service.services.chain.local()
    const wallet = Keypair.generate()
    chain.airdrop(addressOf(wallet), SOL)
    const body = { payer: addressOf(wallet), recipient: someAddress(), lamports: '100000000' }
    const ask = (guard?: string) =>
      service.request('POST', '/v2/sol-transfers', { body: { ...body, ...(guard && { guard }) } })
    const { data } = (await ask()).json
    expect(data.guard).toMatchObject({ state: 'none', reason: 'program_missing', wallets: [], token_accounts: [] })
    expect(data.guard.text).toContain(PROGRAMS.lighthouse.id)
    expect(chain.send(Buffer.from(signWith(data.transaction, [wallet]), 'base64')).err).toBeNull()
    const { status, json } = await ask('required')
    expect([status, json.error.code, json.error.param, json.error.details]).toEqual([
      ...[400, 'bad_request', 'guard'],
      { reason: 'program_missing' },
    ])
  })
})

describe.skipIf(lacking)('a transaction that would fail', () => {
  it('has no guards, and the reason says why it fails', async () => {
    const { guard, moving } = await scene()
    const { mint } = await scene()
    const { guarding, transaction } = await guard(moving([mint()], 10))
    expect([guarding.guards, guarding.reason, transaction.length]).toEqual([[], 'not_simulated', expect.any(Number)])
    expect(() => requireGuarded(guarding)).toThrow(/because its simulation fails, .*: SPL Token: InvalidAccountData: /)
  })
})

describe.skipIf([dbc, tokenMetadata, lighthouse].some(({ id }) => !hasProgram(id)))('a launch', () => {
  it.each([0, 1])(
    'says what of it is guarded, and is refused if that is less than demanded, in version %i',
    async (tx_version) => {
      const { request, wallet } = await scene()
      const ask = async (guard: string, symbol: string) => {
        const body = { creator: addressOf(wallet), name: 'My Token', symbol, image: IMAGE, buy_amount: 0.1 }
        return (await request('POST', '/v2/pools', { body: { ...body, guard, tx_version } })).json
      }
      const usual = await ask('when_it_fits', `U${tx_version}`)
      const demanded = await ask('required', `R${tx_version}`)
      if (tx_version === 1) {
        expect([usual, demanded].map(({ data }) => data.guard.state)).toEqual(['whole', 'whole'])
        return
      }
      expect(usual.data.guard).toMatchObject({ state: 'none', reason: 'not_simulated' })
      expect(demanded.error).toMatchObject({ param: 'guard', details: { reason: 'not_simulated' } })
    },
  )
})

describe.skipIf(lacking)('the policy of the platform wallet (needs Lighthouse in the program cache)', () => {
  it.each([
    ['off', 'when_it_fits', 0],
    ['off', 'required', 2],
    ['when_it_fits', 'off', 0],
    ['when_it_fits', 'when_it_fits', 2],
    ['required', 'off', 2],
  ])('%s and a request %s give %i guards', async (guards, guard, count) => {
    const { services, request, wallet } = await startPlatform()
    const chain = await services.chain.local()
    const token = createMint(chain, wallet)
    const mint = token.mint.toBase58()
    give(chain, wallet, token, wallet.publicKey, 10n)
    const tokens = [{ mint, per_transaction: '10', per_day: '10' }]
    await request('PATCH', '/v2/signer/policy', { body: { guards, tokens } })
    const recipients = [{ wallet: someAddress(), amount: '1' }]
    const body = { payer: addressOf(wallet), mint, recipients, guard, mode: 'signed' }
    const { json, text } = await request('POST', '/v2/token-transfers', { body })
    expect(json.error, text).toBeUndefined()
    expect(guardsIn(chain.transaction(json.data.signature)!.raw)).toHaveLength(count)
  })
})

describe.skipIf(lacking)(
  'lamports that somebody sends to the memory of guards (needs Lighthouse in the program cache)',
  () => {
    it.each([0, 1])(
      'between build and landing do not stop it, and go to the payer, in version %i',
      async (tx_version) => {
        const { chain, wallet, request, land } = await scene()
        const memory = guardMemory(addressOf(wallet)).address
        for (const gift of [chain.minimumBalance(0), SOL]) {
          const recipient = someAddress()
          const body = { payer: addressOf(wallet), recipient, lamports: String(SOL), guard: 'required', tx_version }
          const { json, text } = await request('POST', '/v2/sol-transfers', { body })
          expect(json.error, text).toBeUndefined()
          chain.airdrop(memory, gift)
          const before = lamportsOf(chain, wallet.publicKey)
          const { err, logs, fee } = land(json.data.transaction)
          expect(err, logs.join('\n')).toBeNull()
          expect(before - lamportsOf(chain, wallet.publicKey)).toBe(SOL + fee - gift)
          expect(chain.account(memory)).toBeNull()
        }
      },
    )
  },
)
