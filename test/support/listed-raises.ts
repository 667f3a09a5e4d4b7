/** Raises with an allowlist for tests: created on a service's chain, and their buyers' acts by proof. */
import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import { expect } from 'vitest'
import type { LocalChain } from '../../src/localnet/types.ts'
import { provenEscrowInstruction } from '../../src/solana/raise-acts.ts'
import { addSignatures } from './local-chain-transactions.ts'
import { type Buyer, openRaise, type RaiseWish } from './raises.ts'
import type { Requester } from './request.ts'
import { addressOf, SOL } from './wallets.ts'

export const MAXIMUM = 1_000_000n
const ROUND = { supply: 1_000_000n }

interface RaiseHost {
  local(): Promise<LocalChain>
  request: Requester
  /** Answers a request to a path without a key. */
  visit(path: string): Promise<Response>
  /** A new wallet unless given. */
  creator?: Keypair
}

/** A raise of two rounds that only listed wallets may join, with what its creator and its buyers do. */
export async function listedRaise({ local, request, visit, creator }: RaiseHost, wish: Partial<RaiseWish> = {}) {
  const chain = await local()
  // The creator is the first wallet of a raise.
  const given = creator === undefined ? [] : [creator]
  const wallet = () => {
    const key = given.pop() ?? Keypair.generate()
    chain.airdrop(addressOf(key), 100n * SOL)
    return key
  }
  const wall = Object.defineProperty({ ms: 0 }, 'ms', {
    get: () => 0,
    set: (moved: number) => chain.advance(moved / 1_000),
  })
  const made = await openRaise(
    { chain, wallet, wall } as never,
    {
      ...{ allowlist: 'merkle', mode: 'pro_rata', maximum: MAXIMUM, minimum: 1_000n, rounds: [ROUND, ROUND] },
      ...wish,
    } as RaiseWish,
  )
  expect(made.error).toBeNull()
  const id = made.place.address
  const ask = (method: string, path: string, body?: unknown, key?: string) =>
    request(method, path, { ...(body === undefined ? {} : { body }), ...(key === undefined ? {} : { key }) })
  const store = (entries: unknown, key?: string) => ask('POST', `/v2/raises/${id}/allowlist`, { entries }, key)
  const opening = (more: object = {}) =>
    ask('POST', `/v2/raises/${id}/openings`, { payer: addressOf(made.creator), ...more })
  const land = ({ transaction }: { transaction: string }, ...signers: Keypair[]) => {
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    addSignatures(signed, signers)
    const landed = chain.send(signed.serialize())
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    chain.advance(1)
  }
  const open = async (more: object = {}) => {
    const { status, json, text } = await opening(more)
    expect(status, text).toBe(200)
    land(json.data, made.creator)
    return json.data
  }
  /** The public answer, without a key. */
  const proof = async (wallet: string, registry: number | string, raise = id) => {
    const response = await visit(`/raise/${raise}/${registry}/${wallet}`)
    return { status: response.status, headers: response.headers, json: JSON.parse(await response.text()) }
  }
  /** Opens the escrow of a buyer with what clients are told; answers the code of the program's error, or null. */
  const join = (buyer: Buyer, told: { merkle_root_config: string; deposit_cap: number | string; proof: number[][] }) =>
    made.act(
      [
        provenEscrowInstruction(id, made.placeOf(buyer), {
          round: buyer.round,
          cap: BigInt(told.deposit_cap),
          proof: told.proof.map((sibling) => Uint8Array.from(sibling)),
          config: told.merkle_root_config,
        }),
      ],
      buyer.key,
    )
  return {
    ...made,
    chain,
    id,
    ask,
    store,
    opening,
    open,
    land,
    proof,
    join,
    account: (at: string) => chain.account(new PublicKey(at).toBase58()),
  }
}

export type ListedRaise = Awaited<ReturnType<typeof listedRaise>>
