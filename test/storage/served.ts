/** What /assets answers for an image, wherever it is kept. */
import { expect } from 'vitest'
import { ORIGIN, type Service } from '../support/service.ts'

interface ServedImage {
  cid: string
  /** Those of a PNG. */
  bytes: Uint8Array
  /** How often it is read; later reads may take another way. */
  reads?: number
}

/** Reads it, asks for its head alone, and asks for it as one who has it. */
export async function expectServed({ app }: Service, { cid, bytes, reads = 1 }: ServedImage): Promise<void> {
  const ask = (init?: RequestInit) => app.fetch(new Request(`${ORIGIN}/assets/${cid}`, init))
  for (let read = 0; read < reads; read++) {
    const response = await ask()
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(bytes.length),
      'content-type': 'image/png',
      etag: `"${cid}"`,
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  }
  const head = await ask({ method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(bytes.length), ''])
  expect((await ask({ headers: { 'if-none-match': `"${cid}"` } })).status).toBe(304)
}
