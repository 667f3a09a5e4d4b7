/** Each transaction for Squads v4, byte for byte as the real program took it, so that it is guarded without the program. */
import { type Keypair, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildExecution,
  buildMultisigCreation,
  buildProposalCreation,
  buildReclaim,
  buildVote,
} from '../../src/chain/programs/squads/index.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import {
  ephemeralSignersOf,
  innerMessageOf,
  multisigAddress,
  type PinnedMessage,
  vaultAddress,
} from '../../src/solana/squads/index.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey } from '../support/golden.ts'
import { openTestChain, PROGRAMS_DIR, SOL, V1_CONFIG } from '../support/local-chain.ts'
import { addressOf, keyOf, landOn, member } from '../support/squads.ts'

/** Treasury of the program's settings, to which a new multisig pays nothing. */
const TREASURY = '5DH2e3cJmFpyi6mk65EGFediunm4ui6BiKNUNrhWtD1b'
const [PROPOSER, A, B, CREATE_KEY] = [goldenKey(61), goldenKey(62), goldenKey(63), goldenKey(64)]
const KEYS = [PROPOSER, A, B, CREATE_KEY]
const MULTISIG = multisigAddress(addressOf(CREATE_KEY))
const VAULT = vaultAddress(MULTISIG, 0)

const by = (key: Keypair) => ({ payer: addressOf(key), recentBlockhash: GOLDEN_BLOCKHASH })
const at = { multisig: MULTISIG, index: 1n }

const creation = (timeLock = 0) =>
  buildMultisigCreation({
    ...by(PROPOSER),
    ...{ createKey: addressOf(CREATE_KEY), treasury: TREASURY, threshold: 2, timeLock },
    members: [member(PROPOSER, 'i'), member(A), member(B)],
    rentCollector: addressOf(PROPOSER),
  })

/** Payments to keys that are the same every time. */
function inner(payments: number, ephemeral: string[] = []): PinnedMessage {
  const { transaction } = compileTransaction({
    payer: keyOf(VAULT),
    recentBlockhash: GOLDEN_BLOCKHASH,
    instructions: [
      ...Array.from({ length: payments }, (_, i) =>
        SystemProgram.transfer({
          fromPubkey: keyOf(VAULT),
          toPubkey: goldenKey(100 + i).publicKey,
          lamports: SOL / 10n,
        }),
      ),
      ...ephemeral.map((key) =>
        SystemProgram.createAccount({
          fromPubkey: keyOf(VAULT),
          newAccountPubkey: keyOf(key),
          space: 0,
          lamports: Number(SOL / 100n),
          programId: SystemProgram.programId,
        }),
      ),
    ],
    config: V1_CONFIG,
    bytesOf: (key) => key.toBytes(),
  })
  return innerMessageOf(decodeWireTransaction(transaction), { vault: VAULT, ephemeral })
}

const proposal = (message: PinnedMessage, wish: object = {}) =>
  buildProposalCreation({
    ...by(PROPOSER),
    ...{ ...at, vaultIndex: 0, member: addressOf(PROPOSER), inner: message, ephemeralSigners: 0, approve: false },
    ...wish,
  })
const vote = (kind: 'approve' | 'reject' | 'cancel', key: Keypair) =>
  buildVote(kind, { ...by(key), ...at, member: addressOf(key) })
const execution = (message: PinnedMessage, wish: object = {}) =>
  buildExecution({
    ...{ ...by(A), ...at, member: addressOf(A), message, vaultIndex: 0, ephemeralSigners: 0 },
    ...wish,
  })

/** A chain on which the transactions before have landed. */
async function chainAfter(...earlier: (UnsignedTransaction | readonly UnsignedTransaction[])[]) {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  for (const key of KEYS) test.chain.airdrop(addressOf(key), 100n * SOL)
  test.chain.airdrop(VAULT, 100n * SOL)
  for (const transaction of earlier.flat()) {
    const { err, logs } = landOn(test, transaction, KEYS)
    expect(err, logs.join('\n')).toBeNull()
  }
  return test
}

describe('the golden transaction', () => {
  it('that creates a multisig is as recorded', async () => {
    const built = await creation(3_600)
    expect(built.multisig).toBe(MULTISIG)
    expect(await expectGolden('squads/multisig', built.transaction, () => chainAfter())).toBe(554)
  })

  it('that proposes is as recorded, with an approval, another rent payer and ephemeral signers', async () => {
    const [one] = (await proposal(inner(1))).transactions
    expect(await expectGolden('squads/proposal', one!.transaction, async () => chainAfter(await creation()))).toBe(465)
    const own = { ...by(A), member: addressOf(A), approve: true, rentPayer: addressOf(PROPOSER), ephemeralSigners: 2 }
    const [two] = (await proposal(inner(1, ephemeralSignersOf(MULTISIG, 1n, 2)), own)).transactions
    await expectGolden('squads/proposal-approved', two!.transaction, async () => chainAfter(await creation()))
    const [three] = (await proposal(inner(18), { messageConfig: GOLDEN_CONFIG })).transactions
    await expectGolden('squads/v1-proposal', three!.transaction, async () => chainAfter(await creation()))
  })

  it('of each part of a buffered proposal is as recorded', async () => {
    const { transactions } = await proposal(inner(30))
    expect(transactions).toHaveLength(3)
    for (const [i, { transaction }] of transactions.entries()) {
      await expectGolden(`squads/buffered-${i + 1}`, transaction, async () =>
        chainAfter(await creation(), transactions.slice(0, i)),
      )
    }
    const closing = await buildReclaim({
      ...by(PROPOSER),
      multisig: MULTISIG,
      index: 1n,
      rentCollector: null,
      buffers: [0],
    })
    await expectGolden('squads/buffer-close', closing.transaction, async () =>
      chainAfter(await creation(), transactions.slice(0, 1)),
    )
  })

  it('of each vote, of the execution and of the closing is as recorded', async () => {
    const message = inner(1)
    const { transactions } = await proposal(message)
    const [approve, approveToo] = [await vote('approve', A), await vote('approve', B)]
    const proposed = async () => chainAfter(await creation(), transactions)
    const approved = async () => chainAfter(await creation(), transactions, approve, approveToo)
    expect(await expectGolden('squads/approve', approve.transaction, proposed)).toBe(247)
    await expectGolden('squads/reject', (await vote('reject', A)).transaction, proposed)
    await expectGolden('squads/cancel', (await vote('cancel', A)).transaction, approved)
    const executed = await execution(message)
    expect(await expectGolden('squads/execute', executed.transaction, approved)).toBe(378)
    const v1 = await execution(message, { messageConfig: GOLDEN_CONFIG })
    await expectGolden('squads/v1-execute', v1.transaction, approved)
    const reclaim = await buildReclaim({ ...by(B), ...at, rentCollector: addressOf(PROPOSER) })
    await expectGolden('squads/reclaim', reclaim.transaction, async () =>
      chainAfter(await creation(), transactions, approve, approveToo, executed),
    )
  })
})
