/** Requests of version 1 that the platform wallet signs: judged by the fee of their message, counted, landed and followed. */
import { describe, expect, it } from 'vitest'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { feeOfMessage } from '../../src/solana/fees.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { GENEROUS, startPlatform } from '../support/platform-wallet.ts'

/** Micro-lamports for each compute unit: a memo costs some millions of lamports. */
const DEAR = { 'priority-fee': '10000000000', 'priority-fee-cap': 1_000_000_000 }

describe('a signed request of version 1', () => {
  it('is refused for the fee that its message states, and signed once the policy allows it', async () => {
    const service = await startPlatform(GENEROUS, { settings: DEAR })
    const chain = await service.services.chain.local()
    const ask = (memo: string) =>
      service.request('POST', '/v2/signer/tests', { body: { submit: true, memo, tx_version: 1 } })
    const refused = await ask('dear')
    expect([refused.status, refused.json.error?.details.rule], refused.text).toEqual([400, 'fee'])
    const asked = BigInt(refused.json.error.details.asked)
    expect(asked).toBeGreaterThan(2_000_000n)
    expect((await service.request('GET', '/v2/signer')).json.data.spent.lamports).toBe('0')

    const limits = { max_fee_lamports: String(asked), lamports_per_transaction: String(asked) }
    await service.request('PATCH', '/v2/signer/policy', { body: limits })
    const signed = await ask('dear')
    expect(signed.status, signed.text).toBe(200)
    const { signature } = signed.json.data
    const landed = chain.transaction(signature)!
    const { message } = decodeWireTransaction(landed.raw)
    expect([message.version, message.config?.priorityFeeLamports, landed.err]).toEqual([1, asked - 5_000n, null])
    expect(feeOfMessage(message)).toBe(asked)
    const { lamports } = chain.account(service.wallet.publicKey.toBase58())!
    expect(100_000_000_000n - lamports).toBe(asked)
    expect((await service.request('GET', '/v2/signer')).json.data.spent.lamports).toBe(String(asked))

    chain.advance(40)
    service.clock.advance(10_000)
    await followTransactions(service.services)
    const { data } = (await service.request('GET', `/v2/transactions/${signature}`)).json
    expect(data).toMatchObject({ lifecycle: 'finalized', err: null })
    const { data: entries } = (await service.request('GET', '/v2/audit-entries?order=asc')).json
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'api_key.created',
      'policy.changed',
      'signing.refused',
      'policy.changed',
      'signing.intended',
      'signing.signed',
    ])
  })
})
