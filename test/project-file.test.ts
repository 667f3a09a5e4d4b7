/** What an svc.json may set: each setting says it, and the refusal says why not and what to do instead. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { environmentName, loadConfig, SETTINGS, type Setting, type SettingName } from '../src/settings/config.ts'

function loadWith(text: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-project-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  writeFileSync(join(cwd, 'svc.json'), text)
  return loadConfig({ env: { HOME: cwd }, cwd })
}

const ALL = Object.entries(SETTINGS) as [SettingName, Setting][]
const REFUSED = ALL.flatMap(([name, { project }]) => (project === true ? [] : [[name, project] as const]))

describe('a project file', () => {
  it.each(REFUSED)('may not set %s, and the refusal gives the reason and the alternative', (name, why) => {
    expect(() => loadWith(JSON.stringify({ [name]: 'x' }))).toThrow(
      `svc.json must not contain ${name}: ${why}; set ${environmentName(name)} instead`,
    )
  })

  it('may set nothing that leads to a key, money or a database', () => {
    const allowed = ALL.flatMap(([name, { project }]) => (project === true ? [name] : []))
    expect(allowed).toEqual([
      'port',
      'body-limit-mib',
      'json-limit-kib',
      'header-timeout-seconds',
      'request-timeout-seconds',
      'idle-timeout-seconds',
      'max-connections',
      'rate-per-minute',
      'rate-per-day',
      'log-level',
      'log-format',
      'url',
      'rpc-port',
      'pools.preset',
      'pools.pending-minutes',
      'pools.ticker-cooldown-hours',
      'storage',
      'image-max-bytes',
      'api',
      'output',
    ])
    expect(ALL.filter(([, { secret, project }]) => secret === true && project === true)).toEqual([])
  })

  it('names a cluster by its word, and no node that could misreport a transaction', () => {
    expect(loadWith('{"url":"devnet"}').values.url).toBe('devnet')
    for (const url of ['https://rpc.example.com/hush', 7, ['devnet']]) {
      const refusal = () => loadWith(JSON.stringify({ url }))
      expect(refusal).toThrow(/^url \(.*svc\.json\) must be one of embedded, .*, not a URL: .*; set SVC_URL instead/)
      expect(refusal).not.toThrow(/hush/)
    }
  })

  it.each([
    ['{"__proto__": {"api": "http://x"}}', /unknown setting: __proto__/],
    ['{"constructor": 1}', /unknown setting: constructor/],
    ['[]', /must contain a JSON object/],
    [' '.repeat(70_000), /svc\.json has 70000 bytes, too many/],
  ])('with the content %.40j is refused', (text, said) => {
    expect(() => loadWith(text)).toThrow(said)
  })

  it('is described for each setting in docs/configuration.md', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../docs/configuration.md'), 'utf8')
    for (const [name, why] of REFUSED) expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\|.*\\| no: ${why} \\|`, 'm'))
  })
})
