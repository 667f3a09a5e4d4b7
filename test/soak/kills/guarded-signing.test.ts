/** A daemon that is killed around guarded signatures: no lamport is lost, nothing is paid twice, and nothing is unguarded. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import { expect } from 'vitest'
import { type Guard, guardMemory, guardsOfMessage } from '../../../src/solana/guards.ts'
import { decodeMessage } from '../../../src/solana/messages.ts'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { FEE } from '../../support/platform-wallet.ts'
import { hasProgram } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import { TOKEN_ACCOUNT_RENT } from '../../support/rent.ts'
import { addressOf } from '../../support/wallets.ts'
import { killTest, momentsOf, requestsOf, seedOr } from './harness.ts'
import { killAmidWave, openSigningPlatform, type PlatformPoint, trapsOf } from './platform.ts'

const SOL = 1_000_000_000
const [WRITERS, HELD] = [3, 1_000_000n]
const PATIENCE_MS = 30_000
const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

/** The n-th request pays a wallet of its own in tokens, and opens its account. */
async function payments() {
  const { next: random, below } = randomOf(seedOr(44))
  const platform = await openSigningPlatform()
  const { chain, vault } = platform
  const wallet = new PublicKey(vault.key.address)
  const [maker, mint] = [Keypair.generate(), Keypair.generate()]
  await platform.start()
  for (const key of [maker.publicKey, wallet]) await chain.requestAirdrop(key, 5 * SOL)
  const accountOf = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint.publicKey, owner)
  const making = new Transaction().add(
    SystemProgram.createAccount({
      fromPubkey: maker.publicKey,
      newAccountPubkey: mint.publicKey,
      space: spl.MINT_SIZE,
      lamports: await spl.getMinimumBalanceForRentExemptMint(chain),
      programId: spl.TOKEN_PROGRAM_ID,
    }),
    spl.createInitializeMint2Instruction(mint.publicKey, 6, maker.publicKey, null),
    spl.createAssociatedTokenAccountInstruction(maker.publicKey, accountOf(wallet), wallet, mint.publicKey),
    spl.createMintToInstruction(mint.publicKey, accountOf(wallet), maker.publicKey, HELD),
  )
  await sendAndConfirmTransaction(chain, making, [maker, mint])
  const limits = { lamports_per_transaction: String(SOL), lamports_per_day: String(5 * SOL), guards: 'required' }
  const tokens = [{ mint: addressOf(mint), per_transaction: '1000', per_day: String(HELD) }]
  const { status, text } = await platform.daemon.request('PATCH', '/v2/signer/policy', { body: { ...limits, tokens } })
  expect(status, text).toBe(200)

  const trap = trapsOf(platform, () => 1 + below(WRITERS))
  const points: PlatformPoint[] = [
    ...times(3, () => trap.vault('asked')),
    ...times(4, () => trap.vault('answered')),
    ...momentsOf(3, random).map((moment) => trap.vault('delivered', moment * 6)),
    ...times(2, () => trap.node('simulateTransaction', 'answered')),
    ...times(2, () => trap.node('sendTransaction', 'asked')),
    ...times(3, () => trap.node('sendTransaction', 'answered')),
    ...momentsOf(3, random).map((moment) => moment * 400),
  ]
  const paid = times(points.length * WRITERS, () => Keypair.generate().publicKey)
  const amountOf = (n: number) => 100n + BigInt(n)
  const requests = requestsOf<number>({
    send: (n) =>
      platform.daemon.request('POST', '/v2/token-transfers', {
        body: {
          ...{ payer: vault.key.address, mint: addressOf(mint), mode: 'signed' },
          recipients: [{ wallet: paid[n]!.toBase58(), amount: String(amountOf(n)) }],
        },
        headers: { 'idempotency-key': `payment-${n}` },
      }),
    check: (n, { status: answered, text: answer }) => expect([n, answered], answer).toEqual([n, 200]),
  })
  let count = 0
  return {
    ...{ platform, chain, wallet, points, paid, accountOf, amountOf, requests },
    start: await chain.getBalance(wallet, 'confirmed'),
    wave: () => times(WRITERS, () => requests.ask(count++)),
  }
}

/** The guards of a message that the vault has signed. */
const guardsIn = (input: Buffer): readonly Guard[] => guardsOfMessage(decodeMessage(input)).guards

killTest({
  title: `guarded payments by a daemon that is killed around the signature (SOAK_SEED=${seedOr(44)}):`,
  skip: !hasProgram(PROGRAMS.lighthouse.id),
  start: payments,
  points: ({ points }) => points,
  kill: (world, point) => killAmidWave(world, point, PATIENCE_MS),
  end: ({ platform }) => platform.end(),
  holds: {
    'most of 20 kills come amid a signing, and each request is answered'({ platform, points, paid, requests }) {
      const { done, again } = requests
      process.stdout.write(`  ${points.length} kills: ${done.size} answered, ${again.resumed} resumed\n`)
      expect([points.length, done.size]).toEqual([20, paid.length])
      expect(platform.missed.length).toBeLessThanOrEqual(2)
      expect(again.resumed).toBeGreaterThan(10)
    },
    'everything that was signed is guarded: the wallet, and its token account'({ platform, wallet, accountOf }) {
      const inputs = platform.inputs()
      expect(inputs.length).toBeGreaterThan(0)
      const guarded = [wallet, accountOf(wallet)].map((key) => key.toBase58())
      for (const input of inputs) expect(guardsIn(input).map(({ address }) => address)).toEqual(guarded)
    },
    async 'each wallet has its tokens once'({ chain, paid, accountOf, amountOf }) {
      const amount = async (n: number) => {
        const { value } = await chain.getTokenAccountBalance(accountOf(paid[n]!), 'confirmed')
        return BigInt(value.amount)
      }
      for (const n of paid.keys()) {
        await expect.poll(() => amount(n).catch(() => 0n), { timeout: 30_000 }).toBe(amountOf(n))
      }
    },
    async 'the wallet has paid fee and rent of each, and what it lent is back'({ chain, wallet, paid, start }) {
      const spent = BigInt(start - (await chain.getBalance(wallet, 'confirmed')))
      expect(spent).toBe(BigInt(paid.length) * (FEE + TOKEN_ACCOUNT_RENT))
      const memory = new PublicKey(guardMemory(wallet.toBase58()).address)
      expect(await chain.getAccountInfo(memory, 'confirmed')).toBeNull()
    },
  },
})
