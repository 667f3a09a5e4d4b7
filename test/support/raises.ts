/** Raises on an embedded chain with the real program: who takes part, their acts, and what they hold. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { expect } from 'vitest'
import {
  claimableNow,
  claimInstruction,
  closeEscrowInstruction,
  creationInstruction,
  creatorGains,
  creatorWithdrawalInstruction,
  decodeRaise,
  decodeRaiseEscrow,
  depositInstruction,
  escrowInstruction,
  feeInstruction,
  fixedPriceInstruction,
  type Raise,
  type RaiseCreation,
  type RaiseEscrow,
  type RaisePlace,
  type RaiseRound,
  type RaiseTerms,
  raiseEscrowAddress,
  raisePlace,
  raiseStateAt,
  refundableNow,
  refundInstruction,
  unsoldInstruction,
  withdrawalInstruction,
} from '../../src/chain/programs/presale/index.ts'
import { deriveAddress } from '../../src/solana/program-addresses.ts'
import { PRESALE, PRESALE_SEEDS } from '../../src/solana/programs/presale.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { createMint, give, type Mint, type MintOptions, run, tokenAccountOf, unitsIn } from './gold.ts'
import { hasProgram, type TestChain } from './local-chain.ts'
import { addressOf } from './wallets.ts'

/** Part of titles: what is lacking to run raises. */
export const lacksPresale = hasProgram(PROGRAMS.presale.id) ? '' : 'needs Meteora Presale in the program cache'

export interface RaiseWish extends Partial<Omit<RaiseTerms, 'startsAt' | 'endsAt' | 'rounds'>> {
  mint?: MintOptions
  quote?: MintOptions
  /** Seconds from now. */
  lasts?: number
  rounds: (Pick<RaiseRound, 'supply'> & Partial<RaiseRound>)[]
  /** Raw units of the token that the payer keeps. */
  spare?: bigint
}

const QUOTE = 10n ** 15n

/** One instruction of web3.js. */
export const sdk = ({ program, accounts, data }: PlainInstruction): TransactionInstruction => ({
  programId: new PublicKey(program),
  keys: accounts.map(({ address, isSigner, isWritable }) => ({ pubkey: new PublicKey(address), isSigner, isWritable })),
  data: Buffer.from(data),
})

/** Lands instructions; answers the code of the program's error, another error, or null. */
export function errorOf(test: TestChain, instructions: TransactionInstruction[], signers: Keypair[]): unknown {
  const { err } = run(test.chain, instructions, signers)
  // The next transaction has another blockhash, so that two equal ones are not the same.
  test.wall.ms += 1_000
  const custom = (err as { InstructionError?: [number, { Custom?: number }] } | null)?.InstructionError?.[1]?.Custom
  return custom ?? err
}

/** Creates a raise whose quote is a mint of its own, with a creator that pays. Times are Unix seconds of the chain. */
export async function openRaise(test: TestChain, wish: RaiseWish) {
  const { chain } = test
  const creator = test.wallet()
  const base = Keypair.generate()
  const now = () => BigInt(chain.unixTimestamp())
  const supply = wish.rounds.reduce((sum, round) => sum + round.supply, 0n)
  const token = createMint(chain, creator, wish.mint)
  const quote = createMint(chain, creator, { isFreezable: false, ...wish.quote })
  const tokenAccounts = { creator: give(chain, creator, token, creator.publicKey, 2n * supply + (wish.spare ?? 0n)) }
  give(chain, creator, quote, creator.publicKey, 1n)
  const [tokenProgram, quoteTokenProgram] = [token, quote].map(({ program }) =>
    program.equals(spl.TOKEN_PROGRAM_ID) ? ('spl' as const) : ('token2022' as const),
  ) as ['spl' | 'token2022', 'spl' | 'token2022']
  const place = raisePlace({
    ...{ base: addressOf(base), mint: token.mint.toBase58(), quoteMint: quote.mint.toBase58() },
    ...{ tokenProgram, quoteTokenProgram },
  })
  const [mode, endsAt] = [wish.mode ?? 'fixed_price', now() + BigInt(wish.lasts ?? 3_600)]
  const creation: RaiseCreation = {
    ...{
      mode,
      allowlist: wish.allowlist ?? 'none',
      maximum: 1_000_000n,
      minimum: 1n,
      startsAt: 0n,
      endsAt,
      unsold: wish.unsold ?? 'return',
    },
    ...{ earlyEnd: true, releaseBps: 10_000, releaseAt: endsAt, lockSeconds: 0n, vestingSeconds: 0n },
    ...wish,
    ...{ creator: addressOf(creator), payer: addressOf(creator), from: tokenAccounts.creator.toBase58() },
    price: mode === 'fixed_price' ? (wish.price ?? 1n << 64n) : null,
    rounds: wish.rounds.map((round) => ({ buyerMin: 1n, buyerMax: wish.maximum ?? 1_000_000n, feeBps: 0, ...round })),
  }
  const { price } = creation
  const args =
    price === null
      ? []
      : [fixedPriceInstruction(place, { ...creation, price, withdrawable: wish.withdrawable ?? true })]
  const creating = [...args, creationInstruction(place, creation)].map(sdk)
  const error = errorOf(test, creating, [creator, base])
  return { error, ...raiseActs(test, { place, token, quote, creator }) }
}

export type OpenRaise = Awaited<ReturnType<typeof openRaise>>

export interface RaiseParties {
  place: RaisePlace
  token: Mint
  quote: Mint
  creator: Keypair
}

/** A buyer with the token accounts of a raise. */
export interface Buyer {
  key: Keypair
  round: number
  tokens: PublicKey
  quotes: PublicKey
}

/** Acts answer the code of the program's error, or null. */
export function raiseActs(test: TestChain, { place, token, quote, creator }: RaiseParties) {
  const { chain } = test
  const presale = place.address
  const read = (): Raise => decodeRaise(presale, chain.account(presale))!
  const placeOf = ({ key, round }: Buyer) => {
    const owner = addressOf(key)
    return { escrow: raiseEscrowAddress(presale, owner, round), owner, payer: owner }
  }
  const [creatorsTokens, creatorsQuote] = [token, quote].map((mint) =>
    tokenAccountOf(mint, creator.publicKey).toBase58(),
  )
  const act = (instructions: PlainInstruction[], ...signers: Keypair[]) => errorOf(test, instructions.map(sdk), signers)
  return {
    ...{ test, place, token, quote, creator, read, act, placeOf },
    now: () => BigInt(chain.unixTimestamp()),
    /** A wallet with both token accounts, and quote to spend. */
    buyer(round = 0, units = QUOTE): Buyer {
      const key = test.wallet()
      const quotes = give(chain, creator, quote, key.publicKey, units)
      return { key, round, quotes, tokens: give(chain, creator, token, key.publicKey, 0n) }
    },
    escrowOf: (buyer: Buyer): RaiseEscrow | null => {
      const { escrow } = placeOf(buyer)
      return decodeRaiseEscrow(escrow, chain.account(escrow))
    },
    join: (buyer: Buyer) => act([escrowInstruction(presale, placeOf(buyer))], buyer.key),
    deposit: (buyer: Buyer, amount: bigint) =>
      act([depositInstruction(place, { ...placeOf(buyer), from: buyer.quotes.toBase58(), amount })], buyer.key),
    withdraw: (buyer: Buyer, amount: bigint) =>
      act([withdrawalInstruction(place, { ...placeOf(buyer), to: buyer.quotes.toBase58() }, amount)], buyer.key),
    refund: (buyer: Buyer) =>
      act([refundInstruction(place, { ...placeOf(buyer), to: buyer.quotes.toBase58() })], buyer.key),
    claim: (buyer: Buyer) =>
      act([claimInstruction(place, { ...placeOf(buyer), to: buyer.tokens.toBase58() })], buyer.key),
    close: (buyer: Buyer) => act([closeEscrowInstruction(presale, placeOf(buyer))], buyer.key),
    /** Opens the escrow of a buyer in a raise with operators, of whom the creator is one. */
    admit(buyer: Buyer, cap: bigint) {
      const by = addressOf(creator)
      const operator = deriveAddress(PRESALE.id, ...PRESALE_SEEDS.operator(by, by)).address
      const operators = { operator, operator_owner: by }
      const first = { ...operators, creator: by }
      const isNew = chain.account(operator) === null
      const own = { presale, ...placeOf(buyer), ...operators, payer: by }
      const terms = { registry_index: buyer.round, deposit_cap: cap, padding: new Uint8Array(32) }
      const escrow = PRESALE.instruction('create_permissioned_escrow_with_creator', own, terms)
      return act([...(isNew ? [PRESALE.instruction('create_operator', first, {})] : []), escrow], creator)
    },
    creatorWithdraw() {
      const raise = read()
      const state = raiseStateAt(raise, BigInt(chain.unixTimestamp())) === 'failed' ? 'failed' : 'completed'
      const to = state === 'failed' ? creatorsTokens! : creatorsQuote!
      return act([creatorWithdrawalInstruction(raise, state, to)], creator)
    },
    collectFees: () => act([feeInstruction(read(), creatorsQuote!)], creator),
    settleUnsold: (by: Keypair = creator) => act([unsoldInstruction(place, creatorsTokens!)], by),
    tokensOf: ({ tokens }: Buyer): bigint => unitsIn(chain, tokens) ?? 0n,
    quoteOf: ({ quotes }: Buyer): bigint => unitsIn(chain, quotes) ?? 0n,
    /** What the creator and the vaults hold. */
    held: () => {
      const units = (address: string) => unitsIn(chain, new PublicKey(address)) ?? 0n
      return {
        creator: { tokens: units(creatorsTokens!), quote: units(creatorsQuote!) },
        vaults: { tokens: units(place.baseVault), quote: units(place.quoteVault) },
      }
    },
    skip(seconds: number | bigint) {
      test.wall.ms += Number(seconds) * 1_000
    },
  }
}

export const landed = (error: unknown) => expect(error).toBeNull()

/** What stays in the vaults for good after every claim, refund and withdrawal, because shares are rounded down. */
export function dustOf(
  raise: Raise,
  owns: readonly Parameters<typeof claimableNow>[1][],
): { tokens: bigint; quote: bigint } {
  const { raised, fees, returned, unsold } = creatorGains(raise)
  let [tokens, quote] = [raise.supply - returned - unsold, raise.deposited + raise.fees - raised - fees]
  for (const own of owns) {
    const { deposit, fee } = refundableNow(raise, { ...own, isRefunded: false }, raise.endsAt)
    tokens -= claimableNow(raise, own, raise.endsAt).total
    quote -= deposit + fee
  }
  return { tokens, quote }
}
