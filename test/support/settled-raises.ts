/** Raises against wrapped SOL that are bought and settled over HTTP. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { expect } from 'vitest'
import {
  buildDammV2Swap,
  buildPermanentLock,
  buildPositionOpening,
  buildPositionTransfer,
  dammV2PoolAddress,
  freshPool,
  positionAddresses,
  readPairPool,
} from '../../src/chain/programs/damm-v2/index.ts'
import { initializePool } from '../../src/chain/programs/damm-v2/opening.ts'
import { wrapping } from '../../src/chain/programs/damm-v2/swap.ts'
import {
  claimInstruction,
  decodeRaise,
  depositInstruction,
  escrowInstruction,
  feeOnTop,
  type Raise,
  raiseEscrowAddress,
} from '../../src/chain/programs/presale/index.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { FULL_RANGE, type PoolPlan, type RaisePool, raisePool } from '../../src/solana/raise-pool.ts'
import { type Mint, type MintOptions, run, tokenAccountOf, unitsIn } from './gold.ts'
import { raisesOn } from './new-raises.ts'
import { embeddedNode } from './node.ts'
import { sdk } from './raises.ts'
import { startService } from './service.ts'
import { signV1 } from './version1.ts'
import { addressOf, SOL } from './wallets.ts'

/** Half of what is raised, at the price of the raise. */
export const POOL = { quote_bps: 5_000, reserve: '2500000000000' } as const

interface Squat {
  of?: RaisePool
  feeBps?: number
  activationPoint?: bigint
  change?: (data: Buffer) => void
}
const SQUAT: PoolPlan = {
  ...{ quote_bps: 10_000, reserve: '1000', price: 'reserve', price_bps: 10_000 },
  ...{ fee_bps: 9_900, locked_bps: 0, when: 'after', opens_after_seconds: 0 },
}

const WSOL = { mint: spl.NATIVE_MINT, program: spl.TOKEN_PROGRAM_ID }

export type SettledRaises = Awaited<ReturnType<typeof settledRaises>>

/** A service with a token, its seller, buyers with SOL, and what a settlement leaves. */
export async function settledRaises(settings: object = {}, options: MintOptions = {}) {
  const service = await startService({ settings: { 'priority-fee': 'none', ...settings } })
  return settlementsOn(await raisesOn(service, options))
}

export async function settlementsOn(on: Awaited<ReturnType<typeof raisesOn>>) {
  const { chain, seller, mint, tokenAccount: token } = on
  const node = embeddedNode(chain)
  const read = (id: string): Raise => decodeRaise(id, chain.account(id))!
  const send = (instructions: Parameters<typeof run>[1], ...signers: Keypair[]) => {
    const landed = run(chain, instructions, signers)
    chain.advance(1)
    return landed
  }
  const place = (id: string, { publicKey }: Keypair) => {
    const owner = publicKey.toBase58()
    return { escrow: raiseEscrowAddress(id, owner, 0), owner, payer: owner }
  }
  const buyer = (): Keypair => {
    const key = Keypair.generate()
    chain.airdrop(addressOf(key), 100n * SOL)
    return key
  }
  const openAccount = (key: Keypair, of: Mint) => {
    const { publicKey } = key
    const account = tokenAccountOf(of, publicKey)
    const open = spl.createAssociatedTokenAccountIdempotentInstruction(
      publicKey,
      account,
      publicKey,
      of.mint,
      of.program,
    )
    expect(send([open], key).err).toBeNull()
    return account
  }
  /** The seller gives raw units of the token to a wallet or a vault. */
  const giveTo = (owner: PublicKey, amount: bigint) => {
    const [from, to] = [openAccount(seller, token), tokenAccountOf(token, owner)]
    const { mint, program } = token
    const open = spl.createAssociatedTokenAccountIdempotentInstruction(seller.publicKey, to, owner, mint, program)
    const sent = spl.createTransferInstruction(from, to, seller.publicKey, amount, [], program)
    expect(send([open, sent], seller).err).toBeNull()
  }
  /** Deposits so many lamports, and the fee on top. */
  const buy = (id: string, amount: bigint, key = buyer()): Keypair => {
    const raise = read(id)
    const account = tokenAccountOf(WSOL, key.publicKey)
    const lamports = amount + feeOnTop(amount, raise.rounds[0]!.feeBps)
    const landed = send(
      [
        spl.createAssociatedTokenAccountIdempotentInstruction(key.publicKey, account, key.publicKey, WSOL.mint),
        SystemProgram.transfer({ fromPubkey: key.publicKey, toPubkey: account, lamports }),
        spl.createSyncNativeInstruction(account),
        sdk(escrowInstruction(id, place(id, key))),
        sdk(depositInstruction(raise, { ...place(id, key), from: account.toBase58(), amount })),
      ],
      key,
    )
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    return key
  }
  /** Raw units that a claim pays. */
  const claim = (id: string, key: Keypair): bigint => {
    const to = openAccount(key, token)
    const before = unitsIn(chain, to) ?? 0n
    const landed = send([sdk(claimInstruction(read(id), { ...place(id, key), to: to.toBase58() }))], key)
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    return (unitsIn(chain, to) ?? 0n) - before
  }
  const path = (id: string) => `/v2/raises/${id}/settlements`
  const body = (more: object = {}) => ({ payer: addressOf(seller), ...more })
  /** Builds a settlement, lands it, and answers what the build said. */
  const settle = (id: string, more?: object) => settleBy(seller, id, more)
  const settleBy = async (key: Keypair, id: string, more: object = {}) => {
    const data = await on.built('POST', path(id), { payer: addressOf(key), ...more })
    const transaction = Buffer.from(data.transaction, 'base64')
    const landed = chain.send(signV1(transaction, [key]))
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    chain.advance(1)
    return { ...data, bytes: transaction.length }
  }
  const refusedSettle = (id: string, more?: object) => on.refused('POST', path(id), body(more))
  const reasonAgainst = async (id: string) => (await on.ask('POST', path(id), body())).json.error.details.reason
  const wrapped = (owner: PublicKey = seller.publicKey) => unitsIn(chain, tokenAccountOf(WSOL, owner)) ?? 0n
  return {
    ...on,
    ...{ node, read, buyer, buy, claim, settle, settleBy, refusedSettle, reasonAgainst, send, wrapped },
    tokens: () => on.units(seller),
    poolAddress: () => dammV2PoolAddress({ mint }),
    pool: (creator = addressOf(seller)) => readPairPool(node, { mint, quote: WRAPPED_SOL, creator }),
    end: (id: string) => on.at(Number(read(id).endsAt) + 1),
    vaults: (id: string) => {
      const raise = read(id)
      const held = (address: string) => unitsIn(chain, new PublicKey(address)) ?? 0n
      return { tokens: held(raise.baseVault), quote: held(raise.quoteVault) }
    },
    give: (to: Keypair, amount: bigint) => giveTo(to.publicKey, amount),
    giveTo: (to: string, amount: bigint) => giveTo(new PublicKey(to), amount),
    /**
     * Tries to open the pair's only pool in the name of `creator`, by default with 1,000 raw units at another price.
     * Answers the error.
     */
    async squat(by: Keypair, creator = by, { of, feeBps = 9_900, activationPoint, change }: Squat = {}) {
      const nft = Keypair.generate()
      const pool = await freshPool({ mint })
      const silly = raisePool(SQUAT, { raised: 1_000_000n, price: { quote: 1_000_000n, tokens: 1_000n } })
      if (typeof silly === 'string') throw new Error(silly)
      const [tokenA, tokenB] = [openAccount(by, token), openAccount(by, WSOL)].map((account) => account.toBase58())
      const opened = await initializePool(
        { creator: addressOf(by), positionNft: addressOf(nft), feeBps },
        pool,
        { ...FULL_RANGE, ...(of ?? silly) },
        { tokenA: tokenA!, tokenB: tokenB! },
        activationPoint,
      )
      change?.(opened.data)
      // The creator of a pool does not sign.
      opened.keys[0]!.pubkey = creator.publicKey
      const wrap = await wrapping(addressOf(by), WRAPPED_SOL, tokenB!, 2_000_000n)
      return send([...wrap, opened], by, nft).err
    },
    /** Opens a position in the pool, locks it for good and gives it to the seller. */
    async donate(by: Keypair, liquidity: bigint) {
      const nft = Keypair.generate()
      const pool = { ...(await freshPool({ mint })), tokenADecimals: 9, tokenBDecimals: 9 }
      const position = { ...(await positionAddresses(addressOf(nft))), nftMint: addressOf(nft) }
      const maximum = { amountA: 1_000_000_000n, amountB: 1_000_000n }
      const act = { payer: addressOf(by), pool, position, refreshes: false, liquidity, maximum }
      for (const build of [
        (recentBlockhash: string) => buildPositionOpening({ ...act, nftMint: addressOf(nft), recentBlockhash }),
        (recentBlockhash: string) => buildPermanentLock({ ...act, recentBlockhash }),
        (recentBlockhash: string) =>
          buildPositionTransfer({ ...act, positions: [position], newOwner: addressOf(seller), recentBlockhash }),
      ]) {
        const { transaction } = await build(chain.latestBlockhash().blockhash)
        const landed = chain.send(signV1(Buffer.from(transaction), [by, nft]))
        expect(landed.err, landed.logs.join('\n')).toBeNull()
      }
      chain.advance(1)
    },
    /** Buys from the pool. Answers the error. */
    async trade(amount: bigint) {
      const [trader, pool] = [buyer(), await freshPool({ mint })]
      const swap = { payer: addressOf(trader), pool, side: 'buy', amount, minimumOut: 0n } as const
      const { blockhash: recentBlockhash } = chain.latestBlockhash()
      const built = await buildDammV2Swap({ ...swap, recentBlockhash })
      const landed = chain.send(signV1(Buffer.from(built.transaction), [trader]))
      chain.advance(1)
      return landed.err
    },
    /** Opens the wrapped SOL account of the seller, so that a withdrawal need not. */
    openWrapped: () => openAccount(seller, WSOL),
  }
}
