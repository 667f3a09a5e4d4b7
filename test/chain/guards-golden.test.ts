/** Guarded transactions, byte for byte as Lighthouse took them, so that its guards are fixed where the program is missing. */
import { describe, expect, it } from 'vitest'
import { conditionTexts } from '../../src/chain/instructions/guard-words.ts'
import { type Guard, lamportsFloor, readGuards, tokenGuard, withGuards } from '../../src/solana/guards.ts'
import { instructionsIn } from '../../src/solana/message-instructions.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { associatedTokenAddress } from '../../src/solana/program-addresses.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { ASSOCIATED_TOKEN } from '../../src/solana/programs/associated-token.ts'
import { SYSTEM } from '../../src/solana/programs/system.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { TOKEN } from '../../src/solana/programs/token.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { plainTransaction, putTokens } from '../support/guarded-transactions.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL } from '../support/local-chain.ts'

const [wallet, other, mint, own] = [91, 92, 93, 94].map((seed) => goldenKey(seed).publicKey.toBase58()) as [
  string,
  string,
  string,
  string,
]
const account = associatedTokenAddress(wallet, mint, TOKEN_PROGRAM)
const theirs = associatedTokenAddress(other, mint, TOKEN_PROGRAM)

const pay = SYSTEM.instruction('transfer', { source: wallet, destination: other }, { lamports: SOL })
const burn = (from: string, amount: bigint) =>
  TOKEN.instruction('burn', { account: from, mint, authority: wallet, signers: [] }, { amount })
const fill = TOKEN.instruction(
  'transferChecked',
  { source: own, mint, destination: account, authority: wallet, signers: [] },
  { amount: 70n, decimals: 6 },
)
const open = (holder: string, address: string) => {
  const accounts = { source: wallet, account: address, wallet: holder, mint, tokenProgram: TOKEN_PROGRAM }
  return ASSOCIATED_TOKEN.instruction('createIdempotent', { ...accounts, systemProgram: SYSTEM_PROGRAM }, {})
}
const RENT = 2_039_280n
const LENT = `${wallet} loses at most 0.00203928 SOL`
const STAYS = `${wallet} stays a wallet of the System program without data`
const kept = (address: string) => [
  `${address} stays the associated account of its owner`,
  `the delegate of ${address} is nobody`,
  `only its owner may close ${address}`,
  `${address} is not frozen`,
]

interface Case {
  instructions: PlainInstruction[]
  guards: Guard[]
  /** What people read before they sign. */
  words: string[]
  /** Where the tokens of the wallet are. */
  holding: string
}

const CASES: Record<string, Case> = {
  wallet: {
    instructions: [pay],
    guards: [{ kind: 'wallet', address: wallet, change: -SOL }],
    words: [`${wallet} loses at most 1 SOL`, STAYS],
    holding: account,
  },
  'token-account': {
    instructions: [burn(account, 40n), open(other, theirs)],
    guards: [{ kind: 'wallet', address: wallet, change: -RENT }, tokenGuard(account, { change: -40n })],
    words: [LENT, STAYS, `${account} loses at most 40 raw units`, ...kept(account)],
    holding: account,
  },
  // An account that is not an associated one, and one that the transaction opens.
  'opened-account': {
    instructions: [open(wallet, account), fill],
    guards: [
      { kind: 'wallet', address: wallet, change: -RENT },
      tokenGuard(own, { change: -70n, owner: wallet, mint }),
      tokenGuard(account, { change: null, least: 70n }),
    ],
    words: [
      ...[LENT, STAYS, `${own} loses at most 70 raw units`, `${wallet} owns ${own}`, `${own} holds tokens of ${mint}`],
      ...kept(own).slice(1),
      ...[...kept(account), `${account} holds at least 70 raw units`],
    ],
    holding: own,
  },
}

describe('the golden transaction with the guards of', () => {
  for (const [name, { instructions, guards, words, holding }] of Object.entries(CASES)) {
    it.skipIf(RECORDING && !hasProgram(PROGRAMS.lighthouse.id))(`${name} is as recorded`, async () => {
      const arrange = async () => {
        const test = await openTestChain({ programsDir: PROGRAMS_DIR })
        for (const address of [wallet, other]) test.chain.airdrop(address, 100n * SOL)
        putTokens(test.chain, holding, { mint, owner: wallet, amount: 100n })
        return test
      }
      const envelope = { payer: wallet, recentBlockhash: GOLDEN_BLOCKHASH }
      for (const [file, more] of [
        [`guards/${name}`, {}],
        [`guards/v1-${name}`, { config: GOLDEN_CONFIG }],
      ] as const) {
        const transaction = withGuards(plainTransaction({ ...envelope, ...more }, instructions), guards)
        await expectGolden(file, transaction, arrange)
        const { message } = decodeWireTransaction(transaction)
        expect(readGuards(wallet, readable(message)).guards).toEqual(guards)
        expect(conditionTexts(wallet, readable(message)).flat()).toEqual(words)
      }
    })
  }

  it.skipIf(RECORDING && !hasProgram(PROGRAMS.lighthouse.id))('an absolute bound is as recorded', async () => {
    const arrange = async () => {
      const test = await openTestChain({ programsDir: PROGRAMS_DIR })
      test.chain.airdrop(wallet, 100n * SOL)
      return test
    }
    const floor = lamportsFloor(wallet, 90n * SOL)
    const transaction = plainTransaction({ payer: wallet, recentBlockhash: GOLDEN_BLOCKHASH }, [pay, floor])
    await expectGolden('guards/floor', transaction, arrange)
    const { message } = decodeWireTransaction(transaction)
    expect(conditionTexts(wallet, readable(message)).flat()).toEqual([`lamports of ${wallet} is at least 90 SOL`])
  })
})

const readable = (message: Parameters<typeof instructionsIn>[0]) =>
  instructionsIn(message).map(({ program, accounts, data }) => ({
    program,
    accounts: accounts.map(({ address }) => address),
    data: Buffer.from(data, 'hex'),
  }))
