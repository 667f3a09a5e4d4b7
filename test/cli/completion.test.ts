/** What shells complete: in bash, zsh, fish and PowerShell themselves, where they are, with a daemon that strangers have named things in. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CommandTree, commandTree } from '../../commands/cli/command-tree.ts'
import { manualPages } from '../../commands/cli/manual-pages.ts'
import { NOUNS } from '../../commands/cli/nouns.ts'
import { makeFolder, removeFolder } from '../support/service.ts'
import { runInProcess } from './in-process.ts'
import { type Served, serveHere } from './served.ts'

const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')
const has = (tool: string) => spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0
const NAMES = ['evil $(touch pwned)', '`touch pwned`', "'; touch pwned; '", 'a: colon', 'backend']

let home: string
let daemon: Served
let keys: string[]
const env = () => ({ HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH}`, SVC_DATA_DIR: join(home, 'data') })

beforeAll(async () => {
  home = makeFolder()
  mkdirSync(join(home, 'bin'))
  mkdirSync(join(home, 'data'), { mode: 0o700 })
  writeFileSync(join(home, 'bin/svc'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
  chmodSync(join(home, 'bin/svc'), 0o755)
  writeFileSync(join(home, 'a list.csv'), '')
  mkdirSync(join(home, '.config/svc/wallets'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home, '.config/svc/wallets/treasury.json'), '{}')
  daemon = await serveHere(join(home, 'data'))
  keys = []
  for (const name of NAMES) {
    const { json } = await daemon.request('POST', '/v2/api-keys', { body: { name, scopes: [] } })
    keys.push(json.data.id)
  }
})
afterAll(async () => {
  await daemon?.stop()
  removeFolder(home)
})

/** The words that a shell offers; `at` is the place of the last word. */
const svc = async (...words: string[]) => {
  const args = ['__complete', String(words.length - 1), ...words]
  const { stdout } = await runInProcess(args, { env: env(), cwd: home, input: '' })
  const lines = stdout.split('\n').slice(0, -1)
  return { values: lines.slice(0, -1).map((line) => line.split('\t')[0]), paths: lines.at(-1), lines }
}

describe('svc __complete', () => {
  it('offers nouns, verbs, groups, options and choices by what was typed', async () => {
    expect((await svc('po')).values).toEqual(['pools'])
    expect((await svc('help', 'po')).values).toEqual(['pools'])
    expect((await svc('fees', 'sched')).values).toEqual(['schedule'])
    expect((await svc('fees', 'schedule', 'pa')).values).toEqual(['pause'])
    expect((await svc('tokens', 'create', '--initial')).values).toEqual(['--initial-supply'])
    expect((await svc('tokens', 'create', '--token-program', '')).values).toEqual(['spl', 'token2022'])
    expect((await svc('tokens', 'revoke', 'MINT', '')).values).toEqual(['mint', 'freeze', 'metadata'])
    expect((await svc('tokens', '-o', 'j')).values).toEqual(['json'])
    expect((await svc('tokens', 'list', '--output=')).values).toEqual([
      '--output=table',
      '--output=json',
      '--output=plain',
    ])
    expect((await svc('config', 'set', 'rpc-u')).values).toContain('rpc-urls')
    expect((await svc('merkle', 'build', '')).paths).toBe(':files')
    expect((await svc('tx', 'sign', 'x', '-k', '')).paths).toBe(':files')
    expect((await svc('tx', 'sign', 'x', '-k', 'trea')).values).toEqual(['treasury'])
    expect(await svc('wallet', 'use', '')).toMatchObject({ values: ['treasury'], paths: ':none' })
    expect((await svc('airdrops', 'page', 'ID', '--out', '')).paths).toBe(':folders')
  })

  it('takes other spellings, options before the noun, ids that begin with a dash, and ends options at --', async () => {
    expect((await svc('token', 'li')).values).toEqual(['list'])
    expect((await svc('keys', 'revo')).values).toEqual(['revoke'])
    expect((await svc('--data-dir', 'x', 'tokens', 'li')).values).toEqual(['list'])
    expect((await svc('tokens', 'revoke', '--', '-x', 'f')).values).toEqual(['freeze'])
    expect((await svc('tokens', 'create', '--name', 'x', '--nam')).values).toEqual([])
    expect((await svc('nothing', '')).values).toEqual([])
    expect((await svc('tokens', 'list', '--filter', 'a=b', '--fil')).values).toEqual(['--filter'])
    expect((await svc('tokens', 'list', '--sort', 'a', '--so')).values).toEqual([])
    expect((await svc('')).values.length).toBeGreaterThan(NOUNS.length)
    expect(spawnSync(process.execPath, [PROGRAM, '__complete'], { encoding: 'utf8' }).status).toBe(0)
  })

  it('offers the resources of the running daemon, without control characters', async () => {
    // A busy machine may take longer than a person waits; then nothing is offered.
    const offered = (...words: string[]) => expect.poll(async () => (await svc(...words)).values)
    await offered('keys', 'delete', '').toEqual(expect.arrayContaining(keys))
    await expect.poll(async () => (await svc('keys', 'delete', '')).lines).toContain(`${keys[4]}\tbackend`)
    const { lines } = await svc('keys', 'delete', '')
    expect(lines.join('')).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/)
    await offered('keys', 'delete', 'back').toEqual([keys[4]])
    await offered('pools', 'create', '--preset', '').toContain('standard')
    await offered('pools', 'share', '').toContain('standard')
    expect((await svc('pools', 'create', '--name', '')).values).toEqual([])
    await offered('events', 'list', '--type', 'pool.l').toEqual(['pool.live'])
    expect((await svc('--data-dir', join(home, 'none'), 'keys', 'delete', '')).values).toEqual([])
  })
})

/** Runs a script of the shell in the home; its standard output. */
async function ran(shell: string, args: string[], script: string): Promise<string> {
  const options = { env: env(), extendEnv: false, cwd: home, reject: false, stripFinalNewline: false }
  const { stdout, stderr } = await execa(shell, [...args, script], options)
  expect(stderr).toBe('')
  return stdout
}

describe('Completion in bash', () => {
  /** What it would put for the last of the words, into which it has split the line itself. */
  const offered = async (line: string, words: string[]) => {
    const printed = await ran(
      'bash',
      ['--norc', '-c'],
      `source completion.bash
       COMP_LINE=${quoted(line)} COMP_POINT=${line.length} COMP_WORDS=(${words.map(quoted).join(' ')})
       COMP_CWORD=${words.length - 1}
       _svc_complete 2> >(grep -v compopt >&2); printf '%s\\n' "\${COMPREPLY[@]}"`,
    )
    return printed.split('\n')
  }
  const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

  it('takes words that bash has split at = and :, files with spaces, and ids', async () => {
    writeFileSync(join(home, 'completion.bash'), await ran('bash', ['--norc', '-c'], 'svc completion bash'))
    expect(await offered('svc po', ['svc', 'po'])).toEqual(['pools', ''])
    expect(await offered('svc tokens list --output=js', ['svc', 'tokens', 'list', '--output', '=', 'js'])).toEqual([
      'json',
      '',
    ])
    expect(await offered('svc tokens list --output=', ['svc', 'tokens', 'list', '--output', '='])).toContain('table')
    expect(await offered('svc merkle build a', ['svc', 'merkle', 'build', 'a'])).toEqual(['a list.csv', ''])
    await expect
      .poll(() => offered('svc keys delete ', ['svc', 'keys', 'delete', '']))
      .toEqual(expect.arrayContaining(keys))
    expect(existsSync(join(home, 'pwned'))).toBe(false)
  })
})

describe.skipIf(!has('fish'))('Completion in fish', () => {
  it('shows meanings, and works after = and for files', async () => {
    const offered = async (line: string) => {
      const printed = await ran('fish', ['--no-config', '-c'], `svc completion fish | source; complete -C'${line}'`)
      return printed.trimEnd().split('\n')
    }
    expect((await offered('svc po'))[0]).toMatch(/^pools\tLaunch tokens/)
    expect((await offered('svc tokens list --output=js'))[0]).toMatch(/^--output=json/)
    expect(await offered('svc merkle build a')).toEqual([expect.stringContaining('a list.csv')])
    const ids = async () => (await offered('svc keys delete ')).map((line) => line.split('\t')[0])
    await expect.poll(ids).toEqual(expect.arrayContaining(keys))
    expect(existsSync(join(home, 'pwned'))).toBe(false)
  })
})

describe.skipIf(!has('zsh') || !has('tmux'))('Completion in zsh, in a terminal,', () => {
  it('works at the Tab key, and never evaluates the name of a resource', async () => {
    writeFileSync(
      join(home, '.zshrc'),
      "autoload -Uz compinit; compinit -u -D\nPS1='ready> '\nsource <(svc completion zsh)\n",
    )
    const socket = join(home, 'tmux')
    const tmux = (...args: string[]) =>
      spawnSync('tmux', ['-S', socket, ...args], { env: { ...env(), ZDOTDIR: home }, encoding: 'utf8' }).stdout
    const screen = () => tmux('capture-pane', '-p', '-t', 'z')
    tmux('-f', '/dev/null', 'new-session', '-d', '-x', '100', '-y', '30', '-s', 'z', '-c', home, 'zsh')
    try {
      await expect.poll(screen).toContain('ready>')
      tmux('send-keys', '-t', 'z', 'svc pools l', 'Tab')
      await expect.poll(screen).toContain('svc pools list')
      tmux('send-keys', '-t', 'z', 'C-u')
      tmux('send-keys', '-t', 'z', 'svc tokens create --token-program ', 'Tab')
      await expect.poll(screen).toMatch(/spl +-- the original one\ntoken2022 +-- Token-2022/)
      tmux('send-keys', '-t', 'z', 'C-u')
      tmux('send-keys', '-t', 'z', 'svc keys delete ')
      const tabbed = () => {
        tmux('send-keys', '-t', 'z', 'Tab')
        return screen()
      }
      // First what all of them begin with is put in, then they are listed.
      await expect.poll(tabbed, { interval: 1_000 }).toContain('svc keys delete key_')
      await expect.poll(tabbed, { interval: 1_000 }).toContain(keys[4])
      expect(existsSync(join(home, 'pwned'))).toBe(false)
    } finally {
      tmux('kill-server')
    }
  })
})

describe.skipIf(!has('pwsh'))('Completion in PowerShell', () => {
  it('offers nouns and choices', async () => {
    const offered = async (line: string) => {
      const printed = await ran(
        'pwsh',
        ['-NoProfile', '-Command'],
        `svc completion powershell | Out-String | Invoke-Expression; (TabExpansion2 -inputScript '${line}' -cursorColumn ${line.length}).CompletionMatches | ForEach-Object CompletionText`,
      )
      return printed.split('\n')
    }
    expect(await offered('svc po')).toContain('pools')
    expect(await offered('svc tokens create --token-program ')).toContain('token2022')
  })
})

describe('The commands as data', () => {
  let tree: CommandTree
  beforeAll(async () => {
    tree = await commandTree()
  })

  it('are one document of svc help --json, with every verb of the help', () => {
    const { stdout } = spawnSync(process.execPath, [PROGRAM, 'help', '--json'], {
      encoding: 'utf8',
      maxBuffer: 16 * 1024 * 1024,
    })
    expect({ ...JSON.parse(stdout), version: tree.version }).toEqual(JSON.parse(JSON.stringify(tree)))
    expect(tree.commands.map(({ name }) => name)).toEqual(NOUNS.map(({ name }) => name))
    expect(tree.global_options.map(({ flag }) => flag)).toContain('--output')
    expect(tree.exit_codes).toContainEqual({ code: 130, meaning: 'cancelled' })
    for (const { verbs } of tree.commands)
      for (const { about, examples, command } of verbs) expect([about, examples.length > 1], command).not.toContain('')
  })

  it('are manual pages, each verb with its options', () => {
    const folder = join(import.meta.dirname, '../../dist/man')
    const pages = manualPages(tree)
    expect(readdirSync(folder).sort()).toEqual([...pages.keys()].sort())
    for (const [file, text] of pages) {
      expect(text, file).toMatch(/^\.TH "SVC/)
      expect(text, file).not.toMatch(/[^\x00-\x7f]/)
    }
    expect(readFileSync(join(folder, 'svc-tokens.1'), 'utf8')).toContain('\\fB\\-\\-initial\\-supply\\fR')
  })

  it.skipIf(!has('groff'))('are manual pages of at most 80 columns that groff formats without a warning', () => {
    const formatted = (input: string) => {
      const args = ['-man', '-ww', '-Tutf8', '-P-c', '-rLL=80n']
      const { stdout, stderr } = spawnSync('groff', args, { input, encoding: 'utf8' })
      expect(stderr).toBe('')
      return stdout.replace(/.\u0008/g, '')
    }
    const { 'svc.1': first = '', ...verbs } = Object.fromEntries(manualPages(tree))
    for (const line of formatted(first).split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    // An example is a command to paste, and stays whole.
    expect(formatted(Object.values(verbs).join('\n'))).toContain('svc pools create')
  })
})
