/** Each transaction of a lock of any mint, byte for byte as the real program took it. */
import * as spl from '@solana/spl-token'
import { describe, expect, it } from 'vitest'
import { escrowAddress, type LockActs, onLock } from '../../src/chain/programs/jupiter-lock/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { addressOf, createMint, DAY, give, lacksLock } from '../support/gold.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { openTestChain, PROGRAMS_DIR, SOL, START_MS, type TestChain } from '../support/local-chain.ts'
import { buildLock } from '../support/lock-builds.ts'
import { landOn } from '../support/squads.ts'

type Key = ReturnType<typeof goldenKey>
const [CREATOR, RECIPIENT, BASE, MINT, OTHER] = [81, 82, 83, 84, 85].map(goldenKey) as [Key, Key, Key, Key, Key]
const KEYS = [CREATOR, RECIPIENT, BASE]
const mint = addressOf(MINT)
const STARTS = BigInt(START_MS / 1000 + DAY)
const TEXTS = { title: 'Team', description: 'Vesting of the team' }
type Program = 'spl' | 'token2022'

/** A tenth at the cliff, and the rest in nine periods; both parties may cancel it and change its recipient. */
const TERMS = {
  ...{ startTime: STARTS, cliffTime: STARTS, frequency: BigInt(DAY), cliffAmount: 100n, amountPerPeriod: 100n },
  ...{ periods: 9n, updateRecipientMode: 3, cancelMode: 3 },
}

const by = (key: Key, more: object) => ({ payer: addressOf(key), recentBlockhash: GOLDEN_BLOCKHASH, ...more })
const address = await escrowAddress(addressOf(BASE))
const PARTIES = { creator: addressOf(CREATOR), recipient: addressOf(RECIPIENT) }

const creation = (tokenProgram: Program, more: object = {}, texts?: typeof TEXTS) =>
  buildLock({
    ...by(CREATOR, more),
    texts,
    ...{ base: addressOf(BASE), recipient: addressOf(RECIPIENT), mint, tokenProgram, terms: TERMS },
  })

interface Case {
  build(program: Program, more: object): Promise<UnsignedTransaction>
  /** Days after its start, and what has landed before; without it, the lock. */
  days?: number
  before?(program: Program): Promise<UnsignedTransaction>[]
}

/** The transaction with which a wallet does something to the lock. */
const acting =
  (key: Key, acts: (of: LockActs, payer: string) => ReturnType<LockActs['close']>) =>
  (tokenProgram: Program, more: object = {}) =>
    onLock(by(key, more), { address, mint, tokenProgram }, (of) => acts(of, addressOf(key)))
const cancelling = (key: Key) => acting(key, ({ cancel }, payer) => cancel(payer, PARTIES))
const claiming = (amount: bigint) => acting(RECIPIENT, ({ claim }, payer) => claim(payer, payer, amount))

const CASES: Record<string, Case> = {
  create: { build: (program, more) => creation(program, more, TEXTS), before: () => [] },
  claim: { build: claiming(300n), days: 2 },
  'cancel-by-creator': { build: cancelling(CREATOR), days: 2 },
  'cancel-by-recipient': { build: cancelling(RECIPIENT), days: 2 },
  'change-recipient': {
    build: acting(CREATOR, ({ changeRecipient }, payer) => changeRecipient(payer, addressOf(OTHER))),
  },
  entitle: { build: acting(CREATOR, ({ entitle }, payer) => entitle(payer, TEXTS)) },
  close: {
    build: acting(CREATOR, ({ close }, payer) => close(payer)),
    days: 10,
    before: (program) => [creation(program), claiming(1_000n)(program)],
  },
}

/** A chain with the mint, of which the creator holds 1,000, and what has landed there. */
async function open(program: Program, { days = 0, before = (of) => [creation(of)] }: Case): Promise<TestChain> {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  for (const key of [CREATOR, RECIPIENT]) test.chain.airdrop(addressOf(key), 100n * SOL)
  const id = program === 'spl' ? spl.TOKEN_PROGRAM_ID : spl.TOKEN_2022_PROGRAM_ID
  const token = createMint(test.chain, CREATOR, { program: id, key: MINT })
  give(test.chain, CREATOR, token, CREATOR.publicKey, 1_000n)
  const [first, ...rest] = await Promise.all(before(program))
  if (first !== undefined) land(test, first)
  if (days > 0) test.wall.ms += (days + 1) * DAY * 1_000
  for (const transaction of rest) land(test, transaction)
  return test
}

function land(test: TestChain, transaction: UnsignedTransaction): void {
  const { err, logs } = landOn(test, transaction, KEYS)
  expect(err, logs.join('\n')).toBeNull()
}

describe('the golden transaction of a lock is as recorded', () => {
  for (const [name, each] of Object.entries(CASES)) {
    it.skipIf(RECORDING && lacksLock !== '')(name, async () => {
      for (const program of ['spl', 'token2022'] as const) {
        const [one, two] = [await each.build(program, {}), await each.build(program, { messageConfig: GOLDEN_CONFIG })]
        await expectGolden(`locks/${program}-${name}`, one.transaction, () => open(program, each))
        await expectGolden(`locks/v1-${program}-${name}`, two.transaction, () => open(program, each))
      }
    })
  }
})
