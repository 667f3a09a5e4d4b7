/** Transfers of SOL on the embedded chain: what is built lands to the last lamport, and what should not be sent is refused. */

import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rawUnits } from '../commands/cli/amounts.ts'
import { solText } from '../src/solana/amounts.ts'
import { decodeWireTransaction } from '../src/solana/messages.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../src/solana/program-ids.ts'
import { sharedService } from './support/service.ts'
import { mintData, tokenAccountData } from './support/token-accounts.ts'
import { signV1 } from './support/version1.ts'
import { SOL, someAddress } from './support/wallets.ts'

const shared = sharedService()

async function start() {
  const service = await shared()
  const chain = await service.services.chain.local()
  const payer = Keypair.generate()
  const address = payer.publicKey.toBase58()
  const put = (at: string, lamports: bigint, owner = SYSTEM_PROGRAM, data: Uint8Array = Buffer.alloc(0)) =>
    chain.setAccount(at, { lamports, owner, executable: false, data })
  put(address, 10n * SOL)
  return {
    chain,
    payer,
    address,
    put,
    lamportsOf: (at: string) => chain.account(at)?.lamports ?? 0n,
    least: chain.minimumBalance(0),
    async build(body: object) {
      const answer = await service.request('POST', '/v2/sol-transfers', { body: { payer: address, ...body } })
      return { status: answer.status, data: answer.json.data, error: answer.json.error }
    },
    /** Signs what was built, and runs it. */
    land(transaction: string, version = 0) {
      const raw = Buffer.from(transaction, 'base64')
      if (version === 1) return chain.send(signV1(raw, [payer]))
      const signed = VersionedTransaction.deserialize(raw)
      signed.sign([payer])
      return chain.send(signed.serialize())
    },
  }
}

describe('a transfer of SOL', () => {
  it.each([0, 1])('of version %d lands exactly, and costs the stated fee', async (tx_version) => {
    const it = await start()
    const recipient = someAddress()
    const { status, data } = await it.build({ recipient, lamports: '1500000001', tx_version })
    expect(status).toBe(200)
    expect(data).toMatchObject({ mode: 'unsigned', recipient, lamports: '1500000001', opens: true })
    expect(data.requiredSigners).toEqual([it.address])
    expect(it.land(data.transaction, tx_version).err).toBeNull()
    expect(it.lamportsOf(recipient)).toBe(1_500_000_001n)
    expect(it.lamportsOf(it.address)).toBe(10n * SOL - 1_500_000_001n - BigInt(data.fee))
    expect((await it.build({ recipient, lamports: '1', tx_version })).data).toMatchObject({ opens: false })
  })

  it.each([0, 1])('of the whole balance, in version %d, leaves nothing', async (tx_version) => {
    const it = await start()
    const recipient = someAddress()
    const { data } = await it.build({ recipient, lamports: 'all', tx_version })
    expect(it.land(data.transaction, tx_version).err).toBeNull()
    expect([it.lamportsOf(it.address), it.lamportsOf(recipient)]).toEqual([0n, BigInt(data.lamports)])
    expect(BigInt(data.lamports) + BigInt(data.fee)).toBe(10n * SOL)
  })

  it('lands whenever it was built, and is refused exactly if the chain would refuse it', async () => {
    const it = await start()
    const boundary = fc.bigInt({ min: -3n, max: 3n })
    const held = fc.oneof(
      fc.bigInt({ min: 0n, max: 3n * SOL }),
      boundary.map((n) => 5_000n + n),
      boundary.map((n) => it.least + 5_000n + n),
    )
    const asked = fc.oneof(
      fc.constant('all' as const),
      fc.bigInt({ min: 1n, max: 3n * SOL }),
      boundary.map((n) => it.least + n),
    )
    await fc.assert(
      fc.asyncProperty(held, asked, fc.boolean(), async (have, amount, isOpen) => {
        const recipient = someAddress()
        it.put(it.address, have)
        if (isOpen) it.put(recipient, it.least)
        const { status, data, error } = await it.build({ recipient, lamports: String(amount) })
        if (status === 200) {
          expect(it.land(data.transaction).err).toBeNull()
          expect(it.lamportsOf(recipient)).toBe((isOpen ? it.least : 0n) + BigInt(data.lamports))
          return
        }
        expect([status, error.param]).toEqual([400, 'lamports'])
        const [fee, sent] = [5_000n, amount === 'all' ? have - 5_000n : BigInt(amount)]
        const rest = have - sent - fee
        // The fee is taken first, and may not leave an account that keeps enough with less.
        const paysFee = have < it.least || have - fee >= it.least
        const isPossible = paysFee && sent > 0n && (rest === 0n || rest >= it.least) && (isOpen || sent >= it.least)
        expect(isPossible, `${have} ${amount} ${isOpen}: ${error.message}`).toBe(false)
      }),
      { numRuns: 15 },
    )
  })

  it('names the fault of its amount, and the alternative', async () => {
    const it = await start()
    const recipient = someAddress()
    const messageOf = async (lamports: bigint) => (await it.build({ recipient, lamports: String(lamports) })).error
    expect((await messageOf(10n * SOL)).message).toMatch(
      /has 10 SOL, not enough for this transfer and its fee of 0\.000005 SOL/,
    )
    const close = await messageOf(10n * SOL - 6_000n)
    expect(close.message).toMatch(
      /would keep 0\.\d+ SOL, but an account must keep at least 0\.\d+ SOL or nothing: send 0\.\d+ SOL less, or all/,
    )
    const [, less] = /send (\S+) SOL less/.exec(close.message) ?? []
    expect(
      (await it.build({ recipient, lamports: String(10n * SOL - 6_000n - rawUnits(less!, 9, 'less')) })).status,
    ).toBe(200)
    expect(await messageOf(1n)).toMatchObject({
      param: 'lamports',
      message: expect.stringContaining(`less than the minimum of ${solText(it.least)} for an account`),
      details: { rent_exempt: String(it.least) },
    })
  })

  it('refuses recipients that are not wallets, and payers that cannot send', async () => {
    const it = await start()
    const [mint, account, program, vault] = [someAddress(), someAddress(), someAddress(), someAddress()]
    it.put(mint, SOL, TOKEN_PROGRAM, mintData(6))
    it.put(
      account,
      SOL,
      TOKEN_PROGRAM,
      tokenAccountData(new PublicKey(mint).toBuffer(), { owner: it.payer.publicKey.toBuffer(), amount: 1n }),
    )
    it.put(program, SOL, vault)
    const [derived] = PublicKey.findProgramAddressSync([Buffer.from('vault')], new PublicKey(TOKEN_PROGRAM))
    const reasonOf = async (recipient: string, more: object = {}) => {
      const { status, error } = await it.build({ recipient, lamports: '10000000', ...more })
      return status === 200 ? null : [status, error.param, error.details.reason]
    }
    expect(await reasonOf(it.address)).toEqual([400, 'recipient', 'sender'])
    for (const allow_programs of [false, true]) {
      expect(await reasonOf(mint, { allow_programs })).toEqual([400, 'recipient', 'token_account'])
      expect(await reasonOf(account, { allow_programs })).toEqual([400, 'recipient', 'token_account'])
    }
    expect(await reasonOf(derived.toBase58())).toEqual([400, 'recipient', 'off_curve'])
    expect(await reasonOf(program)).toEqual([400, 'recipient', 'program_owned'])
    expect(await reasonOf(derived.toBase58(), { allow_programs: true })).toBeNull()
    expect(await reasonOf(program, { allow_programs: true })).toBeNull()
    const { error } = await it.build({ payer: program, recipient: someAddress(), lamports: '10000000' })
    expect([error.param, error.details.owner]).toEqual(['payer', vault])
    expect((await it.build({ recipient: someAddress(), lamports: '10000000', mode: 'signed' })).status).toBe(400)
  })

  it('moves only the stated amount', async () => {
    const it = await start()
    const recipient = someAddress()
    const { data } = await it.build({ recipient, lamports: '7000000' })
    const { message } = decodeWireTransaction(Buffer.from(data.transaction, 'base64'))
    const transfers = message.instructions.filter(
      ({ programIdIndex }) => message.keys[programIdIndex] === SYSTEM_PROGRAM,
    )
    expect(transfers).toHaveLength(1)
    expect(message.signers).toBe(1)
  })
})
