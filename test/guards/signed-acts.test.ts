/** Guards of what the platform wallet signs: by each policy, and for each transaction of several. */
import { createAssociatedTokenAccountInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { requireRoom } from '../../src/chain/sending/guarding.ts'
import { timelessSha256 } from '../../src/operations/signing/waiting-draft.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { guardsOfMessage, withGuards } from '../../src/solana/guards.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { MEMO_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { airdropsOn } from '../support/airdrops.ts'
import { approversOf, decide } from '../support/approvers.ts'
import { plainTransaction } from '../support/guarded-transactions.ts'
import { IMAGE } from '../support/launches.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { hasProgram } from '../support/programs.ts'
import { itInSoak } from '../support/runs.ts'
import { addressOf, SOL, someAddress, walletOn } from '../support/wallets.ts'

const NEEDED = [PROGRAMS.dbc, PROGRAMS.tokenMetadata, PROGRAMS.lighthouse]
const lacking = NEEDED.filter(({ id }) => !hasProgram(id))
const LIMITS = {
  lamports_per_transaction: String(100n * SOL),
  lamports_per_day: String(1_000n * SOL),
  max_fee_lamports: '10000000',
}

async function opened(guards: string) {
  const service = await startPlatform(LIMITS)
  const { chain } = await walletOn(service.services)
  const policy = async (body: object) => {
    expect((await service.request('PATCH', '/v2/signer/policy', { body })).status).toBe(200)
  }
  await policy({ guards })
  /** Time passes meanwhile, so that the first transaction of several is confirmed. */
  const moving = <T>(work: Promise<T>): Promise<T> => {
    const timer = setInterval(() => {
      chain.advance(1)
      service.clock.advance(5_000)
    }, 100)
    return work.finally(() => clearInterval(timer))
  }
  return {
    service,
    policy,
    own: addressOf(service.wallet),
    moving,
    async asked(path: string, body: object) {
      const { json } = await moving(service.request('POST', path, { body: { ...body, mode: 'signed' } }))
      expect(json.error).toBeUndefined()
      return json.data
    },
    /** The guarded wallets of each transaction, which has landed. */
    guarded: (signatures: readonly string[]) =>
      signatures.map((signature) => {
        const { raw, err } = chain.transaction(signature)!
        expect(err).toBeNull()
        const { message } = decodeWireTransaction(raw)
        const { guards: held } = guardsOfMessage(message)
        return held.flatMap(({ kind, address }) => (kind === 'wallet' ? address : []))
      }),
    /** What the audit log says of them, the newest first. */
    async extents() {
      const { json } = await service.request('GET', '/v2/audit-entries?action=signing.intended')
      return json.data.map(({ details }: { details: { guarded: string } }) => details.guarded)
    },
  }
}

describe.skipIf(lacking.length > 0)('with the policy of guards', () => {
  it.each(['off', 'when_it_fits', 'required'])(
    '%s, each transaction of a launch and a transfer of its tokens are guarded so',
    async (guards) => {
      const { policy, own, asked, guarded, extents } = await opened(guards)
      const wallets = guards === 'off' ? [] : [own]
      const launch = { creator: own, name: 'My Token', symbol: 'MTK', image: IMAGE, buy_amount: 0.25 }
      const { signatures, pool } = await asked('/v2/pools', launch)
      expect(guarded(signatures)).toEqual([wallets, wallets])
      const mint = pool.base_mint
      await policy({ tokens: [{ mint, per_transaction: '10', per_day: '10' }] })
      const recipients = [{ wallet: addressOf(Keypair.generate()), amount: '5' }]
      // If guards are required, the request cannot switch them off.
      const asks = guards === 'required' ? { guard: 'off' } : {}
      const { signature } = await asked('/v2/token-transfers', { payer: own, mint, recipients, ...asks })
      expect(guarded([signature])).toEqual([wallets])
      const extent = guards === 'off' ? 'none' : 'whole'
      expect(await extents()).toEqual([extent, extent, extent])
    },
  )

  itInSoak('required, a launch is guarded in one transaction of version 1 and in several of version 0', async () => {
    const { own, asked, guarded } = await opened('required')
    for (const [symbol, tx_version, count] of [
      ['ONE', 1, 1],
      ['TWO', 0, 2],
    ] as const) {
      const launch = { creator: own, name: 'My Token', symbol, image: IMAGE, buy_amount: 0.25, guard: 'required' }
      const { signatures, guard } = await asked('/v2/pools', { ...launch, tx_version })
      expect(guarded(signatures)).toEqual(Array.from({ length: count }, () => [own]))
      expect(guard).toBeUndefined()
    }
  })

  itInSoak(
    'required, a launch is refused whole if the wallet could not lend the guards of the last transaction',
    async () => {
      const { own, service, moving, guarded } = await opened('required')
      const { chain } = await walletOn(service.services)
      const wallet = chain.account(own)!
      const launch = { creator: own, name: 'My Token', symbol: 'TWO', image: IMAGE, buy_amount: 0.25, mode: 'signed' }
      const ask = async (lamports: bigint) => {
        chain.setAccount(own, { ...wallet, lamports })
        return (await moving(service.request('POST', '/v2/pools', { body: launch }))).json
      }
      const { error } = await ask(SOL / 4n)
      expect(error.details).toMatchObject({ reason: 'insufficient_funds', wallet: own })
      const needed = BigInt(error.details.needed)
      expect((await ask(needed - 1n)).error.details.reason).toBe('insufficient_funds')
      expect(chain.account(own)!.lamports).toBe(needed - 1n)
      const { data } = await ask(needed)
      expect(guarded(data.signatures)).toEqual([[own], [own]])
    },
  )

  itInSoak('required, a launch of several transactions that waited is guarded in each', async () => {
    const { service, own, moving, guarded, extents } = await opened('required')
    const [person] = await approversOf(service, 1, { operations: ['pool.create'] })
    const launch = { creator: own, name: 'My Token', symbol: 'MTK', image: IMAGE, buy_amount: 0.25, mode: 'signed' }
    const { json } = await service.request('POST', '/v2/pools', { body: launch })
    expect(json.data?.mode, JSON.stringify(json.error)).toBe('proposed')
    await moving(decide(service, json.data.proposal, person!))
    const rows = await service.services.store.db.selectFrom('signings').select('signature').orderBy('seq').execute()
    expect(guarded(rows.map(({ signature }) => signature ?? ''))).toEqual([[own], [own]])
    expect(await extents()).toEqual(['whole', 'whole'])
  })

  it('required, an act that waited is signed as it was approved, also if it takes less by then', async () => {
    const service = await startPlatform(LIMITS)
    const { mintFor, chain, run } = await airdropsOn(service)
    const [own, receiver] = [addressOf(service.wallet), Keypair.generate()]
    const mint = mintFor(service.wallet, 10n)
    const tokens = [{ mint, per_transaction: '10', per_day: '10' }]
    await service.request('PATCH', '/v2/signer/policy', { body: { guards: 'required', tokens } })
    const [person] = await approversOf(service, 1, { operations: ['token_transfer.create'] })
    const recipients = [{ wallet: addressOf(receiver), amount: '5' }]
    const body = { payer: own, mint, recipients, mode: 'signed' }
    const { json } = await service.request('POST', '/v2/token-transfers', { body })
    expect(json.data?.mode, JSON.stringify(json.error)).toBe('proposed')
    const { proposal } = json.data
    const waiting = decodeWireTransaction(Buffer.from(proposal.transaction, 'base64'))
    expect(guardsOfMessage(waiting.message).guards.length).toBeGreaterThan(1)
    // Somebody else pays for the token account that it was going to open.
    const account = getAssociatedTokenAddressSync(new PublicKey(mint), receiver.publicKey)
    const opening = createAssociatedTokenAccountInstruction(
      service.wallet.publicKey,
      account,
      receiver.publicKey,
      new PublicKey(mint),
    )
    run([opening], [service.wallet])
    const { json: decided } = await decide(service, proposal, person!)
    const { status, signature } = decided.data.proposal
    expect([status, decided.data.fault]).toEqual(['executed', undefined])
    const { raw, err } = chain.transaction(signature)!
    expect(err).toBeNull()
    expect(timelessSha256(raw)).toBe(proposal.message_sha256)
  })
})

describe('a transaction of several', () => {
  it('is refused before any is signed if it will have no room for its guards', () => {
    const payer = someAddress()
    const memo = (bytes: number) => {
      const envelope = { payer, recentBlockhash: someAddress() }
      return plainTransaction(envelope, [{ program: MEMO_PROGRAM, accounts: [], data: Buffer.alloc(bytes) }])
    }
    const guards = [{ kind: 'wallet', address: payer, change: -1n }] as const
    const room = MAX_TRANSACTION_BYTES - withGuards(memo(900), guards).length
    expect(() => requireRoom(memo(900 + room), guards)).not.toThrow()
    expect(() => requireRoom(memo(900 + room + 1), guards)).toThrow(/1 bytes more than the transaction has room for/)
  })
})
