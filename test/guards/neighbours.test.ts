/** Forty guarded acts of one wallet that are signed before any has landed: none fails by its neighbours, in any order. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it, vi } from 'vitest'
import type { LandedTransaction, LocalChain } from '../../src/localnet/types.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { createMint, give, lamportsOf, unitsIn } from '../support/gold.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { hasProgram } from '../support/programs.ts'
import { addressOf, SOL, signWith, someAddress } from '../support/wallets.ts'

const lacking = !hasProgram(PROGRAMS.lighthouse.id)
const COUNT = 40
const LIMITS = { lamports_per_transaction: String(10n * SOL), lamports_per_day: String(90n * SOL) }
const places = Array.from({ length: COUNT }, (_, i) => i)

/** A wallet with SOL and tokens, and the requests of its acts, each of another amount. */
async function scene() {
  const platform = await startPlatform(LIMITS)
  const chain = await platform.services.chain.local()
  const [issuer, own] = [Keypair.generate(), Keypair.generate()]
  for (const key of [issuer, own]) chain.airdrop(addressOf(key), 100n * SOL)
  const token = createMint(chain, issuer)
  const mint = token.mint.toBase58()
  const held = (wallet: Keypair) => give(chain, issuer, token, wallet.publicKey, 1_000_000n)
  const accounts = { own: held(own), platform: held(platform.wallet) }
  const tokens = [{ mint, per_transaction: '100000', per_day: '1000000' }]
  expect((await platform.request('PATCH', '/v2/signer/policy', { body: { tokens, guards: 'required' } })).status).toBe(
    200,
  )
  /** SOL, or tokens for which an account is opened. */
  const act = async (i: number, pays: 'SOL' | 'tokens', more: object) => {
    const recipient = someAddress()
    const [path, body] =
      pays === 'SOL'
        ? ['/v2/sol-transfers', { recipient, lamports: String(SOL / 10n + BigInt(i)) }]
        : ['/v2/token-transfers', { mint, recipients: [{ wallet: recipient, amount: String(100 + i) }] }]
    const { json, text } = await platform.request('POST', path as string, { body: { ...(body as object), ...more } })
    expect(json.error, text).toBeUndefined()
    return json.data
  }
  return { ...platform, chain, own, accounts, act }
}

const sumOf = (start: bigint, of: readonly number[]) => of.reduce((sum, i) => sum + start + BigInt(i), 0n)

/** Lands all in the given order, none of which may fail. */
function landAll(chain: LocalChain, raws: readonly Uint8Array[]) {
  for (const raw of raws) {
    const { err, logs } = chain.send(raw)
    expect(err, logs.join('\n')).toBeNull()
  }
}

describe.skipIf(lacking)('forty acts that were signed at once (needs Lighthouse in the program cache)', () => {
  it('by a key of its own land in the reverse order', async () => {
    const { chain, own, act, accounts } = await scene()
    const built = await Promise.all(
      places.map((i) => act(i, i % 2 === 0 ? 'SOL' : 'tokens', { payer: addressOf(own), guard: 'required' })),
    )
    const before = lamportsOf(chain, own.publicKey)
    landAll(chain, built.map(({ transaction }) => Buffer.from(signWith(transaction, [own]), 'base64')).toReversed())
    expect(unitsIn(chain, accounts.own)).toBe(
      1_000_000n -
        sumOf(
          100n,
          places.filter((i) => i % 2 === 1),
        ),
    )
    expect(before - lamportsOf(chain, own.publicKey)).toBeGreaterThan(
      sumOf(
        SOL / 10n,
        places.filter((i) => i % 2 === 0),
      ),
    )
  })

  it('by the platform wallet land in the reverse order', async () => {
    const { chain, wallet, act, accounts } = await scene()
    const raws: Uint8Array[] = []
    const holding = vi.spyOn(chain, 'send').mockImplementation((raw) => {
      raws.push(raw)
      const signature = decodeWireTransaction(raw).signature
      return { signature, slot: chain.slot(), err: null, logs: [] } as unknown as LandedTransaction
    })
    await Promise.all(places.map((i) => act(i, 'tokens', { payer: addressOf(wallet), mode: 'signed' })))
    holding.mockRestore()
    expect(raws).toHaveLength(COUNT)
    landAll(chain, raws.toReversed())
    expect(unitsIn(chain, accounts.platform)).toBe(1_000_000n - sumOf(100n, places))
  })
})
