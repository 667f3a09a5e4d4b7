/** Transfer fees withdrawn and harvested, and settings of extensions changed, on the real Token-2022 program. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MEMO_PROGRAM } from '../src/solana/program-ids.ts'
import { readMintExtensions, withheldFee } from '../src/solana/token-extensions.ts'
import { approversOf } from './support/approvers.ts'
import { landOn } from './support/launches.ts'
import { startPlatform } from './support/platform-wallet.ts'
import { runs } from './support/runs.ts'
import { type Service, sharedService } from './support/service.ts'
import { keypairOf, SOL, walletOn } from './support/wallets.ts'

const PROGRAM = spl.TOKEN_2022_PROGRAM_ID
const shared = sharedService()
const texts = { name: 'Fee', symbol: 'FEE', uri: 'https://example.com/f.json' }

async function open(own?: Service, payer = Keypair.generate()) {
  const { services, request } = own ?? (await shared())
  const { chain, address } = await walletOn(services, 100n * SOL, payer)
  const landBuilt = (transaction: string, ...signers: Keypair[]) => landOn(chain, transaction, signers)
  const land = (...instructions: TransactionInstruction[]) => {
    const transaction = new Transaction({
      feePayer: payer.publicKey,
      recentBlockhash: chain.latestBlockhash().blockhash,
    }).add(...instructions)
    transaction.sign(payer)
    const landed = chain.send(transaction.serialize())
    expect(landed.err, landed.logs.join('\n')).toBeNull()
  }
  const create = async (extensions: object, more: object = {}) => {
    const body = { ...texts, payer: address, initial_supply: '1000000000', token_program: 'token2022', extensions }
    const { json } = await request('POST', '/v2/tokens', { body: { ...body, ...more } })
    const { mint, transaction, required_signers } = json.data
    landBuilt(transaction, payer, keypairOf(required_signers.mint_secret_key))
    return new PublicKey(mint)
  }
  const accountOf = (mint: PublicKey, owner: PublicKey) =>
    spl.getAssociatedTokenAddressSync(mint, owner, false, PROGRAM)
  /** Sends the amounts to as many new wallets, whose accounts then withhold the fee. */
  const pay = (mint: PublicKey, amounts: readonly bigint[]) => {
    const accounts = amounts.map((amount) => {
      const owner = Keypair.generate().publicKey
      const account = accountOf(mint, owner)
      land(
        spl.createAssociatedTokenAccountInstruction(payer.publicKey, account, owner, mint, PROGRAM),
        spl.createTransferCheckedInstruction(
          accountOf(mint, payer.publicKey),
          mint,
          account,
          payer.publicKey,
          amount,
          6,
          [],
          PROGRAM,
        ),
      )
      return account
    })
    chain.advance(40)
    return accounts
  }
  const withheldIn = (account: PublicKey) => withheldFee(chain.account(account.toBase58())!.data)
  const balanceOf = (mint: PublicKey, owner = payer.publicKey) => {
    const account = chain.account(accountOf(mint, owner).toBase58())
    return account === null ? 0n : Buffer.from(account.data).readBigUInt64LE(64)
  }
  const extensionsOf = (mint: PublicKey) => readMintExtensions(chain.account(mint.toBase58())!.data)
  const ask = (method: string, mint: PublicKey, path: string, body: object = {}) =>
    request(method, `/v2/tokens/${mint.toBase58()}/${path}`, { body: { payer: address, ...body } })
  return {
    chain,
    request,
    payer,
    address,
    create,
    pay,
    withheldIn,
    balanceOf,
    extensionsOf,
    ask,
    landBuilt,
    accountOf,
  }
}

const feeOf = (amount: bigint) => (amount * 100n + 9_999n) / 10_000n

describe('the transfer fees of a token', () => {
  it('are withdrawn from accounts and mint to the unit, whatever was paid', { tags: 'sampled' }, async () => {
    const { create, pay, withheldIn, balanceOf, extensionsOf, ask, landBuilt, payer, address } = await open()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt({ min: 1n, max: 1_000_000n }), { minLength: 1, maxLength: 24 }),
        fc.nat(24),
        async (amounts, harvested) => {
          const mint = await create({ transfer_fee: { basis_points: 100 } })
          const accounts = pay(mint, amounts)
          const total = amounts.reduce((sum, amount) => sum + feeOf(amount), 0n)
          expect(accounts.map(withheldIn)).toEqual(amounts.map(feeOf))
          const some = accounts.slice(0, Math.min(harvested, 20)).map((account) => account.toBase58())
          if (some.length > 0) {
            const { json } = await ask('POST', mint, 'harvests', { accounts: some })
            expect(json.data.accounts).toHaveLength(some.length)
            landBuilt(json.data.transaction, payer)
            expect(String(extensionsOf(mint).withheldInMint)).toBe(json.data.amount)
          }
          const before = balanceOf(mint)
          for (let left = 1; left > 0; ) {
            const { status, json } = await ask('POST', mint, 'withheld-withdrawals')
            expect(status, JSON.stringify(json)).toBe(200)
            expect(json.data).toMatchObject({ authority: address, recipient: address, opens: false })
            landBuilt(json.data.transaction, payer)
            left = json.data.remaining_accounts
          }
          expect(balanceOf(mint) - before).toBe(total)
          expect([extensionsOf(mint).withheldInMint, ...accounts.map(withheldIn)].every((one) => one === 0n)).toBe(true)
          const again = await ask('POST', mint, 'withheld-withdrawals', { accounts: [accounts[0]!.toBase58()] })
          expect([again.status, again.json.error.details.reason]).toEqual([400, 'nothing_withheld'])
        },
      ),
      { numRuns: runs(4, 30), endOnFailure: true },
    )
  })

  it('go to another wallet, whose token account is opened', async () => {
    const { create, pay, balanceOf, ask, landBuilt, payer } = await open()
    const mint = await create({ transfer_fee: { basis_points: 100 } })
    pay(mint, [50_000n])
    const friend = Keypair.generate().publicKey
    const { json } = await ask('POST', mint, 'withheld-withdrawals', { recipient: friend.toBase58() })
    expect(json.data).toMatchObject({ opens: true, amount: '500', from_mint: '0', remaining_accounts: 0 })
    landBuilt(json.data.transaction, payer)
    expect(balanceOf(mint, friend)).toBe(500n)
  })

  it('are found among more accounts than fit, the largest first', async () => {
    const { create, pay, ask } = await open()
    const mint = await create({ transfer_fee: { basis_points: 100 } })
    pay(
      mint,
      Array.from({ length: 23 }, (_, i) => BigInt(i + 1) * 100n),
    )
    const { json } = await ask('POST', mint, 'harvests', { guard: 'off' })
    expect([json.data.accounts.length, json.data.accounts[0].amount]).toEqual([20, '23'])
    expect([json.data.remaining_accounts, json.data.remaining_amount]).toEqual([3, '6'])
    for (const act of ['harvests', 'withheld-withdrawals']) {
      const guarded = await ask('POST', mint, act, {})
      expect(guarded.json.data).toMatchObject({ remaining_accounts: 10, guard: { state: 'whole' } })
    }
    const version1 = await ask('POST', mint, 'harvests', { tx_version: 1 })
    expect(version1.json.data).toMatchObject({ remaining_accounts: 0, amount: '276' })
  })

  it('are refused by name for another token, for what is not an account of it, and to what cannot receive', async () => {
    const { create, pay, ask } = await open()
    const mint = await create({ transfer_fee: { basis_points: 100 } })
    const [account] = pay(mint, [5_000n])
    const faultOf = async (on: PublicKey, path: string, body: object) => {
      const { status, json } = await ask('POST', on, path, body)
      return [status, json.error?.param, json.error?.message]
    }
    const stranger = Keypair.generate().publicKey.toBase58()
    const plain = await create({ pausable: true })
    expect((await faultOf(plain, 'withheld-withdrawals', {})).slice(0, 2)).toEqual([400, 'mint'])
    expect((await faultOf(plain, 'harvests', {})).slice(0, 2)).toEqual([400, 'mint'])
    expect((await faultOf(mint, 'harvests', { accounts: [account!.toBase58(), stranger] })).slice(0, 2)).toEqual([
      400,
      'accounts.1',
    ])
    const twice = [account!.toBase58(), account!.toBase58()]
    expect((await faultOf(mint, 'harvests', { accounts: twice })).slice(0, 2)).toEqual([400, 'accounts'])
    expect((await faultOf(mint, 'withheld-withdrawals', { recipient: mint.toBase58() })).slice(0, 2)).toEqual([
      400,
      'recipient',
    ])
  })
})

describe('the settings of extensions', () => {
  it('change by the authorities that the payer holds, and a new fee counts two epochs later', async () => {
    const { create, ask, landBuilt, payer, extensionsOf } = await open()
    const mint = await create(
      {
        transfer_fee: { basis_points: 100, maximum_fee: '7' },
        scaled_amount: { multiplier: '1' },
        default_frozen: true,
        transfer_hook: { program: MEMO_PROGRAM },
      },
      { revoke_freeze_authority: false },
    )
    const { json } = await ask('PATCH', mint, 'extensions', {
      transfer_fee: { basis_points: 50, maximum_fee: '9' },
      scaled_amount: { multiplier: '2.5', effective_at: '2030-01-01T00:00:00Z' },
      default_frozen: false,
      transfer_hook: { program: null },
    })
    const { present_epoch: epoch, ...fee } = json.data.transfer_fee
    expect(fee).toEqual({
      present: { basis_points: 100, maximum_fee: '7' },
      next: { basis_points: 50, maximum_fee: '9', from_epoch: String(BigInt(epoch) + 2n) },
    })
    landBuilt(json.data.transaction, payer)
    expect(extensionsOf(mint)).toMatchObject({
      transferFee: {
        older: { basisPoints: 100, maximumFee: 7n },
        newer: { basisPoints: 50, maximumFee: 9n, epoch: BigInt(epoch) + 2n },
      },
      uiMultiplier: { before: 1, after: 2.5, effectiveAt: 1_893_456_000n },
      isFrozenByDefault: false,
      transferHook: null,
    })
    const nothing = await ask('PATCH', mint, 'extensions')
    expect([nothing.status, nothing.json.error.param]).toEqual([400, 'transfer_fee'])
    const interest = await create({ interest_rate: { basis_points: 100 } })
    const rate = await ask('PATCH', interest, 'extensions', { interest_rate: { basis_points: -5 } })
    landBuilt(rate.json.data.transaction, payer)
    expect(rate.json.data.transfer_fee).toBeNull()
    expect(extensionsOf(interest).interestBasisPoints).toBe(-5)
  })
})

describe('the platform wallet', () => {
  it('withdraws and harvests fees of its token, sets a fee, and sends fees to nobody else', async () => {
    const service = await startPlatform()
    const { create, pay, balanceOf, extensionsOf, ask, chain } = await open(service, service.wallet)
    const mint = await create({ transfer_fee: { basis_points: 100 } })
    const accounts = pay(mint, [10_000n, 20_000n])
    const signed = async (method: string, path: string, body: object) => {
      const { status, json } = await ask(method, mint, path, { mode: 'signed', ...body })
      chain.advance(1)
      return { status, json }
    }
    const harvested = await signed('POST', 'harvests', { accounts: [accounts[0]!.toBase58()] })
    expect(harvested.status, JSON.stringify(harvested.json)).toBe(200)
    expect(extensionsOf(mint).withheldInMint).toBe(100n)
    const before = balanceOf(mint)
    const withdrawn = await signed('POST', 'withheld-withdrawals', {})
    expect(withdrawn.status, JSON.stringify(withdrawn.json)).toBe(200)
    expect(balanceOf(mint) - before).toBe(300n)
    const setting = { transfer_fee: { basis_points: 5 } }
    expect((await signed('PATCH', 'extensions', setting)).json.error.details).toMatchObject({
      ...{ rule: 'power', power: 'transfer_fee_config' },
    })
    await service.request('PATCH', '/v2/signer/policy', { body: { powers: ['transfer_fee_config'] } })
    const fee = await signed('PATCH', 'extensions', setting)
    expect(fee.status, JSON.stringify(fee.json)).toBe(200)
    expect(extensionsOf(mint).transferFee?.newer.basisPoints).toBe(5)
    pay(mint, [10_000n])
    const friend = Keypair.generate().publicKey.toBase58()
    const away = await signed('POST', 'withheld-withdrawals', { recipient: friend })
    expect([away.status, away.json.error.details.rule]).toEqual([400, 'unstable'])
  })

  it('shows those who approve which settings and texts of a token would change', async () => {
    const service = await startPlatform()
    const { create, ask } = await open(service, service.wallet)
    const mint = await create({ transfer_fee: { basis_points: 100 } })
    await approversOf(service, 1, { operations: ['token.update_extensions', 'token.update'] })
    const body = { mode: 'signed', transfer_fee: { basis_points: 9_900, maximum_fee: '7' } }
    const fee = (await ask('PATCH', mint, 'extensions', body)).json.data.proposal.what
    expect(fee).toContain(`(${mint}, transfer fee 99 %, at most 7 raw units)`)
    const renaming = { mode: 'signed', payer: mint, name: 'Other', symbol: 'a|b' }
    const { json } = await service.request('PATCH', `/v2/tokens/${mint}`, { body: renaming })
    expect(json.data.proposal.what).toContain(`(${mint}, name "Other", symbol "a?b")`)
  })
})
