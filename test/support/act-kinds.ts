/** Acts of every kind that a wallet signs, as requests with random amounts, on one embedded chain. */
import { Keypair } from '@solana/web3.js'
import type { LandedTransaction, LocalChain } from '../../src/localnet/types.ts'
import { associatedTokenAddress } from '../../src/solana/program-addresses.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { IMAGES } from '../storage/images.ts'
import type { randomOf } from './random.ts'
import { addressOf, keypairOf, SOL, signWith } from './wallets.ts'

/** Answers the data of an answer; throws the error of another. */
// biome-ignore lint/suspicious/noExplicitAny: acts reach into answers of many routes
export type Ask = (method: string, path: string, body?: object) => Promise<any>

/** One request, and what it changes for the acts after it. */
export interface Act {
  method?: string
  path: string
  body: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: the data of any route
  after?: (data: any) => unknown
}

export type Kinds = Record<string, () => Act | Promise<Act>>

const IMAGE = Buffer.from(IMAGES.png).toString('base64')
const DAY = 86_400
const uri = 'https://example.com/t.json'
const TOKEN_2022 = { token_program: 'token2022' }

/** A curve that some SOL do not fill. */
export const ACTS_PRESET = {
  total_supply: '1000000000',
  decimals: 6,
  initial_market_cap: 30,
  migration_market_cap: 400,
  fee: { starting_bps: 100, ending_bps: 100 },
  liquidity: { partner: 50, partner_locked: 50 },
}

export interface ActorOptions {
  chain: LocalChain
  ask: Ask
  random: ReturnType<typeof randomOf>
  /** The platform wallet of the service. */
  partner: Keypair
}

export type Actor = ReturnType<typeof openActor>

/** Wallets with SOL: the platform's, one that acts, and others. */
export function openActor({ chain, ask, random, partner }: ActorOptions) {
  const user = Keypair.generate()
  const strangers = Array.from({ length: 4 }, () => Keypair.generate())
  const keys = [partner, user, ...strangers]
  for (const key of keys) chain.airdrop(addressOf(key), 5_000n * SOL)
  let made = 0
  const sign = (text: string, more: readonly Keypair[]) => Buffer.from(signWith(text, [...keys, ...more]), 'base64')
  const actor = {
    ...{
      chain,
      ask,
      random,
      payer: addressOf(user),
      owner: addressOf(partner),
      others: strangers.map(addressOf),
      sign,
    },
    next: () => made++,
    /** Name and symbol of a new token, always of the same length; no symbol comes twice. */
    texts: () => ({ name: 'My Token', symbol: `T${(made++).toString(36).padStart(4, '0')}`.toUpperCase() }),
    stranger: () => addressOf(Keypair.generate()),
    someSol: () => BigInt(random.between(1, 400)) * (SOL / 1_000n),
    part: (amount: bigint) => 1n + (amount * BigInt(random.between(1, 30))) / 100n,
    isoIn: (seconds: number) => new Date((chain.unixTimestamp() + seconds) * 1000).toISOString(),
    /** Raw units of SPL Token that the acting wallet has. */
    heldOf(mint: string): bigint {
      const data = chain.account(associatedTokenAddress(actor.payer, mint, TOKEN_PROGRAM))?.data
      return data === undefined ? 0n : Buffer.from(data).readBigUInt64LE(64)
    },
    land(text: string, more: readonly Keypair[] = []): LandedTransaction {
      chain.advance(1)
      return chain.send(sign(text, more))
    },
    /** Sends a request and lands what it built. */
    async done(act: Act) {
      const data = await ask(act.method ?? 'POST', act.path, act.body)
      for (const text of transactionsIn(data)) {
        const { err, logs } = actor.land(text, keysIn(data))
        if (err !== null) throw new Error(`${act.path}: ${logs.join('\n')}`)
      }
      await act.after?.(data)
      return data
    },
    /** The last of a list, which an act before this one makes if there is none. */
    async taken<T>(list: T[], first: () => Act | Promise<Act>): Promise<T> {
      if (list.length === 0) await actor.done(await first())
      return list.pop() as T
    },
  }
  return actor
}

// biome-ignore lint/suspicious/noExplicitAny: the data of any route
export function transactionsIn(data: any): string[] {
  return data.proposal?.transactions ?? data.transactions ?? [(data.tx ?? data).transaction]
}

// biome-ignore lint/suspicious/noExplicitAny: the data of any route
export const keysIn = ({ required_signers: required = {} }: any): Keypair[] =>
  Object.values(required as Record<string, number[]>).flatMap((bytes) => (bytes.length > 0 ? [keypairOf(bytes)] : []))

/** All kinds, over what they need. */
export async function openKinds(actor: Actor): Promise<Kinds> {
  const { payer, others, random, stranger, someSol } = actor
  const tokens = await openTokens(actor)
  const solTransfer = (): Act => {
    const recipient = random.chance(0.5) ? stranger() : random.pick(others)
    return { path: '/v2/sol-transfers', body: { payer, recipient, lamports: String(someSol()) } }
  }
  return {
    'SOL transfer': solTransfer,
    ...transferKinds(actor, tokens),
    ...tokenKinds(actor, tokens),
    ...lockKinds(actor, tokens),
    ...airdropKinds(actor, tokens),
    ...(await nftKinds(actor)),
    ...(await poolKinds(actor)),
    ...(await multisigKinds(actor)),
  }
}

interface Tokens {
  spl: string
  /** Of Token-2022, and one with a transfer fee. */
  plain: string
  taxed: string
}

function creation({ payer, texts }: Actor, more: object = {}): Act {
  const kept = { revoke_freeze_authority: false, revoke_mint_authority: false }
  return { path: '/v2/tokens', body: { payer, ...texts(), uri, initial_supply: '1000000000', ...kept, ...more } }
}

/** A token of each kind, of which the other wallets have some. */
async function openTokens(actor: Actor): Promise<Tokens> {
  const { done, others } = actor
  const mintOf = async (more: object = {}): Promise<string> => (await done(creation(actor, more))).mint
  const tokens = {
    spl: await mintOf(),
    plain: await mintOf(TOKEN_2022),
    taxed: await mintOf({ ...TOKEN_2022, extensions: { transfer_fee: { basis_points: 250 } } }),
  }
  for (const mint of Object.values(tokens)) await done(transfer(actor, mint, others))
  return tokens
}

function transfer({ payer, random }: Actor, mint: string, wallets: readonly string[]): Act {
  const recipients = wallets.map((wallet) => ({ wallet, amount: String(random.between(1, 1_000)) }))
  return { path: '/v2/token-transfers', body: { payer, mint, accept_transfer_fee: true, recipients } }
}

function transferKinds(actor: Actor, { spl, plain, taxed }: Tokens): Kinds {
  const { others, random, stranger } = actor
  return {
    'token transfer': () => transfer(actor, spl, [random.pick(others)]),
    'token transfer that opens the account': () => transfer(actor, random.pick([spl, plain]), [stranger()]),
    'token transfer to three wallets': () => transfer(actor, spl, others.slice(0, 3)),
    'Token-2022 transfer with a transfer fee': () => transfer(actor, taxed, [random.pick(others)]),
  }
}

function tokenKinds(actor: Actor, { spl, plain }: Tokens): Kinds {
  const { chain, payer, others, random, done } = actor
  const [wallet = '', ...rest] = others.toReversed()
  let isFrozen = false
  const path = `/v2/tokens/${plain}/freezes`
  const after = () => {
    isFrozen = !isFrozen
  }
  const freeze = (): Act => ({ path, body: { payer, wallet }, after })
  const thaw = (): Act => ({ method: 'DELETE', path: `${path}/${wallet}`, body: { payer }, after })
  return {
    'token creation': () => creation(actor),
    'token creation, Token-2022': () => creation(actor, TOKEN_2022),
    'mint of tokens': () => ({
      path: `/v2/tokens/${spl}/mints`,
      body: { payer, amount: '500', recipient: random.pick(rest) },
    }),
    'burn of tokens': () => ({
      path: `/v2/tokens/${random.pick([spl, plain])}/burns`,
      body: { payer, amount: '5' },
    }),
    async 'freeze of an account'() {
      if (isFrozen) await done(thaw())
      return freeze()
    },
    async 'thaw of an account'() {
      if (!isFrozen) await done(freeze())
      return thaw()
    },
    'rent reclaim'() {
      const address = associatedTokenAddress(payer, spl, TOKEN_PROGRAM)
      const account = chain.account(address)
      if (account) chain.setAccount(address, { ...account, lamports: account.lamports + 1_000_000n })
      return { path: '/v2/rent-reclaims', body: { payer } }
    },
  }
}

function lockKinds({ chain, payer, random, isoIn, taken }: Actor, { spl, plain }: Tokens): Kinds {
  const locks: string[] = []
  const lock = (): Act => {
    const terms = { cliff_at: isoIn(10), periods: 10, frequency: DAY, cancellable_by: 'creator' }
    return {
      path: '/v2/locks',
      body: { payer, mint: random.pick([spl, plain]), recipient: payer, amount: '1000', ...terms },
      after: ({ address }) => locks.push(address),
    }
  }
  return {
    lock,
    async 'claim of a lock'() {
      const address = await taken(locks, lock)
      chain.advance(3 * DAY)
      return { path: `/v2/locks/${address}/claims`, body: { payer } }
    },
    async 'cancellation of a lock'() {
      return { method: 'DELETE', path: `/v2/locks/${await taken(locks, lock)}`, body: { payer } }
    },
  }
}

function airdropKinds({ ask, payer, others, random, next, taken }: Actor, { spl: mint }: Tokens): Kinds {
  const drops: { id: string; wallets: string[] }[] = []
  const platform_id = 'test'
  const drop = async (): Promise<Act> => {
    const wallets = others.slice(0, 3)
    const entries = wallets.map((wallet) => ({ wallet, amount: String(random.between(10, 500)) }))
    const airdrop_count = next()
    const { id, root: merkle_root } = await ask('POST', '/v2/merkle-trees', { mint, entries, airdrop_count })
    return {
      path: '/v2/airdrops',
      body: { payer, platform_id, mint, airdrop_count, merkle_root },
      after: () => drops.push({ id, wallets }),
    }
  }
  return {
    airdrop: drop,
    async 'claim of an airdrop'() {
      const { id, wallets } = await taken(drops, drop)
      const claimer = wallets.pop() as string
      if (wallets.length > 0) drops.push({ id, wallets })
      return { path: `/v2/airdrops/${id}/claims`, body: { claimer, platform_id, amount: '0' } }
    },
  }
}

async function nftKinds({ payer, done, taken }: Actor): Promise<Kinds> {
  const assets: string[] = []
  const making = (): Act => ({ path: '/v2/collections', body: { payer, name: 'My Things', uri } })
  const { collection } = await done(making())
  const of = { platform_id: 'test', collection }
  const nft = (): Act => ({
    path: '/v2/nfts',
    body: { payer, ...of, name: 'My Thing', uri },
    after: ({ asset }) => assets.push(asset),
  })
  return {
    'NFT collection': making,
    NFT: nft,
    async 'burn of an NFT'() {
      return { method: 'DELETE', path: `/v2/nfts/${await taken(assets, nft)}`, body: { owner: payer, ...of } }
    },
  }
}

async function poolKinds(actor: Actor): Promise<Kinds> {
  const { ask, done, payer, owner, others, random, texts, someSol, part, heldOf } = actor
  const launch = (more: object = {}): Act => ({
    path: '/v2/pools',
    body: { creator: payer, ...texts(), image: IMAGE, ...more },
  })
  const launched = async (more: object) => {
    const { address } = (await done(launch(more))).pool
    const { pool } = await ask('POST', `/v2/pools/${address}/verifications`, {})
    return { path: `/v2/pools/${address}`, mint: pool.base_mint as string }
  }
  const curve = await launched({})
  const pool = await launched({ type: 'damm_v2', creator: owner, lock_liquidity: false })
  const swap = (of: { path: string }, side: 'buy' | 'sell', amount: bigint, by = payer): Act => ({
    path: `${of.path}/swaps`,
    body: { payer: by, side, amount: String(amount), slippage_bps: 1_000 },
  })
  for (const each of [curve, pool]) await done(swap(each, 'buy', SOL))
  await done(swap(pool, 'buy', SOL, owner))
  const positions = `${pool.path}/positions`
  return {
    'buy on a curve': () => swap(curve, 'buy', someSol()),
    'sell on a curve': () => swap(curve, 'sell', part(heldOf(curve.mint))),
    'buy on a DAMM v2 pool': () => swap(pool, 'buy', someSol()),
    'sell on a DAMM v2 pool': () => swap(pool, 'sell', part(heldOf(pool.mint))),
    'launch on a curve': () => launch(),
    'launch on a curve with a first buy': () => launch({ buy_amount: 0.5 }),
    'launch of a DAMM v2 pool': () => launch({ type: 'damm_v2' }),
    async 'claim of fees'() {
      await done(swap(curve, 'buy', SOL, others[0]))
      return { path: `${curve.path}/fee-claims`, body: { payer: owner } }
    },
    'opening of a position': () => ({ path: positions, body: { payer: owner, amount_b: String(SOL / 100n) } }),
    async 'removal of a part of a position'() {
      const { positions: found } = await ask('GET', `${positions}?owner=${owner}`)
      const body = { payer: owner, share_bps: random.between(10, 500) }
      return { path: `${positions}/${found[0].position}/removals`, body }
    },
  }
}

async function multisigKinds({ chain, payer, others, done, taken, stranger, someSol }: Actor): Promise<Kinds> {
  const multisig = (wallets: readonly string[], threshold: number): Act => ({
    path: '/v2/multisigs',
    body: { payer, members: wallets.map((address) => ({ address })), threshold },
  })
  const { multisig: address, vault } = await done(multisig([payer, ...others.slice(0, 1)], 1))
  chain.airdrop(vault, 100n * SOL)
  const proposals: string[] = []
  const propose = (): Act => {
    const approver = { kind: 'squads', multisig: address, member: payer }
    return {
      path: '/v2/sol-transfers',
      body: { payer: vault, recipient: stranger(), lamports: String(someSol()), approver },
      after: ({ proposal }) => proposals.push(proposal.id),
    }
  }
  const decide = (id: string, verb: string): Act => ({ path: `/v2/proposals/${id}/${verb}`, body: { member: payer } })
  return {
    multisig: () => multisig(others, 2),
    'proposal of a payment': propose,
    'approval of a proposal': async () => decide(await taken(proposals, propose), 'approvals'),
    async 'execution of a proposal'() {
      const id = await taken(proposals, propose)
      await done(decide(id, 'approvals'))
      return decide(id, 'executions')
    },
  }
}
