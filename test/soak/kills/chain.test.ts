/** What reads the chain, and the embedded chain itself, killed: the ledger, acts of strangers, and landed transactions. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { addPlugin, burn, create, updatePlugin } from '@metaplex-foundation/mpl-core'
import { DynamicBondingCurveClient } from '@meteora-ag/dynamic-bonding-curve-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import BN from 'bn.js'
import { expect, vi } from 'vitest'
import { loadCore } from '../../../src/chain/programs/metaplex-core/sdk.ts'
import { cosignedBy } from '../../../src/chain/sending/cosign.ts'
import { EmbeddedChain } from '../../../src/localnet/local-chain.ts'
import { openParts } from '../../../src/localnet/opening.ts'
import { pause } from '../../../src/platform/timing.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { addressOf, lacksCore } from '../../support/assets.ts'
import { IMAGE } from '../../support/launches.ts'
import { signed } from '../../support/local-chain.ts'
import { buildGoldLock } from '../../support/lock-builds.ts'
import { hasProgram } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import type { Requester } from '../../support/request.ts'
import { soakRuns } from '../../support/runs.ts'
import { makeFolder, removeFolder } from '../../support/service.ts'
import { keypairOf } from '../../support/wallets.ts'
import { allPages, killTest, momentsOf } from './harness.ts'
import { openPlatform, signedBy } from './platform.ts'

const SEED = 20_261_123
const SOL = 1_000_000_000

/** A daemon on a chain of its own, and a wallet with SOL that acts past the daemon. */
async function besideStrangers(env: Record<string, string> = {}) {
  const platform = await openPlatform({ env, direct: true })
  await platform.start()
  const { chain } = platform
  const user = Keypair.generate()
  await chain.requestAirdrop(user.publicKey, 100 * SOL)
  const request: Requester = (...asked) => platform.daemon.request(...asked)
  const signedNow = async (made: TransactionInstruction[], ...signers: Keypair[]) =>
    signed(made, signers, { blockhash: (await chain.getLatestBlockhash()).blockhash })
  let submitted = 0
  return {
    platform,
    chain,
    user,
    random: randomOf(SEED),
    request,
    signedNow,
    /** Sends past the daemon. */
    send: async (made: TransactionInstruction[], ...signers: Keypair[]): Promise<string> =>
      chain.sendRawTransaction(await signedNow(made, user, ...signers)),
    /** Sends through the daemon. */
    async submit(transaction: string): Promise<string> {
      const { status, text, json } = await request('POST', '/v2/transactions', { body: { transaction } })
      expect(status, text).toBe(200)
      return json.data.signature
    },
    /** Signs what the daemon built, sends it through the daemon, and waits for its confirmation. */
    async through(transaction: string, ...signers: Keypair[]): Promise<void> {
      await this.submit(signedBy(transaction, user, ...signers))
      submitted++
      const confirmed = async () =>
        (await request('GET', '/v2/events?type=transaction.confirmed&limit=100')).json.data.length
      await vi.waitFor(async () => expect(await confirmed()).toBe(submitted), { timeout: 30_000, interval: 200 })
    },
    events: () => allPages(request, '/v2/events?order=asc&'),
    async verify(): Promise<void> {
      const { data } = (await request('GET', '/v2/event-verification?since=0')).json
      expect([data.missing, data.extra]).toEqual([[], []])
    },
  }
}

const LEDGER_KILLS = 4

async function ledgerUnderWay() {
  const wallet = Keypair.generate()
  const world = await besideStrangers({ SVC_PLATFORM_WALLET: addressOf(wallet) })
  const { chain, user, request } = world
  await chain.requestAirdrop(wallet.publicKey, 100 * SOL)
  // A record, so that the chain is looked at beside what is submitted.
  const entries = [{ wallet: addressOf(user), amount: '1' }]
  const body = { mint: addressOf(Keypair.generate()), airdrop_count: 0, entries }
  const tree = await request('POST', '/v2/merkle-trees', { body })
  expect(tree.status, tree.text).toBeLessThan(300)
  const wanted: string[] = []
  const pay = (from: Keypair, to: Keypair, lamports: number) =>
    world.signedNow([SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports })], from)
  return {
    ...world,
    wanted,
    async payInAndOut(round: number) {
      for (let n = 0; n < 4; n++) {
        const raw = await pay(user, wallet, SOL + round * 10 + n)
        wanted.push(await world.submit(Buffer.from(raw).toString('base64')))
      }
      wanted.push(await chain.sendRawTransaction(await pay(wallet, user, 1_000_000 + round)))
    },
    all: () => allPages(request, '/v2/ledger?'),
  }
}

killTest({
  title: `the ledger of a daemon that is killed ${LEDGER_KILLS} times:`,
  start: ledgerUnderWay,
  points: ({ random }) => momentsOf(LEDGER_KILLS, random.next).entries(),
  async kill({ platform, payInAndOut }, [round, moment]) {
    await payInAndOut(round)
    await pause(moment * 12_000)
    await platform.daemon.stop('SIGKILL')
    await platform.start()
  },
  end: ({ platform }) => platform.end(),
  holds: {
    async 'the ledger has each transaction once, and agrees with the chain'({ all, wanted, request }) {
      const missing = async () => {
        const written = new Set((await all()).map(({ signature }) => signature))
        return wanted.filter((signature) => !written.has(signature))
      }
      await vi.waitFor(async () => expect(await missing()).toEqual([]), { timeout: 90_000, interval: 1_000 })
      const found = await all()
      for (const signature of wanted) {
        const own = found.filter((entry) => entry.signature === signature)
        // Fee and payment, each from one account to another.
        expect(own).toHaveLength(4)
        expect(own.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(0n)
      }
      const sums = (await request('GET', '/v2/ledger/summary?by=kind&limit=100')).json.data
      expect(sums.reduce((count: number, each: { entries: number }) => count + each.entries, 0)).toBe(found.length)
      const faults: object[] = []
      const accounts: { balance: string; expected: string }[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { json, text } = await request('GET', `/v2/ledger/verification${cursor && `?cursor=${cursor}`}`)
        expect(json.data, text).toBeDefined()
        faults.push(...json.data.faults, ...json.data.unread)
        accounts.push(...json.data.accounts)
        cursor = json.data.next_cursor
      }
      expect(faults).toEqual([])
      expect(accounts).toHaveLength(1)
      expect(accounts[0]!.balance).toBe(accounts[0]!.expected)
    },
  },
})

const ASSET_KILLS = soakRuns(3, 6)
/** What each asset goes through, and the events that report it. */
const ASSET_EVENTS = ['nft.burned', 'nft.created', 'nft.staked', 'nft.unstaked', 'stake.acquired', 'stake.released']

async function assetsOfStrangers() {
  const world = await besideStrangers()
  const { user, send, request } = world
  const { instructions, context, signer, key } = await loadCore()
  const body = { payer: addressOf(user), name: 'C', uri: 'https://example.com/c.json' }
  const made = await request('POST', '/v2/collections', { body })
  expect(made.status, made.text).toBe(200)
  const { collection, transaction } = made.json.data
  await world.through(transaction)
  const own = { collection: key(collection), payer: signer(addressOf(user)), authority: signer(addressOf(user)) }
  const into = { publicKey: key(collection) }
  const freeze = (frozen: boolean) => ({ type: 'FreezeDelegate', frozen }) as const
  const assets: string[] = []
  return {
    ...world,
    assets,
    /** Mints, freezes, thaws and burns one. */
    async live() {
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
    },
  }
}

killTest({
  title: `NFTs that strangers mint, freeze and burn, and a daemon that is killed ${ASSET_KILLS} times (needs Metaplex Core):`,
  skip: lacksCore,
  start: assetsOfStrangers,
  points: ({ random }) => momentsOf(ASSET_KILLS, random.next).entries(),
  async kill({ platform, live }, [round, moment]) {
    await live()
    await pause(moment * 5_000)
    if (round % 2 === 0) await live()
    await platform.daemon.stop('SIGKILL')
    await live()
    await platform.start()
  },
  end: ({ platform }) => platform.end(),
  holds: {
    async 'each act has one event'({ assets, events, verify }) {
      const reported = async () => {
        const found = new Map<string, string[]>(assets.map((asset) => [asset, []]))
        for (const { type, data } of await events()) found.get(data.object.resource_id)?.push(type)
        return found
      }
      await vi.waitFor(
        async () => {
          for (const [asset, types] of await reported()) expect(types.sort(), asset).toEqual(ASSET_EVENTS)
        },
        { timeout: 60_000, interval: 1_000 },
      )
      await verify()
    },
  },
})

const lacking = Object.values(PROGRAMS).filter(({ id }) => !hasProgram(id))
const RESOURCE_KILLS = soakRuns(2, 4)

/** A pool, tokens and the gold token, of which strangers claim, revoke and lock. */
async function resourcesOfStrangers() {
  const [partner, goldKey] = [Keypair.generate(), Keypair.generate()]
  const wallets = { SVC_PLATFORM_WALLET: addressOf(partner), SVC_GOLD_MINT: addressOf(goldKey) }
  const world = await besideStrangers({ ...wallets, SVC_PUBLIC_URL: 'https://svc.example' })
  const { user, chain, random, request, send } = world
  await chain.requestAirdrop(partner.publicKey, 10 * SOL)
  const payer = addressOf(user)
  const built = async (path: string, body: object) => {
    const { status, text, json } = await request('POST', path, { body })
    expect(status, text).toBeLessThan(300)
    return json.data
  }
  const launch = await built('/v2/pools', { creator: payer, name: 'A token', symbol: 'AT', image: IMAGE })
  const { base_mint_secret_key: mintKey, config_secret_key: configKey } = launch.required_signers
  expect(launch.transactions).toHaveLength(1)
  await world.through(launch.transactions[0], keypairOf(mintKey), keypairOf(configKey))
  const tokens: PublicKey[] = []
  for (let i = 0; i < 2 * RESOURCE_KILLS; i++) {
    const token = await built('/v2/tokens', {
      ...{ payer, name: 'T', symbol: 'T', initial_supply: '1000', uri: 'https://example.com/t.json' },
      ...{ token_program: 'token2022', revoke_freeze_authority: false },
    })
    await world.through(token.transaction, keypairOf(token.required_signers.mint_secret_key))
    tokens.push(new PublicKey(token.mint))
  }
  const space = spl.MINT_SIZE
  const lamports = await chain.getMinimumBalanceForRentExemption(space)
  const mint = goldKey.publicKey
  const goldAccount = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint, owner)
  const opening = { fromPubkey: user.publicKey, newAccountPubkey: mint, space, lamports }
  await send(
    [
      SystemProgram.createAccount({ ...opening, programId: spl.TOKEN_PROGRAM_ID }),
      spl.createInitializeMint2Instruction(mint, 0, user.publicKey, null),
    ],
    goldKey,
  )
  const expected = new Map<string, string>()
  const past = async (type: string, made: TransactionInstruction[], ...signers: Keypair[]) =>
    void expected.set(await send(made, ...signers), type)
  const curve = new DynamicBondingCurveClient(chain, 'confirmed')
  const pool = new PublicKey(launch.pool.address)
  return {
    ...world,
    expected,
    /** A trade and a claim, a revocation, and a lock of gold. */
    async act() {
      const owner = user.publicKey
      const trade = { owner, pool, swapBaseForQuote: false, referralTokenAccount: null, swapMode: 1 }
      const amounts = { amountIn: new BN(100_000_000 + random.below(1_000_000)), minimumAmountOut: new BN(0) }
      await send((await curve.pool.swap2({ ...trade, ...amounts } as never)).instructions)
      const claim = await curve.partner.claimPartnerTradingFee({
        ...{ feeClaimer: partner.publicKey, payer: owner, pool, maxBaseAmount: new BN(0) },
        maxQuoteAmount: new BN('18446744073709551615'),
      })
      await past('fee_claim.executed', claim.instructions, partner)
      const token = tokens.pop()!
      const isMint = tokens.length % 2 === 0
      const kind = isMint ? spl.AuthorityType.MintTokens : spl.AuthorityType.FreezeAccount
      const gone = [spl.createSetAuthorityInstruction(token, owner, kind, null, [], spl.TOKEN_2022_PROGRAM_ID)]
      await past(isMint ? 'token.mint_authority_revoked' : 'token.freeze_authority_revoked', gone)
      const holder = Keypair.generate()
      await send([
        SystemProgram.transfer({ fromPubkey: owner, toPubkey: holder.publicKey, lamports: 20_000_000 }),
        spl.createAssociatedTokenAccountInstruction(owner, goldAccount(holder.publicKey), holder.publicKey, mint),
        spl.createMintToInstruction(mint, goldAccount(holder.publicKey), owner, 10),
      ])
      const now = (await chain.getBlockTime(await chain.getSlot()))!
      const { blockhash } = await chain.getLatestBlockhash()
      const lock = await buildGoldLock({
        ...{ payer: addressOf(holder), recentBlockhash: blockhash, mint: mint.toBase58(), amount: 5n },
        ...{ tokenProgram: 'spl', startsAt: now, unlocksAt: now + 86_400, memo: 'elsewhere' },
      })
      const { transaction } = cosignedBy(lock.transaction, [holder.secretKey])
      expected.set(await chain.sendRawTransaction(transaction), 'gold.locked')
    },
  }
}

killTest({
  title: `claims, revocations and locks of strangers, and a daemon that is killed ${RESOURCE_KILLS} times (needs ${Object.values(PROGRAMS).map(({ name }) => name)}):`,
  skip: lacking.length > 0,
  start: resourcesOfStrangers,
  points: ({ random }) => momentsOf(RESOURCE_KILLS, random.next),
  async kill({ platform, act }, moment) {
    await act()
    await pause(moment * 4_000)
    await platform.daemon.stop('SIGKILL')
    await act()
    await platform.start()
  },
  end: ({ platform }) => platform.end(),
  holds: {
    async 'each act has one event'({ expected, events, verify }) {
      const reported = async () => {
        const found = new Map<string, string[]>([...expected.keys()].map((signature) => [signature, []]))
        for (const { type, data } of await events()) found.get(data.object.signature ?? '')?.push(type)
        return found
      }
      await vi.waitFor(
        async () => {
          for (const [signature, types] of await reported()) expect(types, signature).toEqual([expected.get(signature)])
        },
        { timeout: 90_000, interval: 1_000 },
      )
      expect(expected.size).toBe(6 * RESOURCE_KILLS)
      await verify()
    },
  },
})

/** Everything that the chain of a folder holds, added up, and its whole history in order. */
async function inspect(dataDir: string) {
  const parts = await openParts({ dataDir, programsDir: '/nonexistent' })
  const chain = new EmbeddedChain(parts)
  try {
    expect(chain.status().warnings).toEqual([])
    const addresses = [...parts.index.addresses()]
    const slots = chain.slotsWithTransactions(0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    return {
      supply: addresses.reduce((sum, address) => sum + (parts.runtime.get(address)?.lamports ?? 0n), 0n),
      history: slots.flatMap((slot) => chain.transactionsInSlot(slot)),
      balances: new Map(addresses.map((address) => [address, parts.index.get(address)!.lamports])),
      count: chain.transactionCount(),
    }
  } finally {
    chain.close()
  }
}

async function chainUnderWay() {
  const dataDir = makeFolder()
  const start = await inspect(dataDir)
  return { dataDir, start, answered: new Set<string>(), again: [] as string[], repeated: 0 }
}

/** Works the chain and kills the process after some answers; returns what it said. */
async function workAndKill(dataDir: string, round: number, answers: number, again: readonly string[]) {
  const child = spawn('node', ['--import', 'tsx', 'test/soak/localnet-child.ts', dataDir, String(round), ...again], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const done: string[] = []
  const tried: string[] = []
  const refused: string[] = []
  for await (const line of createInterface(child.stdout)) {
    const [what, ...rest] = line.split(' ')
    if (what === 'try') tried.push(rest[0]!)
    else if (what === 'refused') refused.push(rest.join(' '))
    else done.push(...rest)
    // What the process still says until it is dead is read as well: those are answers, too.
    if (done.length >= answers) child.kill('SIGKILL')
  }
  expect((await exited)[1]).toBe('SIGKILL')
  return { done, refused, lastTried: tried.slice(-3) }
}

const CHAIN_KILLS = soakRuns(4, 8)

killTest({
  title: `the embedded chain under load, killed ${CHAIN_KILLS} times:`,
  start: chainUnderWay,
  points: () => Array.from({ length: CHAIN_KILLS }, (_, round) => round),
  async kill(world, round) {
    const { dataDir, start, answered } = world
    const { done, refused, lastTried } = await workAndKill(dataDir, round, 40 + ((round * 137) % 700), world.again)
    for (const signature of done) answered.add(signature)
    // Sent again after the kill: what had landed must be refused by its signature, whether it was answered or not.
    expect(refused.every((reason) => reason === 'AlreadyProcessed' || reason === 'BlockhashNotFound')).toBe(true)
    world.repeated += refused.filter((reason) => reason === 'AlreadyProcessed').length
    world.again = lastTried

    const { supply, history, balances, count } = await inspect(dataDir)
    const landed = new Set(history.map(({ signature }) => signature))
    expect([...answered].filter((signature) => !landed.has(signature))).toEqual([])
    expect([landed.size, count]).toEqual([history.length, history.length])
    expect(start.supply - supply).toBe(history.reduce((sum, { fee }) => sum + fee, 0n))
    // Each transaction starts where the one before it ended: nothing ran in between, nothing ran twice.
    const known = new Map(start.balances)
    for (const { accountKeys, preBalances, postBalances, err, fee } of history) {
      for (const [i, key] of accountKeys.entries()) expect(preBalances[i]).toBe(known.get(key) ?? 0n)
      for (const [i, key] of accountKeys.entries()) known.set(key, postBalances[i]!)
      if (err !== null) expect(preBalances[0]! - postBalances[0]!).toBe(fee)
    }
    for (const [address, lamports] of balances) expect(lamports).toBe(known.get(address))
  },
  end: async ({ dataDir }) => removeFolder(dataDir),
  holds: {
    'each answered transaction is stored once, with exact balances'({ answered, repeated }) {
      expect(answered.size).toBeGreaterThan(CHAIN_KILLS * 100)
      expect(repeated).toBeGreaterThan(CHAIN_KILLS)
    },
  },
})
