/** The code samples of the OpenAPI document: what a shell, the compiler, the command line and the daemon make of them. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { readCommand } from '../commands/cli/program.ts'
import type { AnyRoute } from '../src/api/route.ts'
import { apiDocument } from '../tools/api-document.ts'
import type { CodeSample } from '../tools/code-samples.ts'
import { A, routes } from './api/bodies.ts'
import { startService, temporaryFolder } from './support/service.ts'

const ROOT = resolve(import.meta.dirname, '..')
/** Operations that no command makes by itself. */
const WITHOUT_COMMAND = ['service.cluster', 'holderSnapshots.piece', 'storage.delegate', 'payRequests.build']

const { paths } = (await apiDocument()) as unknown as {
  paths: Record<string, Record<string, { 'x-codeSamples': CodeSample[] }>>
}
const sampleOf = ({ method, path }: AnyRoute, label: CodeSample['label']): string | undefined =>
  paths[path]![method]!['x-codeSamples'].find((sample) => sample.label === label)?.source

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

describe('the code samples', () => {
  it('show every operation in curl and TypeScript, and as a command if one makes it', () => {
    for (const [name, route] of routes) {
      expect(sampleOf(route, 'curl'), name).toMatch(/^curl /)
      expect(sampleOf(route, 'TypeScript'), name).toContain(`client.${name}(`)
      expect(sampleOf(route, 'svc')?.startsWith('svc '), name).toBe(WITHOUT_COMMAND.includes(name) ? undefined : true)
    }
  })

  it('as commands are accepted by the command line, with every required input', async () => {
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

  it('in curl are valid requests to the daemon: path, fields and key', async () => {
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

  it('in TypeScript compile with the types of the package', async () => {
    const folder = temporaryFolder()
    const client = join(folder, 'node_modules/@svc-launch/client')
    await execa('node', [join(ROOT, 'tools/build/client-package.mjs'), client])
    for (const [name, route] of routes) writeFileSync(join(folder, `${name}.ts`), sampleOf(route, 'TypeScript')!)
    symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
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
