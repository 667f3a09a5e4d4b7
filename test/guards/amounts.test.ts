/** Guards hold each amount to the unit: whatever a wallet moves passes, also after its neighbours, and one unit more fails. */
import { createHash } from 'node:crypto'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Chain } from '../../src/chain/connection.ts'
import { withBlockhash } from '../../src/chain/sending/cosign.ts'
import { guardedTransaction } from '../../src/chain/sending/guarding.ts'
import { withGuards } from '../../src/solana/guards.ts'
import { decodeWireTransaction, messageBytesOf, signatureOffset } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { signFresh } from '../../src/solana/signatures.ts'
import { hasProgram, mintOf, sharedTestChain, signs, type TestChain } from '../support/local-chain.ts'
import { signedV1 } from '../support/local-chain-transactions.ts'
import { embeddedNode } from '../support/node.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { runs } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'

const opened = sharedTestChain({ programsDir: PROGRAMS_DIR })
const RENT = 1_488_440
const FEE_BPS = 250
const { TOKEN_PROGRAM_ID: CLASSIC, TOKEN_2022_PROGRAM_ID: EXTENDED, NATIVE_MINT } = spl
type Amount = (more: number) => TransactionInstruction[]

/** A mint whose transfers cost a fee. */
function feeMint(test: TestChain, payer: Keypair): PublicKey {
  const mint = Keypair.generate()
  const space = spl.getMintLen([spl.ExtensionType.TransferFeeConfig])
  const lamports = Number(test.chain.minimumBalance(space))
  const made = { fromPubkey: payer.publicKey, newAccountPubkey: mint.publicKey, space, lamports, programId: EXTENDED }
  const config = [mint.publicKey, payer.publicKey, payer.publicKey, FEE_BPS, 1_000_000_000n, EXTENDED] as const
  const instructions = [
    SystemProgram.createAccount(made),
    spl.createInitializeTransferFeeConfigInstruction(...config),
    spl.createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null, EXTENDED),
  ]
  expect(test.send(instructions, [payer, mint]).err).toBeNull()
  return mint.publicKey
}

/** The wallet's own accounts and those of another; the other signs what it sends. */
async function openWorld() {
  const test = await opened()
  const [own, other] = [test.wallet(), test.wallet()]
  const plain = await mintOf(test, own, CLASSIC)
  const taxed = feeMint(test, own)
  const accountOf = (mint: PublicKey, { publicKey }: Keypair, program = CLASSIC) =>
    spl.getAssociatedTokenAddressSync(mint, publicKey, false, program)
  const second = Keypair.generate()
  const setUp: TransactionInstruction[][] = [
    [
      SystemProgram.createAccount({
        ...{ fromPubkey: own.publicKey, newAccountPubkey: second.publicKey, space: 165, lamports: RENT },
        programId: CLASSIC,
      }),
      spl.createInitializeAccount3Instruction(second.publicKey, plain, own.publicKey),
    ],
    ...[own, other].map((owner) => [
      ...(
        [
          [plain, CLASSIC],
          [taxed, EXTENDED],
          [NATIVE_MINT, CLASSIC],
        ] as const
      ).map(([mint, program]) =>
        spl.createAssociatedTokenAccountInstruction(
          ...([own.publicKey, accountOf(mint, owner, program), owner.publicKey, mint, program] as const),
        ),
      ),
      spl.createMintToInstruction(plain, accountOf(plain, owner), own.publicKey, 1_000_000),
      spl.createMintToInstruction(taxed, accountOf(taxed, owner, EXTENDED), own.publicKey, 1_000_000, [], EXTENDED),
      SystemProgram.transfer({
        fromPubkey: own.publicKey,
        toPubkey: accountOf(NATIVE_MINT, owner),
        lamports: 5_000_000,
      }),
      spl.createSyncNativeInstruction(accountOf(NATIVE_MINT, owner)),
    ]),
  ]
  for (const [i, instructions] of setUp.entries()) {
    expect(test.send(instructions, i === 0 ? [own, second] : [own]).err).toBeNull()
  }
  return { ...{ test, own, other, plain, taxed, second: second.publicKey, accountOf } }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** What the wallet does; `tight` if one unit more leaves an account that the wallet keeps. */
interface Move {
  build: Amount
  tight: boolean
}

const KINDS = [
  'pay',
  'send',
  'share',
  'sendTaxed',
  'shareWrapped',
  'wrap',
  'wrapOnce',
  'burn',
  'open',
  'approve',
  'receive',
] as const

function moveOf({ own, other, plain, taxed, second, accountOf }: World, kind: (typeof KINDS)[number], n: number): Move {
  const [mine, theirs] = [accountOf(plain, own), accountOf(plain, other)]
  const wrapped = { mine: accountOf(NATIVE_MINT, own), theirs: accountOf(NATIVE_MINT, other) }
  const move =
    (from: PublicKey, to: PublicKey): Amount =>
    (more) => [spl.createTransferInstruction(from, to, own.publicKey, n + more)]
  const pay =
    (to: PublicKey): Amount =>
    (more) => [SystemProgram.transfer({ fromPubkey: own.publicKey, toPubkey: to, lamports: n + more })]
  const temporary = Keypair.generate()
  switch (kind) {
    case 'pay':
      return { build: pay(other.publicKey), tight: true }
    case 'send':
      return { build: move(mine, theirs), tight: true }
    case 'share':
      return { build: move(mine, second), tight: true }
    case 'shareWrapped':
      return { build: move(wrapped.mine, wrapped.theirs), tight: true }
    case 'sendTaxed':
      return {
        build: (more) => [
          spl.createTransferCheckedInstruction(
            ...([accountOf(taxed, own, EXTENDED), taxed, accountOf(taxed, other, EXTENDED), own.publicKey] as const),
            ...([n + more, 6, [] as Keypair[], EXTENDED] as const),
          ),
        ],
        tight: true,
      }
    case 'wrap':
      return {
        build: (more) => [...pay(wrapped.mine)(more), spl.createSyncNativeInstruction(wrapped.mine)],
        tight: true,
      }
    case 'wrapOnce': {
      // Opened, paid out of, and closed in the same transaction: what it is given beyond that comes back.
      const seed = addressOf(temporary).slice(0, 32)
      const account = seededAddress(own.publicKey, seed)
      return { build: (more) => wrapOnce({ own, seed, account, to: wrapped.theirs }, n, more), tight: true }
    }
    case 'burn':
      return { build: (more) => [spl.createBurnInstruction(mine, plain, own.publicKey, n + more)], tight: true }
    case 'open': {
      const account = accountOf(plain, temporary)
      const opening = spl.createAssociatedTokenAccountInstruction(own.publicKey, account, temporary.publicKey, plain)
      return { build: (more) => [opening, ...move(mine, account)(more)], tight: true }
    }
    case 'receive':
      return { build: (more) => [spl.createTransferInstruction(theirs, mine, other.publicKey, n + more)], tight: false }
    case 'approve':
      return { build: () => [spl.createApproveInstruction(second, other.publicKey, own.publicKey, n)], tight: false }
  }
}

/** The address of `createAccountWithSeed` for an account of the token program. */
const seededAddress = (base: PublicKey, seed: string): PublicKey =>
  new PublicKey(createHash('sha256').update(base.toBytes()).update(seed).update(CLASSIC.toBytes()).digest())

interface WrapOnce {
  own: Keypair
  seed: string
  account: PublicKey
  to: PublicKey
}

function wrapOnce({ own, seed, account, to }: WrapOnce, n: number, more: number): TransactionInstruction[] {
  const basis = { fromPubkey: own.publicKey, newAccountPubkey: account, basePubkey: own.publicKey, seed }
  return [
    SystemProgram.createAccountWithSeed({ ...basis, space: 165, lamports: RENT + 2 * n, programId: CLASSIC }),
    spl.createInitializeAccount3Instruction(account, NATIVE_MINT, own.publicKey),
    spl.createTransferInstruction(account, to, own.publicKey, n + more),
    spl.createCloseAccountInstruction(account, own.publicKey, own.publicKey),
  ]
}

describe.skipIf(!hasProgram(PROGRAMS.lighthouse.id))('guards', () => {
  it('let every movement pass, also after the wallet has paid and been paid, and no unit more', async () => {
    const world = await openWorld()
    const { test, own, other, plain, accountOf } = world
    const node = Object.assign(embeddedNode(test.chain), { hasProgram: async () => true }) as unknown as Chain
    /** Signed by the other too, if its tokens move. */
    const compile = (parts: readonly TransactionInstruction[][]) => {
      const signers = signs(parts.flat(), other.publicKey) ? [own, other] : [own]
      return signedV1(parts.flat(), signers, { blockhash: test.chain.latestBlockhash().blockhash })
    }
    const fails = (raw: Uint8Array) => test.chain.simulate(raw).err !== null
    const resigned = (raw: Uint8Array) => {
      const fresh = withBlockhash(raw, test.chain.latestBlockhash().blockhash)
      for (const [i, { secretKey }] of [own, other].slice(0, decodeWireTransaction(raw).message.signers).entries()) {
        fresh.set(signFresh(secretKey, messageBytesOf(fresh)), signatureOffset(fresh, i))
      }
      return fresh
    }
    /** Others pay in, and the wallet pays and spends tokens in a transaction of its own. */
    const neighbours = (n: number) => {
      const [mine, theirs] = [accountOf(plain, own), accountOf(plain, other)]
      const dust = [
        SystemProgram.transfer({ fromPubkey: other.publicKey, toPubkey: own.publicKey, lamports: n }),
        spl.createTransferInstruction(theirs, mine, other.publicKey, n),
      ]
      const spent = [
        SystemProgram.transfer({ fromPubkey: own.publicKey, toPubkey: other.publicKey, lamports: 3 * n }),
        spl.createTransferInstruction(mine, theirs, own.publicKey, 2 * n),
      ]
      expect(test.send(dust, [other]).err).toBeNull()
      expect(test.send(spent, [own]).err).toBeNull()
    }
    const some = fc.record({ kind: fc.constantFrom(...KINDS), n: fc.integer({ min: 1, max: 300 }) })
    let [landed, stopped] = [0, 0]
    await fc.assert(
      fc.asyncProperty(
        fc.array(some, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 50 }),
        async (chosen, n) => {
          test.wall.ms += 1_000
          const moves = chosen.map(({ kind, n: amount }) => moveOf(world, kind, amount))
          const plainly = compile(moves.map(({ build }) => build(0)))
          if (fails(plainly)) return
          const { transaction, guarding } = await guardedTransaction(node, plainly, [addressOf(own)])
          expect(guarding.reason).toBeNull()
          // What others pay in is not demanded, and makes up for what leaves the same account.
          const isPaid = chosen.some(({ kind }) => kind === 'receive')
          const less = compile(moves.map(({ build }, i) => build(chosen[i]!.kind === 'receive' ? -1 : 0)))
          if (isPaid && !fails(less)) expect(fails(withGuards(less, guarding.guards))).toBe(false)
          for (const [place, { tight }] of moves.entries()) {
            if (!tight || isPaid) continue
            const raised = compile(moves.map(({ build }, i) => build(i === place ? 1 : 0)))
            if (fails(raised)) continue
            expect(fails(withGuards(raised, guarding.guards)), chosen[place]!.kind).toBe(true)
            stopped++
          }
          neighbours(n)
          const { err, logs } = test.chain.send(resigned(transaction))
          expect(err, logs.join('\n')).toBeNull()
          landed++
        },
      ),
      { numRuns: runs(40, 400) },
    )
    expect([landed > 0, stopped > 0]).toEqual([true, true])
  })
})
