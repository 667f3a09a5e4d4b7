/** The OpenAPI document before programs that read it: the one that writes it, and an independent linter. */
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../tools/source.ts'

describe('the document', () => {
  it('keeps the operations of the last release, and the generated documents are up to date', async () => {
    for (const script of ['tools/docs.ts', 'tools/api-lock.ts']) {
      const check = await execa('npx', ['tsx', script, '--check'], { cwd: ROOT, reject: false })
      expect(check.exitCode, check.stderr).toBe(0)
    }
  })

  it('has no fault in the eyes of an independent linter', async () => {
    const { exitCode, stdout, stderr } = await execa('npx', ['redocly', 'lint', 'svc', '--format', 'json'], {
      cwd: ROOT,
      reject: false,
      env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' },
    })
    const { totals, problems } = JSON.parse(stdout.slice(stdout.indexOf('{')))
    expect(problems.map(({ ruleId, message }: Record<string, string>) => `${ruleId}: ${message}`)).toEqual([])
    expect([exitCode, totals.errors, totals.warnings], stderr).toEqual([0, 0, 0])
  })
})
