/** `svc console` of the built command: the link that it prints opens the console, and it lists and ends sessions. */
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const { svc } = cli
let daemon: Served

beforeAll(async () => {
  mkdirSync(cli.dataDir, { recursive: true })
  daemon = await serveHere(cli.dataDir, {}, [])
})
afterAll(() => daemon?.stop())

/** Uses a link as a browser does, and returns its cookie. */
async function enter(url: string): Promise<{ status: number; cookie: string }> {
  const { origin, pathname } = new URL(url)
  const answer = await fetch(`${origin}/console/enter`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin },
    body: new URLSearchParams({ link: pathname.split('/').at(-1)! }),
  })
  return { status: answer.status, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

describe('svc console', () => {
  it('prints a link that opens the console once, lists its session and ends it', async () => {
    const { stdout, stderr } = await svc(['console', '--role', 'viewer'])
    expect(stderr).toContain('Role: viewer; it reads what a key without scopes reads')
    const url = stdout.trim()
    const { status, cookie } = await enter(url)
    expect(status).toBe(303)
    expect((await enter(url)).status).toBe(403)
    const page = await fetch(new URL('/console', url), { headers: { cookie } })
    expect(await page.text()).toContain('Needs you')
    const [session] = await cli.json(['console', 'sessions'])
    expect(session).toMatchObject({ role: 'viewer', last_seen_from: '127.0.0.1' })
    expect(await cli.json(['console', 'sessions', 'end', session.id, '--yes'])).toMatchObject({ deleted: true })
    expect((await fetch(new URL('/console', url), { headers: { cookie } })).status).toBe(404)
  })

  it('says what is missing', async () => {
    await cli.refused(['console', 'sessions', 'end'], 'the id of the session is missing')
    await cli.refused(['console', 'sessions', '--role', 'viewer'], '--role is for a new link')
  })
})

describe('svc console without a daemon', () => {
  it('says that none runs', async () => {
    const alone = commandLine()
    await alone.refused(['console'], 'No daemon runs, so there is no console', 1)
  })
})
