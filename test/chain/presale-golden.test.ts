/** Each transaction of a raise, byte for byte as the real program took it. */
import { createHash } from 'node:crypto'
import * as spl from '@solana/spl-token'
import { describe, expect, it } from 'vitest'
import { freshPool, openRaisedPool } from '../../src/chain/programs/damm-v2/index.ts'
import {
  claimInstruction,
  closeEscrowInstruction,
  closeFixedPriceInstruction,
  closeServerMetadataInstruction,
  creationInstruction,
  creatorWithdrawalInstruction,
  depositInstruction,
  escrowInstruction,
  feeInstruction,
  fixedPriceInstruction,
  merkleRootAddress,
  provenEscrowInstruction,
  type RaiseCreation,
  raiseEscrowAddress,
  raisePlace,
  refundInstruction,
  rootInstruction,
  serverMetadataAddress,
  serverMetadataInstruction,
  unsoldInstruction,
  withdrawalInstruction,
} from '../../src/chain/programs/presale/index.ts'
import { sdkInstructions } from '../../src/chain/programs/sdk-instruction.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { addressBytes } from '../../src/solana/addresses.ts'
import { associatedTokenAddress } from '../../src/solana/program-addresses.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { type PoolPlan, raisePool } from '../../src/solana/raise-pool.ts'
import { HAS_DAMM_V2 } from '../support/damm-v2.ts'
import { addressOf, createMint, give } from '../support/gold.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { openTestChain, PROGRAMS_DIR, SOL, START_MS, type TestChain } from '../support/local-chain.ts'
import { lacksPresale } from '../support/raises.ts'
import { landOn } from '../support/squads.ts'

type Key = ReturnType<typeof goldenKey>
const [CREATOR, BUYER, BASE, MINT, QUOTE] = [91, 92, 93, 94, 95].map(goldenKey) as [Key, Key, Key, Key, Key]
const KEYS = [CREATOR, BUYER, BASE]
const [creator, buyer, mint, quoteMint] = [CREATOR, BUYER, MINT, QUOTE].map(addressOf) as [
  string,
  string,
  string,
  string,
]
const HOUR = 3_600
const ENDS = BigInt(START_MS / 1_000 + 2 * HOUR)
const sdk = await sdkInstructions()

/** Plain raises sell a token of SPL Token, those with an allowlist one of Token-2022. */
const place = (tokenProgram: 'spl' | 'token2022') =>
  raisePlace({ base: addressOf(BASE), mint, quoteMint, tokenProgram, quoteTokenProgram: 'spl' })
const [PLAIN, LISTED] = [place('spl'), place('token2022')]
const { address } = PLAIN
const tokensOf = (owner: string, program = TOKEN_PROGRAM) => associatedTokenAddress(owner, mint, program)
const quoteOf = (owner: string) => associatedTokenAddress(owner, quoteMint, TOKEN_PROGRAM)

const TERMS: RaiseCreation = {
  ...{ mode: 'pro_rata', allowlist: 'none', maximum: 1_000n, minimum: 100n, startsAt: 0n, endsAt: ENDS },
  ...{ unsold: 'return', earlyEnd: false, releaseBps: 0, releaseAt: ENDS, lockSeconds: 60n, vestingSeconds: 60n },
  ...{ creator, payer: creator, from: tokensOf(creator), price: null },
  rounds: [{ supply: 5_000n, buyerMin: 10n, buyerMax: 1_000n, feeBps: 100 }],
}
const PRICE = 1n << 63n
const FIXED: RaiseCreation = {
  ...{ ...TERMS, mode: 'fixed_price', allowlist: 'merkle', unsold: 'burn', earlyEnd: true, price: PRICE },
  ...{ releaseBps: 10_000, lockSeconds: 0n, vestingSeconds: 0n, from: tokensOf(creator, TOKEN_2022_PROGRAM) },
  rounds: [250, 0].map((feeBps) => ({ supply: 2_000n, buyerMin: 1n, buyerMax: 1_000n, feeBps })),
}
const plain = (): PlainInstruction[] => [creationInstruction(PLAIN, TERMS)]
const listed = (): PlainInstruction[] => [
  fixedPriceInstruction(LISTED, { payer: creator, price: PRICE, withdrawable: true }),
  creationInstruction(LISTED, FIXED),
]

const sha = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const [CAP, SIBLING] = [600n, new Uint8Array(32).fill(9)]
const capBytes = Buffer.alloc(8)
capBytes.writeBigUInt64LE(CAP)
/** Wallet, round 1 and cap, beside another leaf. */
const LEAF = sha(Buffer.of(0), sha(addressBytes(buyer), Buffer.of(1), capBytes))
const ROOT = sha(Buffer.of(1), ...[LEAF, SIBLING].sort(Buffer.compare))
const [config, metadata] = [merkleRootAddress(address, 3n), serverMetadataAddress(address)]
const root = () => [rootInstruction(address, { creator, config, root: ROOT, version: 3n })]
const url = 'https://launch.example/raise'
const served = () => [serverMetadataInstruction(address, { creator, metadata, url })]

const escrow = raiseEscrowAddress(address, buyer)
const own = { escrow, owner: buyer, payer: buyer }
const provenEscrow = raiseEscrowAddress(address, buyer, 1)
const deposit = (amount: bigint, to = escrow) =>
  depositInstruction(PLAIN, { escrow: to, payer: buyer, from: quoteOf(buyer), amount })
const joined = (amount: bigint) => [escrowInstruction(address, own), deposit(amount)]
const proven = () => [
  provenEscrowInstruction(address, { ...own, escrow: provenEscrow }, { round: 1, cap: CAP, proof: [SIBLING], config }),
  deposit(CAP, provenEscrow),
]
const RAISE = { ...PLAIN, creator }

interface Case {
  by: string
  acts: PlainInstruction[]
  /** What has landed before, by creator and buyer in turn. */
  before?: [creator: PlainInstruction[], buyer?: PlainInstruction[]][]
  /** Hours after that. */
  hours?: number
  allowlist?: boolean
}

const SOLD: Pick<Case, 'before' | 'hours'> = { before: [[plain(), joined(1_000n)]], hours: 3 }
const FAILED: Pick<Case, 'before' | 'hours'> = { before: [[plain(), joined(50n)]], hours: 3 }

const CASES: Record<string, Case> = {
  create: { by: creator, acts: plain() },
  'create-first-come': { by: creator, acts: [creationInstruction(PLAIN, { ...TERMS, mode: 'first_come' })] },
  'create-fixed-price': { by: creator, acts: listed(), allowlist: true },
  'close-price': {
    ...{ by: creator, acts: [closeFixedPriceInstruction(LISTED.fixedPriceArgs, creator)] },
    ...{ before: [[listed()]], allowlist: true },
  },
  open: { by: creator, acts: [...root(), ...served()], before: [[listed()]], allowlist: true },
  'close-metadata': {
    ...{ by: creator, acts: [closeServerMetadataInstruction(address, { creator, metadata })] },
    ...{ before: [[[...listed()]], [served()]], allowlist: true },
  },
  deposit: { by: buyer, acts: joined(400n), before: [[plain()]] },
  'deposit-proven': { by: buyer, acts: proven(), before: [[listed()], [root()]], allowlist: true },
  withdraw: {
    ...{ by: buyer, acts: [withdrawalInstruction(PLAIN, { ...own, to: quoteOf(buyer) }, 300n)] },
    before: [[plain(), joined(400n)]],
  },
  claim: { by: buyer, acts: [claimInstruction(PLAIN, { ...own, to: tokensOf(buyer) })], ...SOLD },
  'claim-and-close': {
    ...{ by: buyer, ...SOLD },
    acts: [claimInstruction(PLAIN, { ...own, to: tokensOf(buyer) }), closeEscrowInstruction(address, own)],
  },
  refund: { by: buyer, acts: [refundInstruction(PLAIN, { ...own, to: quoteOf(buyer) })], ...FAILED },
  'creator-withdraw': {
    ...{ by: creator, ...SOLD },
    acts: [creatorWithdrawalInstruction(RAISE, 'completed', quoteOf(creator)), feeInstruction(RAISE, quoteOf(creator))],
  },
  'creator-withdraw-failed': {
    ...{ by: creator, ...FAILED },
    acts: [creatorWithdrawalInstruction(RAISE, 'failed', tokensOf(creator))],
  },
  unsold: {
    ...{ by: buyer, allowlist: true, before: [[listed()], [root(), proven()]], hours: 3 },
    acts: [unsoldInstruction(LISTED, tokensOf(creator, TOKEN_2022_PROGRAM))],
  },
}

const built = (payer: string, acts: PlainInstruction[], more: object = {}): Promise<UnsignedTransaction> =>
  compileUnsigned({ payer, recentBlockhash: GOLDEN_BLOCKHASH, ...more }, acts.map(sdk))

/** A chain with the tokens of the creator and the quote of the buyer, and what has landed there. */
async function open({ before = [], hours = 0, allowlist = false }: Case): Promise<TestChain> {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  for (const key of [CREATOR, BUYER]) test.chain.airdrop(addressOf(key), 100n * SOL)
  const program = allowlist ? spl.TOKEN_2022_PROGRAM_ID : spl.TOKEN_PROGRAM_ID
  const token = createMint(test.chain, CREATOR, { program, key: MINT })
  const quote = createMint(test.chain, CREATOR, { key: QUOTE })
  for (const key of [CREATOR, BUYER]) {
    give(test.chain, CREATOR, token, key.publicKey, 100_000n)
    give(test.chain, CREATOR, quote, key.publicKey, 100_000n)
  }
  for (const [creators, buyers] of before) {
    await land(test, creator, creators)
    if (buyers !== undefined) await land(test, buyer, buyers)
  }
  test.wall.ms += hours * HOUR * 1_000
  return test
}

async function land(test: TestChain, payer: string, acts: PlainInstruction[]): Promise<void> {
  const { err, logs } = landOn(test, await built(payer, acts), KEYS)
  expect(err, logs.join('\n')).toBeNull()
}

const lacksSettlement = lacksPresale || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2')
const PLAN: PoolPlan = {
  ...{ quote_bps: 5_000, reserve: '2500', price: 'raise', price_bps: 10_000, fee_bps: 100 },
  ...{ locked_bps: 10_000, when: 'after', opens_after_seconds: 600 },
}

/** The withdrawal, and the pool of half of it with its liquidity locked for good. */
async function settlement(more: object): Promise<UnsignedTransaction> {
  const of = raisePool(PLAN, { raised: 1_000n, price: { quote: 1_000n, tokens: 5_000n } })
  if (typeof of === 'string') throw new Error(of)
  const pool = await freshPool({ mint, quote: quoteMint })
  const opening = await openRaisedPool({ creator, pool, of, positionNft: addressOf(goldenKey(96)), feeBps: 100 })
  const withdrawal = sdk(creatorWithdrawalInstruction(RAISE, 'completed', quoteOf(creator)))
  return compileUnsigned({ payer: creator, recentBlockhash: GOLDEN_BLOCKHASH, ...more }, [withdrawal, ...opening])
}

describe('the golden transaction of a raise is as recorded', () => {
  for (const [name, each] of Object.entries(CASES)) {
    it.skipIf(RECORDING && lacksPresale !== '')(name, async () => {
      const [one, two] = [
        await built(each.by, each.acts),
        await built(each.by, each.acts, { messageConfig: GOLDEN_CONFIG }),
      ]
      await expectGolden(`raises/${name}`, one.transaction, () => open(each))
      await expectGolden(`raises/v1-${name}`, two.transaction, () => open(each))
    })
  }

  for (const version of [0, 1] as const) {
    it.skipIf(RECORDING && lacksSettlement !== '')(`settle, version ${version}`, async ({ annotate }) => {
      const { transaction } = await settlement(version === 1 ? { messageConfig: GOLDEN_CONFIG } : {})
      const file = `raises/${version === 1 ? 'v1-' : ''}settle`
      const bytes = await expectGolden(file, transaction, () => open({ by: creator, acts: [], ...SOLD }))
      await annotate(`${bytes} bytes`, 'size')
    })
  }
})
