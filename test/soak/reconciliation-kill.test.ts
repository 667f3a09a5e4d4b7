/** Strangers act on a chain of its own while the daemon is up, down and killed: each act is told of, once. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addPlugin, burn, create, updatePlugin } from '@metaplex-foundation/mpl-core'
import { DynamicBondingCurveClient } from '@meteora-ag/dynamic-bonding-curve-sdk'
import * as spl from '@solana/spl-token'
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js'
import BN from 'bn.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { buildGoldLock } from '../../src/chain/programs/jupiter-lock/index.ts'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { cosignedBy } from '../../src/chain/sending/cosign.ts'
import { pause } from '../../src/platform/timing.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { addressOf, lacksCore } from '../support/assets.ts'
import { startChain } from '../support/chain-process.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { signed } from '../support/local-chain.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { randomOf } from '../support/random.ts'

const KILLS = 12
const SEED = 20_261_123
/** What each asset goes through, and the events that tell of it. */
const TOLD = ['nft.burned', 'nft.created', 'nft.staked', 'nft.unstaked', 'stake.acquired', 'stake.released']

/** A chain in a process of its own, a daemon that comes and goes, and a wallet with SOL. */
async function open(env: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'svc-recon-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const [chainDir, dataDir] = [join(home, 'chain'), join(home, 'daemon')]
  for (const folder of [chainDir, dataDir]) mkdirSync(folder)
  // The chain looks for programs below its home.
  mkdirSync(join(chainDir, '.cache', 'svc'), { recursive: true })
  symlinkSync(PROGRAMS_DIR, join(chainDir, '.cache', 'svc', 'programs'))
  const chain = await startChain(chainDir)
  onTestFinished(() => chain.stop())
  const flags = ['--url', chain.url]
  let daemon = await startDaemon({ dataDir, flags, env })
  onTestFinished(() => daemon.stop())
  const random = randomOf(SEED)

  const connection = new Connection(chain.url, 'confirmed')
  const user = Keypair.generate()
  await connection.requestAirdrop(user.publicKey, 100_000_000_000)
  return {
    random,
    connection,
    user,
    request: ((...request) => daemon.request(...request)) as Daemon['request'],
    kill: () => daemon.stop('SIGKILL'),
    async start() {
      daemon = await startDaemon({ dataDir, flags, env })
    },
    async send(made: TransactionInstruction[], ...signers: Keypair[]): Promise<string> {
      const { blockhash } = await connection.getLatestBlockhash()
      return connection.sendRawTransaction(signed(made, [user, ...signers], { blockhash }))
    },
    /** Signs what the daemon built. */
    signedBuild(transaction: string, ...signers: Keypair[]): Uint8Array {
      const decoded = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
      decoded.sign([user, ...signers])
      return decoded.serialize()
    },
    /** Sends what the daemon built through it. */
    async submit(transaction: Uint8Array): Promise<void> {
      const body = { transaction: Buffer.from(transaction).toString('base64') }
      const { status, text } = await daemon.request('POST', '/v2/transactions', { body })
      expect(status, text).toBe(200)
    },
    async confirmed(count: number): Promise<void> {
      const path = '/v2/events?type=transaction.confirmed&limit=100'
      const followed = async () => (await daemon.request('GET', path)).json.data.length
      await vi.waitFor(async () => expect(await followed()).toBe(count), { timeout: 30_000, interval: 200 })
    },
    async events(): Promise<StoredEvent[]> {
      const events: StoredEvent[] = []
      for (let cursor = ''; ; ) {
        const { json } = await daemon.request('GET', `/v2/events?order=asc&limit=100${cursor}`)
        events.push(...json.data)
        if (!json.meta.next_cursor) return events
        cursor = `&cursor=${json.meta.next_cursor}`
      }
    },
    async verify(): Promise<void> {
      const { data } = (await daemon.request('GET', '/v2/event-verification?since=0')).json
      expect([data.missing, data.extra]).toEqual([[], []])
    },
  }
}

interface StoredEvent {
  type: string
  data: { object: { resource_id: string; signature?: string | null; source?: string } }
}

describe.skipIf(lacksCore)('reconciliation (needs Metaplex Core)', () => {
  it(`tells each act of a stranger once through ${KILLS} kills of the daemon`, async () => {
    const { user, random, send, request, kill, start, submit, signedBuild, confirmed, events, verify } = await open()
    const { instructions, context, signer, key } = await loadCore()
    const made = await request('POST', '/v2/collections', {
      body: { payer: addressOf(user), name: 'C', uri: 'https://example.com/c.json' },
    })
    expect(made.status, made.text).toBe(200)
    const { collection, transaction } = made.json.data
    await submit(signedBuild(transaction))
    await confirmed(1)

    const own = { collection: key(collection), payer: signer(addressOf(user)), authority: signer(addressOf(user)) }
    const into = { publicKey: key(collection) }
    const freeze = (frozen: boolean) => ({ type: 'FreezeDelegate', frozen }) as const
    const assets: string[] = []
    const life = async () => {
      const asset = Keypair.generate()
      const at = key(addressOf(asset))
      assets.push(addressOf(asset))
      const uri = 'https://example.com/a.json'
      const minting = create(context, { ...own, asset: signer(addressOf(asset)), collection: into, name: 'A', uri })
      await send(instructions(minting), asset)
      const plugin = { ...freeze(true), authority: { type: 'Owner' } } as const
      await send(instructions(addPlugin(context, { ...own, asset: at, plugin })))
      await send(instructions(updatePlugin(context, { ...own, asset: at, plugin: freeze(false) })))
      await send(instructions(burn(context, { ...own, asset: { publicKey: at }, collection: into } as never)))
    }
    for (let round = 0; round < KILLS; round++) {
      await life()
      await pause(random.below(5_000))
      if (round % 2 === 0) await life()
      await kill()
      await life()
      await start()
    }
    const toldOf = async () => {
      const told = new Map<string, string[]>(assets.map((asset) => [asset, []]))
      for (const { type, data } of await events()) told.get(data.object.resource_id)?.push(type)
      return told
    }
    await vi.waitFor(
      async () => {
        for (const [asset, types] of await toldOf()) expect(types.sort(), asset).toEqual(TOLD)
      },
      { timeout: 60_000, interval: 1_000 },
    )
    await verify()
  }, 180_000)
})

const lacking = Object.values(PROGRAMS).filter(({ id }) => !hasProgram(id))
const RESOURCE_KILLS = 6

describe.skipIf(lacking.length > 0)(`reconciliation (needs ${Object.values(PROGRAMS).map(({ name }) => name)})`, () => {
  it(`tells claims, revocations and locks past it once through ${RESOURCE_KILLS} kills of the daemon`, async () => {
    const [partner, goldKey] = [Keypair.generate(), Keypair.generate()]
    const wallets = { SVC_PLATFORM_WALLET: addressOf(partner), SVC_GOLD_MINT: addressOf(goldKey) }
    const world = await open({ ...wallets, SVC_PUBLIC_URL: 'https://svc.example' })
    const { user, connection, random } = world
    await connection.requestAirdrop(partner.publicKey, 10_000_000_000)
    const payer = addressOf(user)
    const built = async (method: 'POST' | 'DELETE', path: string, body: object) => {
      const { status, text, json } = await world.request(method, path, { body })
      expect(status, text).toBeLessThan(300)
      return json.data
    }
    let submitted = 0
    const through = async (transaction: string, ...signers: Keypair[]) => {
      await world.submit(world.signedBuild(transaction, ...signers))
      await world.confirmed(++submitted)
    }
    const keyOf = (numbers: number[]) => Keypair.fromSecretKey(Uint8Array.from(numbers))

    // What is kept here: a pool, tokens, and the gold token.
    const image = Buffer.from(png()).toString('base64')
    const launch = await built('POST', '/v2/pools', { creator: payer, name: 'A token', symbol: 'AT', image })
    const { base_mint_secret_key: mintKey, config_secret_key: configKey } = launch.required_signers
    expect(launch.transactions).toHaveLength(1)
    await through(launch.transactions[0], keyOf(mintKey), keyOf(configKey))
    const tokens: PublicKey[] = []
    for (let i = 0; i < 2 * RESOURCE_KILLS; i++) {
      const token = await built('POST', '/v2/tokens', {
        ...{ payer, name: 'T', symbol: 'T', initial_supply: '1000', uri: 'https://example.com/t.json' },
        ...{ token_program: 'token2022', revoke_freeze_authority: false },
      })
      await through(token.transaction, keyOf(token.required_signers.mint_secret_key))
      tokens.push(new PublicKey(token.mint))
    }
    const space = spl.MINT_SIZE
    const lamports = await connection.getMinimumBalanceForRentExemption(space)
    const mint = goldKey.publicKey
    const goldAccount = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint, owner)
    const opening = { fromPubkey: user.publicKey, newAccountPubkey: mint, space, lamports }
    await world.send(
      [
        SystemProgram.createAccount({ ...opening, programId: spl.TOKEN_PROGRAM_ID }),
        spl.createInitializeMint2Instruction(mint, 0, user.publicKey, null),
      ],
      goldKey,
    )

    const expected = new Map<string, string>()
    const past = async (type: string, made: TransactionInstruction[], ...signers: Keypair[]) => {
      expected.set(await world.send(made, ...signers), type)
    }
    const curve = new DynamicBondingCurveClient(connection, 'confirmed')
    const pool = new PublicKey(launch.pool.address)
    const act = async () => {
      const owner = user.publicKey
      const trade = { owner, pool, swapBaseForQuote: false, referralTokenAccount: null, swapMode: 1 }
      const amounts = { amountIn: new BN(100_000_000 + random.below(1_000_000)), minimumAmountOut: new BN(0) }
      await world.send((await curve.pool.swap2({ ...trade, ...amounts } as never)).instructions)
      const claim = await curve.partner.claimPartnerTradingFee({
        ...{ feeClaimer: partner.publicKey, payer: owner, pool, maxBaseAmount: new BN(0) },
        maxQuoteAmount: new BN('18446744073709551615'),
      })
      await past('fee_claim.executed', claim.instructions, partner)
      const token = tokens.pop()!
      const kind = tokens.length % 2 === 0 ? spl.AuthorityType.MintTokens : spl.AuthorityType.FreezeAccount
      const gone = [spl.createSetAuthorityInstruction(token, owner, kind, null, [], spl.TOKEN_2022_PROGRAM_ID)]
      await past(tokens.length % 2 === 0 ? 'token.mint_authority_revoked' : 'token.freeze_authority_revoked', gone)
      const holder = Keypair.generate()
      const given = SystemProgram.transfer({ fromPubkey: owner, toPubkey: holder.publicKey, lamports: 20_000_000 })
      await world.send([
        given,
        spl.createAssociatedTokenAccountInstruction(owner, goldAccount(holder.publicKey), holder.publicKey, mint),
        spl.createMintToInstruction(mint, goldAccount(holder.publicKey), owner, 10),
      ])
      const now = (await connection.getBlockTime(await connection.getSlot()))!
      const { blockhash } = await connection.getLatestBlockhash()
      const lock = await buildGoldLock({
        ...{ payer: holder.publicKey.toBase58(), recentBlockhash: blockhash, mint: mint.toBase58(), amount: 5n },
        ...{ tokenProgram: 'spl', startsAt: now, unlocksAt: now + 86_400, memo: 'elsewhere' },
      })
      const { transaction } = cosignedBy(lock.transaction, [holder.secretKey])
      expected.set(await connection.sendRawTransaction(transaction), 'gold.locked')
    }
    for (let round = 0; round < RESOURCE_KILLS; round++) {
      await act()
      await pause(random.below(4_000))
      await world.kill()
      await act()
      await world.start()
    }
    const told = async () => {
      const found = new Map<string, string[]>([...expected.keys()].map((signature) => [signature, []]))
      for (const { type, data } of await world.events()) found.get(data.object.signature ?? '')?.push(type)
      return found
    }
    await vi.waitFor(
      async () => {
        for (const [signature, types] of await told()) expect(types, signature).toEqual([expected.get(signature)])
      },
      { timeout: 90_000, interval: 1_000 },
    )
    expect(expected.size).toBe(6 * RESOURCE_KILLS)
    await world.verify()
  }, 240_000)
})
