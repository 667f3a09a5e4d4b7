/** The requests that the reference page shows: what a shell, the compiler and the daemon make of them. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { ERROR_SAMPLES_FILE } from '../bin/reference-page/built-page.ts'
import { codeSamples } from '../bin/reference-page/code-samples.ts'
import { readCommand } from '../commands/cli/program.ts'
import type { AnyRoute } from '../src/api/route.ts'
import { A, routes } from './api/bodies.ts'
import { startService, temporaryFolder } from './support/service.ts'

const ROOT = resolve(import.meta.dirname, '..')
/** What no command asks for by itself. */
const WITHOUT_COMMAND = ['service.cluster', 'holderSnapshots.piece', 'storage.delegate']

const samples = await codeSamples()
const sampleOf = ({ method, path }: AnyRoute, label: string): string | undefined =>
  samples.get(`${method} ${path}`)?.find((sample) => sample.label === label)?.source

interface CurlRequest {
  method: string
  url: URL
  headers: Record<string, string>
  body: string | undefined
}

/** What curl would send for each line, asked of a real shell; curl itself is replaced by a script that notes its words. */
async function curlRequests(lines: readonly string[]): Promise<CurlRequest[]> {
  const folder = temporaryFolder()
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'curl'), '#!/bin/sh\nprintf "%s\\0" "$@" >>"$NOTES"\nprintf "\\1" >>"$NOTES"\n', {
    mode: 0o755,
  })
  writeFileSync(join(bin, 'uuidgen'), '#!/bin/sh\necho 6ba7b810-9dad-41d1-80b4-00c04fd430c8\n', { mode: 0o755 })
  const notes = join(folder, 'notes')
  writeFileSync(notes, '')
  writeFileSync(join(folder, 'samples.sh'), `set -eu\n${lines.join('\n')}\n`)
  await execa('bash', [join(folder, 'samples.sh')], {
    env: { PATH: `${bin}:${process.env.PATH}`, NOTES: notes, SVC_API: 'http://svc.test', SVC_API_KEY: 'key' },
  })
  const { stdout } = await execa('cat', [notes], { stripFinalNewline: false })
  return stdout
    .split('\u0001')
    .filter((part) => part !== '')
    .map((part) => curlRequest(part.split('\0').slice(0, -1)))
}

function curlRequest(words: readonly string[]): CurlRequest {
  const request: CurlRequest = { method: 'GET', url: new URL('http://none'), headers: {}, body: undefined }
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '-X') request.method = words[++at]!
    else if (word === '-H') {
      const [name, value] = words[++at]!.split(': ')
      request.headers[name!] = value!
    } else if (word === '-d') {
      request.body = words[++at]!
      if (request.method === 'GET') request.method = 'POST'
    } else request.url = new URL(word)
  }
  return request
}

describe('the samples of the reference page', () => {
  it('show every operation in curl and TypeScript, and as a command where there is one', () => {
    for (const [name, route] of routes) {
      expect(sampleOf(route, 'curl'), name).toMatch(/^curl /)
      expect(sampleOf(route, 'TypeScript'), name).toContain(`client.${name}(`)
      expect(sampleOf(route, 'svc')?.startsWith('svc '), name).toBe(WITHOUT_COMMAND.includes(name) ? undefined : true)
    }
    expect(samples.size).toBe(routes.length)
  })

  it('as commands are taken by the command line, and nothing that is required is missing', async () => {
    for (const [name, route] of routes) {
      const line = sampleOf(route, 'svc')
      if (line === undefined) continue
      const words = [...line.matchAll(/(?:"[^"]*"|[^\s"])+/g)].map(([word]) => word.replace(/^"(.*)"$/, '$1'))
      const end = words.findIndex((word) => word.startsWith('>'))
      const command = await readCommand(words.slice(1, end < 0 ? undefined : end))
      expect('verb' in command, `${name}: ${line}`).toBe(true)
      if ('verb' in command) {
        const { calls } = command.verb
        expect(
          calls.some(([method, path]) => method === route.method && path === route.path),
          line,
        ).toBe(true)
      }
    }
  })

  it('in curl are requests that the daemon takes: their path, their fields and their key', async () => {
    const sent = await curlRequests(routes.map(([, route]) => sampleOf(route, 'curl')!))
    expect(sent).toHaveLength(routes.length)
    const service = await startService({ settings: { 'gold.mint': A } })
    for (const [at, [name, route]] of routes.entries()) {
      const { method, url, headers, body } = sent[at]!
      expect([name, method]).toEqual([name, route.method.toUpperCase()])
      expect(headers.Authorization, name).toBe(route.public ? undefined : 'Bearer key')
      if (method !== 'GET') {
        expect(route.body.safeParse(JSON.parse(body!)).error?.issues, name).toBeUndefined()
        expect(headers['Idempotency-Key'], name).toMatch(/^[0-9a-f-]{36}$/)
        continue
      }
      const { status, text } = await service.request('GET', url.pathname + url.search)
      // What the sample names is not here, but nothing about the request is wrong.
      expect([200, 404], `${name}: ${text}`).toContain(status)
      if (status === 404) expect(text, name).not.toContain('/v2/docs lists every path')
    }
  })

  it('of errors are those that the service answers; SVC_WRITE_SAMPLES=1 writes them anew', async () => {
    const sent = await curlRequests(routes.map(([, route]) => sampleOf(route, 'curl')!))
    const service = await startService({ settings: { 'gold.mint': A } })
    const powerless = await service.key()
    const answered: Record<string, Record<string, unknown>> = {}
    for (const [at, [, route]] of routes.entries()) {
      const { method, url, body } = sent[at]!
      const path = url.pathname + url.search
      const whole = body === undefined ? undefined : JSON.parse(body)
      const errors: Record<string, unknown> = {}
      const ask = async (status: number, asked: string, options: Parameters<typeof service.request>[2]) => {
        const answer = await service.request(method, asked, options)
        const { doc_url, ...error } = answer.json?.error ?? {}
        if (answer.status !== status) return
        expect(doc_url).toMatch(new RegExp(`/v2/docs#error-${error.code}$`))
        errors[status] ??= error
      }
      if (whole !== undefined) {
        const [required] = Object.keys(whole)
        const { [required ?? '']: _, ...rest } = whole
        await ask(400, path, { body: required === undefined ? { unknown_field: true } : rest })
        await ask(400, path, { body: { ...whole, unknown_field: true } })
      }
      if (route.list) await ask(400, `${url.pathname}?limit=0`, {})
      const first = route.path.split('/').findIndex((part) => part.startsWith('{'))
      if (first >= 0) await ask(400, url.pathname.split('/').with(first, 'x').join('/'), { body: whole })
      if (method === 'GET') await ask(400, path, { headers: { 'x-request-id': 'not visible' } })
      if (route.signed !== undefined && route.signed !== 'refused')
        await ask(403, path, { body: { ...whole, mode: 'signed' }, key: powerless })
      if (!route.public) await ask(403, path, { body: whole, key: route.scope ? powerless : 'svc_live_unknown' })
      if (method === 'GET' || !route.path.startsWith('/v2/signer')) await ask(404, path, { body: whole })
      answered[`${route.method} ${route.path}`] = errors
      expect(Object.keys(errors), route.path).toContain('400')
    }
    const text = `${JSON.stringify(answered, null, 2)}\n`
    if (process.env.SVC_WRITE_SAMPLES === '1') writeFileSync(ERROR_SAMPLES_FILE, text)
    expect(JSON.parse(readFileSync(ERROR_SAMPLES_FILE, 'utf8'))).toEqual(answered)
  })

  it('in TypeScript are taken by the compiler with the types of the package', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'node_modules/@svc-launch/cli'), { recursive: true })
    for (const [name, route] of routes) writeFileSync(join(folder, `${name}.ts`), sampleOf(route, 'TypeScript')!)
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
    symlinkSync(join(ROOT, 'dist'), join(folder, 'node_modules/@svc-launch/cli/dist'))
    symlinkSync(join(ROOT, 'package.json'), join(folder, 'node_modules/@svc-launch/cli/package.json'))
    const options = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2022',
      types: ['node'],
      skipLibCheck: true,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts'] }))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const { stdout, exitCode } = await execa('node', [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      reject: false,
    })
    expect([exitCode, stdout]).toEqual([0, ''])
  })
})
