/** How a command line is read: options in any place and form, lists, and arguments that look like options. */
import { describe, expect, it } from 'vitest'
import { readCommand } from '../../commands/cli/program.ts'

const TREE = `-${'a'.repeat(45)}`

describe('The command line', () => {
  it.each([
    ['keys list --json', 'keys list', {}, { json: true }],
    ['--json keys --no-input list', 'keys list', {}, { json: true, input: false }],
    ['-o json keys list --data-dir=x', 'keys list', {}, { output: 'json', dataDir: 'x' }],
    ['-ojson keys list', 'keys list', {}, { output: 'json' }],
    ['keys list --filter a=1 --filter b=2', 'keys list', {}, { filter: ['a=1', 'b=2'] }],
    [
      'keys create --name=a --scopes pools:write --scopes x',
      'keys create',
      { name: 'a', scopes: ['pools:write', 'x'] },
      {},
    ],
    ['keys create --name -', 'keys create', { name: '-' }, {}],
    ['keys create --per-minute 5 -y', 'keys create', { per_minute: '5' }, { yes: true }],
    [
      '-u devnet webhooks update X --url https://a.example',
      'webhooks update',
      { url: 'https://a.example' },
      { url: 'devnet' },
    ],
    [
      'webhooks create https://a.example --filter type=pool.* --events pool.live',
      'webhooks create',
      { filter: ['type=pool.*'] },
      {},
    ],
    ['webhooks list --filter active=true', 'webhooks list', {}, { filter: ['active=true'] }],
    [`airdrops get ${TREE}`, 'airdrops get', { id: TREE }, {}],
    ['fees schedule list', 'fees schedule list', {}, {}],
  ])('%s is read as its command, inputs and options', async (line, command, raw, globals) => {
    const parsed = await readCommand(line.split(' '))
    expect(JSON.parse(JSON.stringify(parsed))).toMatchObject({ command, raw, globals })
  })

  it.each([
    ['keys list --nonsense', /unknown option '--nonsense'/],
    ['keys list extra', /too many arguments/],
    ['keys create --name', /argument missing/],
    ['keys list --json=yes', /json/],
  ])('%s is refused', async (line, message) => {
    await expect(readCommand(line.split(' '))).rejects.toThrow(message)
  })
})
