/** Every kind of act that a wallet signs, built with guards and without on one embedded chain, and what it costs either way. */
import { Keypair } from '@solana/web3.js'
import type { LocalChain } from '../../src/localnet/types.ts'
import { type Guard, memoryBytes, readGuards } from '../../src/solana/guards.ts'
import { decodeWireTransaction, keyAt } from '../../src/solana/messages.ts'
import { associatedTokenAddress } from '../../src/solana/program-addresses.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { IMAGES } from '../storage/images.ts'
import type { randomOf } from './random.ts'
import { addressOf, keypairOf, SOL, signWith } from './wallets.ts'

/** Answers the data of an answer; throws the error of another. */
// biome-ignore lint/suspicious/noExplicitAny: acts reach into answers of many routes
export type Ask = (method: string, path: string, body?: object) => Promise<any>

/** One request, and what it changes for the acts after it. */
interface Act {
  method?: string
  path: string
  body: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: the data of any route
  after?: (data: any) => unknown
}

/** Of one transaction, first without guards and then with them. */
export interface ActCost {
  kind: string
  bytes: [number, number]
  units: [number, number]
  /** What the payer has less afterwards, with the fee. */
  lamports: [bigint, bigint]
  /** Lamports that the payer lends until its end. */
  lent: bigint
  guards: readonly Guard[]
}

const IMAGE = Buffer.from(IMAGES.png).toString('base64')
const DAY = 86_400
/** A curve that 1 SOL does not fill. */
export const ACTS_PRESET = {
  total_supply: '1000000000',
  decimals: 6,
  initial_market_cap: 30,
  migration_market_cap: 400,
  fee: { starting_bps: 100, ending_bps: 100 },
  liquidity: { partner: 50, partner_locked: 50 },
}

type Random = ReturnType<typeof randomOf>
export type GuardedActs = Awaited<ReturnType<typeof openGuardedActs>>

/** Wallets with SOL, tokens of every kind, pools, and a multisig. `partner` is the platform wallet of the service. */
export async function openGuardedActs(chain: LocalChain, ask: Ask, random: Random, partner: Keypair) {
  const keys = [partner, ...Array.from({ length: 5 }, () => Keypair.generate())]
  for (const key of keys) chain.airdrop(addressOf(key), 5_000n * SOL)
  const [, user = partner] = keys
  const payer = addressOf(user)
  const others = keys.slice(2).map(addressOf)
  let made = 0
  const texts = () => ({ name: 'My Token', symbol: `T${(made++).toString(36)}`.toUpperCase() })
  const land = (text: string, more: Keypair[] = []) => {
    chain.advance(1)
    return chain.send(Buffer.from(signWith(text, [...keys, ...more]), 'base64'))
  }
  /** Sends a request and lands what it built. */
  const done = async (act: Act) => {
    const data = await ask(act.method ?? 'POST', act.path, act.body)
    for (const text of transactionsIn(data)) {
      const { err, logs } = land(text, keysIn(data))
      if (err !== null) throw new Error(`${act.path}: ${logs.join('\n')}`)
    }
    await act.after?.(data)
    return data
  }

  const uri = 'https://example.com/t.json'
  const creation = (more: object = {}): Act => {
    const body = { payer, ...texts(), uri, initial_supply: '1000000000', revoke_freeze_authority: false }
    return { path: '/v2/tokens', body: { ...body, revoke_mint_authority: false, ...more } }
  }
  const token2022 = { token_program: 'token2022' }
  const tokens = {
    spl: (await done(creation())).mint as string,
    plain: (await done(creation(token2022))).mint as string,
    taxed: (await done(creation({ ...token2022, extensions: { transfer_fee: { basis_points: 250 } } }))).mint as string,
  }
  const transfer = (mint: string, wallets: readonly string[]): Act => ({
    path: '/v2/token-transfers',
    body: {
      ...{ payer, mint, accept_transfer_fee: true },
      recipients: wallets.map((wallet) => ({ wallet, amount: String(random.between(1, 1_000)) })),
    },
  })
  for (const mint of Object.values(tokens)) await done(transfer(mint, others))
  const launch = (more: object = {}): Act => ({
    path: '/v2/pools',
    body: { creator: payer, ...texts(), image: IMAGE, ...more },
  })
  const curve = (await done(launch())).pool.address as string
  const pool = (await done(launch({ type: 'damm_v2', creator: addressOf(partner), lock_liquidity: false }))).pool
    .address as string
  const [curveMint, poolMint] = (await Promise.all(
    [curve, pool].map(async (address) => {
      const { pool: known } = await ask('POST', `/v2/pools/${address}/verifications`, {})
      return known.base_mint as string
    }),
  )) as [string, string]
  const swap = (address: string, side: 'buy' | 'sell', amount: bigint, by = payer): Act => ({
    path: `/v2/pools/${address}/swaps`,
    body: { payer: by, side, amount: String(amount), slippage_bps: 1_000 },
  })
  await done(swap(curve, 'buy', SOL))
  await done(swap(pool, 'buy', SOL))
  await done(swap(pool, 'buy', SOL, addressOf(partner)))
  const { multisig, vault } = await done({
    path: '/v2/multisigs',
    body: { payer, members: keys.slice(1, 3).map((key) => ({ address: addressOf(key) })), threshold: 1 },
  })
  chain.airdrop(vault, 100n * SOL)
  const approver = { kind: 'squads', multisig, member: payer }

  const heldOf = (mint: string, owner = payer, program = TOKEN_PROGRAM): bigint => {
    const data = chain.account(associatedTokenAddress(owner, mint, program))?.data
    return data === undefined ? 0n : Buffer.from(data).readBigUInt64LE(64)
  }
  const stranger = () => Keypair.generate().publicKey.toBase58()
  const someSol = () => BigInt(random.between(1, 400)) * (SOL / 1_000n)
  const part = (amount: bigint) => 1n + (amount * BigInt(random.between(1, 30))) / 100n
  const mint = () => random.pick([tokens.spl, tokens.plain])
  const isoIn = (seconds: number) => new Date((chain.unixTimestamp() + seconds) * 1000).toISOString()

  const locks: string[] = []
  const lock = (): Act => ({
    path: '/v2/locks',
    body: {
      payer,
      mint: mint(),
      recipient: payer,
      amount: '1000',
      cliff_at: isoIn(10),
      periods: 10,
      frequency: DAY,
      cancellable_by: 'creator',
    },
    after: ({ address }) => locks.push(address),
  })
  const drops: { id: string; wallets: string[] }[] = []
  const drop = async (): Promise<Act> => {
    const wallets = others.slice(0, 3)
    const entries = wallets.map((wallet) => ({ wallet, amount: String(random.between(10, 500)) }))
    const airdrop_count = made++
    const tree = await ask('POST', '/v2/merkle-trees', { mint: tokens.spl, entries, airdrop_count })
    return {
      path: '/v2/airdrops',
      body: { payer, platform_id: 'test', mint: tokens.spl, airdrop_count, merkle_root: tree.root },
      after: () => drops.push({ id: tree.id, wallets }),
    }
  }
  const assets: string[] = []
  const { collection } = await done({ path: '/v2/collections', body: { payer, name: 'My Things', uri } })
  const nft = (): Act => ({
    path: '/v2/nfts',
    body: { payer, platform_id: 'test', collection, name: 'My Thing', uri },
    after: ({ asset }) => assets.push(asset),
  })
  const payment = (): Act => ({
    path: '/v2/sol-transfers',
    body: { payer: vault, recipient: stranger(), lamports: String(someSol()), approver },
  })
  const proposals: string[] = []
  const propose = (): Act => ({ ...payment(), after: ({ proposal }) => proposals.push(proposal.id) })
  const decide = (id: string, verb: string): Act => ({ path: `/v2/proposals/${id}/${verb}`, body: { member: payer } })
  /** The last one of a list, which an act before this one makes if there is none. */
  const taken = async <T>(list: T[], first: () => Act | Promise<Act>): Promise<T> => {
    if (list.length === 0) await done(await first())
    return list.pop() as T
  }
  const position = `/v2/pools/${pool}/positions`
  const owner = addressOf(partner)
  const firstPosition = async () =>
    `${position}/${(await ask('GET', `${position}?owner=${owner}`)).positions[0].position}`

  let isFrozen = false
  const freezes = `/v2/tokens/${tokens.plain}/freezes`
  const after = () => (isFrozen = !isFrozen)
  const freeze = (): Act => ({ path: freezes, body: { payer, wallet: others[3] }, after })
  const thaw = (): Act => ({ method: 'DELETE', path: `${freezes}/${others[3]}`, body: { payer }, after })

  const kinds: Record<string, () => Act | Promise<Act>> = {
    'SOL transfer': () => ({
      path: '/v2/sol-transfers',
      body: { payer, recipient: random.chance(0.5) ? stranger() : random.pick(others), lamports: String(someSol()) },
    }),
    'token transfer': () => transfer(tokens.spl, [random.pick(others.slice(0, 3))]),
    'token transfer that opens the account': () => transfer(mint(), [stranger()]),
    'token transfer to three wallets': () => transfer(tokens.spl, others.slice(0, 3)),
    'Token-2022 transfer with a transfer fee': () => transfer(tokens.taxed, [random.pick(others)]),
    'buy on a curve': () => swap(curve, 'buy', someSol()),
    'sell on a curve': () => swap(curve, 'sell', part(heldOf(curveMint))),
    'buy on a DAMM v2 pool': () => swap(pool, 'buy', someSol()),
    'sell on a DAMM v2 pool': () => swap(pool, 'sell', part(heldOf(poolMint))),
    lock: () => lock(),
    'claim of a lock': async () => {
      const address = await taken(locks, lock)
      chain.advance(3 * DAY)
      return { path: `/v2/locks/${address}/claims`, body: { payer } }
    },
    'cancellation of a lock': async () => {
      const address = await taken(locks, lock)
      return { method: 'DELETE', path: `/v2/locks/${address}`, body: { payer } }
    },
    airdrop: drop,
    'claim of an airdrop': async () => {
      const { id, wallets } = await taken(drops, drop)
      const claimer = wallets.pop() as string
      if (wallets.length > 0) drops.push({ id, wallets })
      return { path: `/v2/airdrops/${id}/claims`, body: { claimer, platform_id: 'test', amount: '0' } }
    },
    'NFT collection': () => ({ path: '/v2/collections', body: { payer, name: 'My Things', uri } }),
    NFT: nft,
    'burn of an NFT': async () => {
      const asset = await taken(assets, nft)
      return { method: 'DELETE', path: `/v2/nfts/${asset}`, body: { owner: payer, platform_id: 'test', collection } }
    },
    'token creation': () => creation(),
    'token creation, Token-2022': () => creation(token2022),
    'mint of tokens': () => ({
      path: `/v2/tokens/${tokens.spl}/mints`,
      body: { payer, amount: '500', recipient: random.pick(others) },
    }),
    'burn of tokens': () => ({ path: `/v2/tokens/${mint()}/burns`, body: { payer, amount: '5' } }),
    'freeze of an account': async () => {
      if (isFrozen) await done(thaw())
      return freeze()
    },
    'thaw of an account': async () => {
      if (!isFrozen) await done(freeze())
      return thaw()
    },
    'rent reclaim': async () => {
      const address = associatedTokenAddress(payer, tokens.spl, TOKEN_PROGRAM)
      const account = chain.account(address)
      if (account) chain.setAccount(address, { ...account, lamports: account.lamports + 1_000_000n })
      return { path: '/v2/rent-reclaims', body: { payer } }
    },
    multisig: () => ({
      path: '/v2/multisigs',
      body: { payer, members: others.map((address) => ({ address })), threshold: 2 },
    }),
    'proposal of a payment': propose,
    'approval of a proposal': async () => decide(await taken(proposals, propose), 'approvals'),
    'execution of a proposal': async () => {
      const id = await taken(proposals, propose)
      await done(decide(id, 'approvals'))
      return decide(id, 'executions')
    },
    'launch on a curve': () => launch(),
    'launch on a curve with a first buy': () => launch({ buy_amount: 0.5 }),
    'launch of a DAMM v2 pool': () => launch({ type: 'damm_v2' }),
    'claim of fees': async () => {
      await done(swap(curve, 'buy', SOL, others[0]))
      return { path: `/v2/pools/${curve}/fee-claims`, body: { payer: owner } }
    },
    'opening of a position': () => ({ path: position, body: { payer: owner, amount_b: String(SOL / 100n) } }),
    'removal of a part of a position': async () => ({
      path: `${await firstPosition()}/removals`,
      body: { payer: owner, share_bps: random.between(10, 500) },
    }),
  }
  return {
    kinds: Object.keys(kinds),
    /** Builds it both ways, and lands the one with guards. Throws if that fails and the other does not. */
    async perform(kind: string, txVersion: 0 | 1 = 0): Promise<ActCost[]> {
      const act = await kinds[kind]!()
      const path = act.path
      const build = async (guard: string, more: object = {}) => {
        const fresh = 'symbol' in act.body ? { ...act.body, ...texts() } : act.body
        return ask(act.method ?? 'POST', path, { ...fresh, guard, tx_version: txVersion, ...more })
      }
      const plain = await build('off')
      const guarded = await build('when_it_fits')
      const costs: ActCost[] = []
      for (const [i, text] of transactionsIn(guarded).entries()) {
        const other = transactionsIn(plain)[i] as string
        const bare =
          i === 0 ? simulated(chain, Buffer.from(signWith(other, [...keys, ...keysIn(plain)]), 'base64')) : null
        const landed = land(text, keysIn(guarded))
        const guards = guardsIn(Buffer.from(text, 'base64'))
        if (landed.err !== null) {
          const also = bare?.err ? `, and so it does without guards: ${bare.logs.join('\n')}` : ''
          throw new Error(`${kind} fails: ${landed.logs.join('\n')}${also}`)
        }
        costs.push({
          kind: i === 0 ? kind : `${kind}, transaction ${i + 1}`,
          bytes: [Buffer.from(other, 'base64').length, Buffer.from(text, 'base64').length],
          units: [Number(bare?.units ?? landed.unitsConsumed), Number(landed.unitsConsumed)],
          lamports: [bare?.lost ?? lostIn(landed), lostIn(landed)],
          lent: guards.length === 0 ? 0n : chain.minimumBalance(memoryBytes(guards)),
          guards,
        })
      }
      await act.after?.(guarded)
      return costs
    },
  }
}

/** The first of each kind as a table for docs/signer.md. */
export function costTable(costs: readonly ActCost[]): string {
  const first = costs.filter(({ kind }, i) => costs.findIndex((each) => each.kind === kind) === i)
  const number = (value: number | bigint) => value.toLocaleString('en')
  const pair = ([without, guarded]: [number, number]) => `${number(without)} → ${number(guarded)}`
  const rows = first.map(({ kind, bytes, units, lent, guards }) => {
    const extra = guards.length === 0 ? 'none' : `+ ${bytes[1] - bytes[0]}`
    return `| ${kind} | ${pair(bytes)} (${extra}) | ${pair(units)} | ${number(lent)} |`
  })
  const head = ['| Act | Bytes | Compute units | Lent lamports |', '|---|---|---|---|']
  return [...head, ...rows].join('\n')
}

// biome-ignore lint/suspicious/noExplicitAny: the data of any route
function transactionsIn(data: any): string[] {
  return data.proposal?.transactions ?? data.transactions ?? [(data.tx ?? data).transaction]
}

// biome-ignore lint/suspicious/noExplicitAny: the data of any route
const keysIn = ({ required_signers: required = {} }: any): Keypair[] =>
  Object.values(required as Record<string, number[]>).flatMap((bytes) => (bytes.length > 0 ? [keypairOf(bytes)] : []))

/** The guards of a transaction without lookup tables. */
export function guardsIn(raw: Uint8Array): readonly Guard[] {
  const { message } = decodeWireTransaction(raw)
  const all = message.instructions.map(({ programIdIndex, accounts, data }) => ({
    program: keyAt(message, programIdIndex),
    accounts: Array.from(accounts, (place) => keyAt(message, place)),
    data,
  }))
  return readGuards(keyAt(message, 0), all)?.guards ?? []
}

const lostIn = ({ preBalances, postBalances }: { preBalances: bigint[]; postBalances: bigint[] }): bigint =>
  (preBalances[0] ?? 0n) - (postBalances[0] ?? 0n)

function simulated(chain: LocalChain, raw: Uint8Array) {
  const { err, logs, unitsConsumed, balances } = chain.simulate(raw, { balances: true })
  const [before, after] = [balances?.before.lamports[0] ?? 0n, balances?.after.lamports[0] ?? 0n]
  return { err, logs, units: unitsConsumed, lost: before - after }
}
