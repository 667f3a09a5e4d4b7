/** What a newcomer meets: the root help, exit codes, notes for people and for programs, and the completion of an alias. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { NOUNS, rootHelp } from '../../commands/cli/nouns.ts'
import { completionScript } from '../../commands/completion/index.ts'
import { proposedOutcome, WaitsForApproval } from '../../commands/signing/waits-for-approval.ts'
import { commandLine, MINT } from './command-line.ts'

const cli = commandLine()

describe('The root help', () => {
  it('groups every noun by job, and begins with three examples', () => {
    const help = rootHelp(80)
    expect(help.indexOf('Examples:')).toBeLessThan(help.indexOf('Launch:'))
    expect(help.match(/^ {2}svc .*$/gm)).toHaveLength(3)
    for (const { name, group } of NOUNS) {
      const section = help.slice(help.indexOf(`\n${group}:\n`)).split('\n\n')[0]
      expect(section).toMatch(new RegExp(`^ {2}${name} `, 'm'))
    }
    expect(help).toContain('Documentation: docs/index.md')
  })
})

describe('An act that waits for approvals', () => {
  it('ends with exit code 7, and says first that nothing was signed', () => {
    const approver = { kind: 'rule', approvers: [{ name: 'Ana' }], reason: 'above the limit' }
    const proposal = { id: 'prop_1', what: 'Send 5 SOL', needed: 1, approver, expires_at: null, message_sha256: 'ab' }
    const outcome = proposedOutcome(new WaitsForApproval(proposal as never))
    expect(outcome.exitCode).toBe(7)
    expect(outcome.text).toMatch(/^Nothing was signed: it waits for approvals\./)
    expect(rootHelp(80)).toContain('7 waits for approval')
  })
})

describe('Notes of a command', () => {
  it('are for people: --jq prints none', async () => {
    expect((await cli.svc(['tx', 'list'])).stderr).toContain('None found.')
    const selected = await cli.svc(['tx', 'list', '--jq', 'length'])
    expect([selected.stdout, selected.stderr]).toEqual(['0\n', ''])
  })

  it('say that no daemon runs, if `svc status` answers without one', async () => {
    expect((await cli.svc(['status'])).stderr).toContain('No daemon runs')
  })
})

describe('The name of a token', () => {
  it('is refused if it is blank', async () => {
    const words = [
      '--symbol',
      'MTK',
      '--uri',
      'https://example.com/a.json',
      '--supply',
      '1',
      '--build-only',
      '--payer',
      MINT,
    ]
    const { exitCode, stderr } = await cli.svc(['tokens', 'create', '--name', '  ', ...words])
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/--name.*must not be blank/)])
  })
})

describe('Completion', () => {
  const words = ['/usr/bin/node', "/home/o'neil/svc/dist/svc.js"] as const

  it('runs the program of the clone where svc is an alias', () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell'] as const) {
      const script = completionScript(shell, words)
      expect(script).toMatch(/neil\/svc\/dist\/svc\.js/)
      expect(script).not.toContain('command svc __complete')
      expect(completionScript(shell, null)).not.toContain('svc.js')
    }
  })

  it.skipIf(!existsSync('/bin/bash'))('in bash calls that program with the typed words', () => {
    const script = completionScript('bash', ['/bin/echo', "it's"])
    const probe = `${script}\nCOMP_LINE='svc to' COMP_POINT=6 COMP_CWORD=1 COMP_WORDS=(svc to); _svc_complete; printf '%s' "$COMPREPLY"`
    expect(execFileSync('/bin/bash', ['-c', probe], { encoding: 'utf8' })).toBe("it's __complete 0 to")
  })
})
