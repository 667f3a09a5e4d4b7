/** Requests to a bucket that wait for others: for how long, how many, in which order, and what the others are answered. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Overloaded } from '../../src/platform/errors.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { type BucketRequest, bucketClient } from '../../src/storage/s3-client.ts'
import { bucketPlace } from '../../src/storage/s3-settings.ts'
import { ORIGIN, startService } from '../support/service.ts'
import { png } from './images.ts'

/** What a daemon lets run and wait. */
const [RUNNING, WAITING] = [64, 512]

/** A bucket without objects that leaves each answer to the test. */
async function startHeldBucket(onRequest: (answer: () => void, path: string) => void) {
  const answer = (response: ServerResponse) =>
    response.writeHead(404).end('<Error><Code>NoSuchKey</Code><Message>text</Message></Error>')
  const server = createServer((request, response) => {
    request.resume()
    onRequest(() => void answer(response), `${request.method} ${request.url}`)
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((settle) => server.close(settle))
  })
  return {
    storage: 's3',
    's3.endpoint': `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    's3.bucket': 'launches',
    's3.access-key-id': 'AKIATESTKEY',
    's3.secret-access-key': 'S3TOPSECRET',
  }
}

function clientOf(settings: Record<string, unknown>, limits: { running: number; waiting: number; waitMs: number }) {
  const place = bucketPlace(loadConfig({ flags: settings, env: {}, cwd: '/' }))
  if (place === null) throw new Error('no bucket is set')
  const ending = new AbortController()
  return { ...bucketClient(place, ending.signal, { limits }), end: () => ending.abort() }
}

const request = (key: string, method: 'GET' | 'PUT' = 'GET'): BucketRequest => ({
  ...{ method, key, mostBytes: 0, expected: [404], right: 's3:GetObject' },
})

const told = (sent: Promise<unknown>) =>
  sent.then(
    () => 'answered',
    (error: Error) => (error instanceof Overloaded ? `overloaded: ${error.message}` : error.message),
  )

describe('requests to a bucket', () => {
  it('have their own time limit each, however long they waited for others', async () => {
    const settings = await startHeldBucket((answer) => void setTimeout(answer, 1_000))
    const client = clientOf({ ...settings, 's3.timeout-ms': 2_500 }, { running: 1, waiting: 9, waitMs: 60_000 })
    const sent = ['a', 'b', 'c', 'd'].map((key) => told(client.send(request(key))))
    expect(await Promise.all(sent)).toEqual(['answered', 'answered', 'answered', 'answered'])
  })

  it('are refused at once if too many wait, except uploads, which go first', async () => {
    const seen: string[] = []
    const answers: (() => void)[] = []
    const settings = await startHeldBucket((answer, path) => {
      seen.push(path)
      answers.push(answer)
    })
    const client = clientOf(settings, { running: 1, waiting: 2, waitMs: 60_000 })
    const sent = ['a', 'b', 'c'].map((key) => told(client.send(request(key))))
    expect(await told(client.send(request('d')))).toMatch(
      /^overloaded: The storage is busy: too many requests wait for the bucket launches at 127\.0\.0\.1:\d+; try again$/,
    )
    sent.push(told(client.send(request('e', 'PUT'))))
    for (let answered = 0; answered < 4; answered++) {
      await expect.poll(() => answers.length).toBe(answered + 1)
      answers[answered]?.()
    }
    expect(await Promise.all(sent)).toEqual(['answered', 'answered', 'answered', 'answered'])
    expect(seen).toEqual(['GET /launches/a', 'PUT /launches/e', 'GET /launches/b', 'GET /launches/c'])
    // Every place is free again.
    const later = told(client.send(request('f')))
    await expect.poll(() => answers.length).toBe(5)
    answers[4]?.()
    expect(await later).toBe('answered')
  })

  it('leave the queue after its longest wait, and when the service ends', async () => {
    const settings = await startHeldBucket(() => {})
    const impatient = clientOf(settings, { running: 1, waiting: 2, waitMs: 50 })
    const first = told(impatient.send(request('a')))
    expect(await told(impatient.send(request('b')))).toMatch(/^overloaded/)
    impatient.end()
    expect(await first).toContain('the service is shutting down')

    const client = clientOf(settings, { running: 1, waiting: 2, waitMs: 60_000 })
    const sent = ['a', 'b'].map((key) => told(client.send(request(key))))
    client.end()
    for (const text of await Promise.all(sent)) expect(text).toContain('the service is shutting down')
    expect(await told(client.send(request('c')))).toContain('the service is shutting down')
  })

  it('beyond the queue of a daemon get a 503 with a retry time, and do not refuse an upload', async () => {
    const seen: string[] = []
    const answers: (() => void)[] = []
    const settings = await startHeldBucket((answer, path) => {
      seen.push(path)
      answers.push(answer)
    })
    const { services, app } = await startService({ settings })
    const { cid } = await services.storage.locate(png())
    const read = async () => app.fetch(new Request(`${ORIGIN}/assets/${cid}`))
    const readers = Array.from({ length: RUNNING + WAITING }, read)
    await expect.poll(() => seen.length).toBe(RUNNING)
    const upload = told(services.storage.put(png(), 'image/png'))
    const refused = await read()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    const isWritten = () => {
      answers.shift()?.()
      return seen.includes(`PUT /launches/${cid}`)
    }
    await expect.poll(isWritten).toBe(true)
    services.end()
    expect(await upload).toContain('the service is shutting down')
    const statuses = new Set((await Promise.all(readers)).map(({ status }) => status))
    expect([...statuses].sort()).toEqual([404, 500])
  })
})
