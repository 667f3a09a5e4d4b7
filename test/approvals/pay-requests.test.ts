/** Pay requests that name a proposal of a rule: whoever has the link decides nothing. */
import { describe, expect, it } from 'vitest'
import { payableOperation } from '../../src/operations/pay-requests/build-payment.ts'
import { approversOf } from '../support/approvers.ts'
import { startPlatform, submitMemo } from '../support/platform-wallet.ts'

describe('a pay request about a proposal of a rule', () => {
  it.each(['cancel', 'execute', 'reclaim', 'approve', 'reject'] as const)('does not %s it', async (verb) => {
    const service = await startPlatform({ lamports_per_transaction: '0', lamports_per_day: '0' })
    await approversOf(service, 1, { lamports_per_transaction: '1000000', lamports_per_day: '1000000' })
    const { id, asked_by } = (await submitMemo(service)).json.data.proposal
    const operate = await payableOperation(`proposals.${verb}`)
    const { store } = service.services
    const commit = (work: never) => store.write(work)
    // As GET and POST /v2/pay/{id} call it: for the key that made the link.
    const context = { ...service.services, commit, requestId: 'req', actor: { apiKeyId: asked_by, scopes: [] } }
    await expect(operate(context as never, { id })).rejects.toThrow(`${id} is a proposal of a rule`)
    const { json } = await service.request('GET', `/v2/proposals/${id}`)
    expect([json.data.status, json.data.decisions]).toEqual(['active', []])
  })
})
