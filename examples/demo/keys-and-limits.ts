/** A key is made, limited and revoked; a retry with the same Idempotency-Key is replayed. */
import { randomUUID } from 'node:crypto'
import type { Daemon } from './program.ts'
import type { Report } from './report.ts'

const MINT = 'So11111111111111111111111111111111111111112'

export async function keysAndLimits({ daemon, report }: { daemon: Daemon; report: Report }): Promise<void> {
  await report.step('a retried write is replayed, not repeated', async () => {
    const { key } = await daemon.svc('keys', 'create', '--name', 'backend', '--scopes', 'airdrop:write')
    const body = { mint: MINT, airdrop_count: 7, entries: [{ wallet: MINT, amount: '1000000' }], externalUid: 'demo:7' }
    const headers = { 'idempotency-key': randomUUID() }
    const first = await daemon.request('POST', '/v2/merkle-trees', key, body, headers)
    const second = await daemon.request('POST', '/v2/merkle-trees', key, body, headers)
    report.expect(first.status === 201 && second.status === 201, `HTTP ${first.status} and ${second.status}`)
    report.expect(second.headers.get('idempotent-replayed') === 'true', 'the second answer is marked as replayed')
    report.expect(first.text === second.text, 'it is the first, byte for byte')
    const events = await daemon.request('GET', `/v2/events?resource_id=${first.body.data.id}`, key)
    report.expect(events.body.meta.count === 1, `${events.body.meta.count} event for two requests`)
    const other = await daemon.request('POST', '/v2/merkle-trees', key, { ...body, airdrop_count: 8 }, headers)
    report.expect(other.status === 409, `another body under the same key is HTTP ${other.status}`)
    return 'one tree, one event; another body is refused'
  })
  await report.step('a key is limited', async () => {
    const { key } = await daemon.svc('keys', 'create', '--name', 'limited', '--per-minute', '5')
    const answers = await Promise.all(Array.from({ length: 12 }, () => daemon.request('GET', '/v2/pools', key)))
    const passed = answers.filter(({ status }) => status === 200).length
    const refused = answers.filter(({ status }) => status === 429)
    report.expect(passed === 5 && refused.length === 7, `${passed} of 12 parallel requests passed`)
    report.expect(
      refused.every(({ headers }) => Number(headers.get('retry-after')) > 0),
      'a refusal says when to retry',
    )
    return 'exactly 5 of 12 parallel requests pass'
  })
  await report.step('a key is revoked', async () => {
    const { id, key } = await daemon.svc('keys', 'create', '--name', 'short-lived')
    const before = await daemon.request('GET', '/v2/pools', key)
    await daemon.svc('keys', 'delete', id, '--yes')
    const after = await daemon.request('GET', '/v2/pools', key)
    report.expect(before.status === 200 && after.status === 403, `HTTP ${before.status}, then ${after.status}`)
    return 'HTTP 200 before, 403 after'
  })
}
