/** Failures as a person meets them: in production, from another server, and with names that every object has. */
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { onPostgres } from '../support/database.ts'
import { listening } from '../support/ports.ts'
import { temporaryFolder } from '../support/service.ts'
import { commandLine, MINT } from './command-line.ts'
import { serveHere } from './served.ts'

const cli = commandLine()
const { svc } = cli

/** A server that answers every request with this. */
async function answering(status: number, body: unknown): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(status).end(JSON.stringify(body)))
  onTestFinished(() => void server.close())
  return listening(server)
}

describe('A daemon in production', () => {
  it('hides every cause, a missing setting too, and the command refers to its log', async () => {
    const dataDir = temporaryFolder()
    const named = onPostgres ? {} : { SVC_DATABASE_URL: 'sqlite' }
    const env = { NODE_ENV: 'production', SVC_URL: 'http://127.0.0.1:1', ...named }
    const daemon = await serveHere(dataDir, env)
    onTestFinished(() => daemon.stop())
    const flags = ['--api', daemon.url, '--api-key-file', join(dataDir, 'operator.key')]
    for (const args of [
      ['gold', 'token'],
      ['signer', 'pause'],
      ['accounts', 'get', MINT],
    ]) {
      const { exitCode, stderr } = await svc([...args, ...flags])
      expect([args, exitCode]).toEqual([args, 1])
      expect(stderr).toMatch(
        /^error: Something went wrong\n {2}request id: req_\w+\n {2}next: see the daemon's log for the cause, under this request id\n$/,
      )
    }
    const bundle = { transactions: [], signed_transactions: ['AQID'] }
    expect((await daemon.request('POST', '/v2/transactions', { body: bundle })).status).toBe(400)
    const own = await svc(['accounts', 'get', MINT], { env })
    expect(own.stderr).toContain('The RPC node of 127.0.0.1:1, from SVC_URL, cannot be reached')
  })
})

describe('The command line', () => {
  it('names a setting that is missing', async () => {
    for (const [args, told] of [
      [['gold', 'token'], 'gold.mint is not set, so there is no gold token to lock: set its mint with `svc config set'],
      [['signer', 'pause'], 'No signer is configured: set `signer` to keypair, vault, turnkey, privy or aws-kms'],
    ] as const) {
      const { exitCode, stderr } = await svc([...args])
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`error: ${told}`)])
    }
  })

  it('prints one JSON document on stderr if a command fails after notes', async () => {
    const settings = cli.file('none.json', '{}')
    for (const args of [
      ['accounts', 'get', MINT, '--api', 'http://127.0.0.1:1', '--json'],
      ['accounts', 'get', MINT, '--url', 'http://127.0.0.1:1', '-o', 'json', '--debug'],
      ['airdrops', 'launch', settings, '--json'],
      ['config', 'get', 'nope', '--json'],
    ]) {
      const { exitCode, stdout, stderr } = await svc(args)
      expect([args, exitCode === 0, stdout]).toEqual([args, false, ''])
      const { error, meta } = JSON.parse(stderr)
      expect([typeof error.code, typeof meta.request_id]).toEqual(['string', 'string'])
    }
  })

  it('treats an error code like constructor or __proto__ as a failure', async () => {
    for (const code of ['constructor', 'toString', '__proto__']) {
      const api = await answering(400, { error: { code, message: 'no' }, meta: { request_id: 'r' } })
      const { exitCode, stderr } = await svc(['events', 'types', '--api', api])
      expect([exitCode, stderr]).toEqual([1, 'error: no\n  request id: r\n'])
    }
  })

  it('finds no profile named constructor or __proto__', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      for (const args of [
        ['config', 'list', '--profile', name],
        ['config', 'use', name],
      ]) {
        const { exitCode, stderr } = await svc(args)
        expect([name, exitCode, stderr]).toEqual([name, 2, expect.stringContaining(`there is no profile ${name}`)])
      }
    }
  })

  it('prints no control characters of another server, as table, plain, JSON or error', async () => {
    const nasty = 'a\u009b31mb\u202ec\u2066d\u200be\u2028f\u{e0041}g\u001b]0;x\u0007h\u007f'
    const record = { address: MINT, owner: nasty, list: [nasty] }
    const api = await answering(200, { data: record, meta: { request_id: 'r' } })
    const refusing = await answering(400, {
      error: { code: 'bad_request', message: nasty, details: { nasty } },
      meta: { request_id: nasty },
    })
    for (const format of ['table', 'plain', 'json']) {
      for (const from of [api, refusing]) {
        const { stdout, stderr } = await svc(['accounts', 'get', MINT, '-o', format, '--api', from])
        expect(stdout + stderr).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028\u202a-\u202e\u2066-\u2069]|\u{e0041}/u,
        )
      }
    }
    const { stdout } = await svc(['accounts', 'get', MINT, '-o', 'json', '--api', api])
    expect(JSON.parse(stdout)).toEqual(record)
    const { stderr } = await svc(['accounts', 'get', MINT, '-o', 'json', '--api', refusing])
    expect(JSON.parse(stderr).error).toMatchObject({ message: nasty, details: { nasty } })
  })
})
