/** A walk over pages waits for its quota where a first request is refused. */
import { describe, expect, it } from 'vitest'
import { type ClientRequest, createClient, type Transport } from '../../src/client.ts'

function limited(refusals: number, retryAfter: string) {
  const sent: ClientRequest[] = []
  const transport: Transport = async (request) => {
    sent.push(request)
    const meta = { request_id: 'req_1', has_more: false, next_cursor: null, count: 0 }
    return sent.length <= refusals
      ? {
          status: 429,
          headers: { 'retry-after': retryAfter },
          body: '{"error":{"code":"rate_limited","message":"m"},"meta":{"request_id":"req_1"}}',
        }
      : { status: 200, headers: {}, body: JSON.stringify({ data: [], meta }) }
  }
  return { client: createClient(transport), sent }
}

describe('a walk over pages by the client', () => {
  it('continues with the next page when the quota is free again', async () => {
    const { client, sent } = limited(2, '0')
    expect((await client.pools.list({ cursor: 'abc' })).data).toEqual([])
    expect(sent).toHaveLength(3)
    expect(new Set(sent.map(({ path }) => path))).toEqual(new Set(['/v2/pools?cursor=abc']))
  })

  it('passes on a refused first request, one without a time, and one with too long a wait', async () => {
    for (const [input, retryAfter] of [
      [{}, '0'],
      [{ cursor: 'abc' }, 'soon'],
      [{ cursor: 'abc' }, '86400'],
    ] as const) {
      const { client, sent } = limited(9, retryAfter)
      await expect(client.pools.list(input)).rejects.toMatchObject({ code: 'rate_limited' })
      expect(sent).toHaveLength(1)
    }
  })
})
