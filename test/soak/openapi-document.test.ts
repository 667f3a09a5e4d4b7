/** The OpenAPI document before an independent linter. */
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../tools/source.ts'

describe('the OpenAPI document', () => {
  it('passes an independent linter without errors and warnings', async () => {
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
