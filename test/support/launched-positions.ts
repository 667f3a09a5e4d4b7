/** A `damm_v2` launch with an unlocked position, and what its holder does with it over HTTP. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { expect } from 'vitest'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { addressOf } from './assets.ts'
import { IMAGE, keysIn, landOn } from './launches.ts'
import { type Limits, startPlatform } from './platform-wallet.ts'
import { hasProgram } from './programs.ts'
import { SOL, signWith } from './wallets.ts'

export { SOL }

export const FEE = 5_000n
export const lacksPools = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))

export async function launchedPositions(more: object = {}, limits: Limits | null = null) {
  const { services, request, clock, wallet: platform } = await startPlatform(limits)
  const chain = await services.chain.local()
  const wallet = () => {
    const key = Keypair.generate()
    chain.airdrop(addressOf(key), 1_000n * SOL)
    return key
  }
  const creator = wallet()
  const run = (transaction: string, keys: readonly Keypair[]) => {
    const landed = chain.send(Buffer.from(signWith(transaction, keys), 'base64'))
    chain.advance(1)
    return landed
  }
  const land = (transaction: string, keys: readonly Keypair[]) => landOn(chain, transaction, keys)
  const ask = async (path: string, body: object) => {
    const { status, json } = await request('POST', path, { body })
    expect(status, JSON.stringify(json)).toBe(200)
    return json.data
  }
  const faultOf = async (path: string, body: object) => {
    const { status, json } = await request('POST', path, { body })
    return [status, json.error?.param, json.error?.message]
  }
  const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE, type: 'damm_v2', ...more }
  const { data } = (await request('POST', '/v2/pools', { body })).json
  for (const transaction of data.transactions) land(transaction, [creator, ...keysIn(data.required_signers)])
  chain.advance(20)
  clock.advance(20_000)
  await followTransactions(services)
  await followPools(services)
  const pool = data.pool.address as string
  const mint = data.pool.base_mint as string
  const buy = async (trader: Keypair, amount: bigint) => {
    const swap = { payer: addressOf(trader), side: 'buy', amount: String(amount) }
    land((await ask(`/v2/pools/${pool}/swaps`, swap)).tx.transaction, [trader])
  }
  const list = async (owner: string) => (await request('GET', `/v2/pools/${pool}/positions?owner=${owner}`)).json.data
  /** One position of the wallet; without its address, the largest. */
  const held = async (position?: string, owner = addressOf(creator)) => {
    const { positions } = await list(owner)
    return position === undefined
      ? positions[0]
      : positions.find((each: { position: string }) => each.position === position)
  }
  const tokens = (owner: Keypair): bigint => {
    const account = spl.getAssociatedTokenAddressSync(new PublicKey(mint), owner.publicKey).toBase58()
    return Buffer.from(chain.account(account)?.data ?? Buffer.alloc(72)).readBigUInt64LE(64)
  }
  const lamports = (owner: Keypair) => chain.account(addressOf(owner))?.lamports ?? 0n
  return {
    services,
    request,
    platform,
    chain,
    creator,
    wallet,
    run,
    land,
    ask,
    faultOf,
    pool,
    mint,
    buy,
    list,
    held,
    tokens,
    lamports,
  }
}
