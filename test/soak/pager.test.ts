/** The pager of commands on a terminal: when it is used, and what it may do. */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { commandLine, onTerminal } from '../cli/command-line.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const cli = commandLine()
const folder = makeSharedFolder('svc-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const LIST = ['config', 'list', '--columns', 'name']
const shown = async (pager: string, args = LIST, more: Record<string, string> = {}) =>
  onTerminal({ ...cli, env: { ...cli.env, SVC_PAGER: pager, ...more } }, args, [])

describe('the pager', () => {
  it('shows a long answer on a terminal, and only there', async () => {
    const { exitCode, screen } = await shown("sed 's/^/paged: /'")
    expect(exitCode).toBe(0)
    expect(screen).toContain('paged: data-dir')
    expect(screen).toContain('paged: output')
    expect((await shown("sed 's/^/paged: /'", [...LIST, '--filter', 'name=output'])).screen).not.toContain('paged')
    expect((await shown("sed 's/^/paged: /'", [...LIST, '--no-pager'])).screen).not.toContain('paged')
    expect((await shown("sed 's/^/paged: /'", LIST, { CI: '1' })).screen).not.toContain('paged')
    expect((await cli.svc(LIST, { env: { SVC_PAGER: 'false' } })).stdout).toContain('output\n')
  })

  it('may be missing, fail or close early', async () => {
    const missing = await shown('a-pager-that-is-not-there')
    expect([missing.exitCode, missing.screen]).toEqual([0, expect.stringMatching(/\boutput\b/)])
    expect((await shown('false')).exitCode).toBe(0)
    const early = await shown('head -n 2')
    expect(early.exitCode).toBe(0)
    expect(early.screen.trim().split('\n')).toHaveLength(2)
  })

  it('gets Ctrl-C alone, also if the command has a connection', async () => {
    const data = Array.from({ length: 200 }, (_, i) => ({ id: `key_${i}`, name: `number ${i}` }))
    const page = { data, meta: { request_id: 'req_1', has_more: false, next_cursor: null } }
    const api = createServer((_, answer) => answer.end(JSON.stringify(page)))
    await new Promise((listening) => api.listen(0, '127.0.0.1', () => listening(undefined)))
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
    const pager = join(folder, 'pager.sh')
    writeFileSync(pager, "trap 'echo heard; cat >/dev/null; exit 0' INT\necho waiting\nwhile :; do sleep 0.05; done\n")
    const host = { ...cli, env: { ...cli.env, SVC_PAGER: `exec sh ${pager}` } }
    const { exitCode, screen } = await onTerminal(host, ['keys', 'list', '--api', url], [['waiting', '\u0003']])
    api.close()
    expect([exitCode, screen]).toEqual([0, expect.stringContaining('heard')])
  })

  it.skipIf(spawnSync('less', ['--version']).status !== 0)('ends with the command on q in less', async () => {
    const host = { ...cli, env: { ...cli.env, SVC_PAGER: 'less' } }
    const { exitCode, screen } = await onTerminal(host, LIST, [[':', 'q']])
    expect(exitCode).toBe(0)
    expect(screen).toContain('NAME')
    expect(screen).not.toMatch(/^output\b/m)
  })
})
